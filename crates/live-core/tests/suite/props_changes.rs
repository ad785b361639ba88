//! Changing the props of a UI.

use accord_contract::{Code, Failure};
use accord_live_core::frame::ServerFrame;
use accord_live_core::props::PropsUpdate;
use accord_live_core::session::{PropsChanged, set_props};
use accord_live_core::tools::PropsAnswer;
use accord_live_core::violation::Source;
use serde_json::{Value, json};

use crate::support::{World, at, contract, object, project, time};

fn spec() -> Value {
    json!({
        "propsSpec": {
            "properties": {
                "count": {"schema": {"type": "integer"}, "required": true},
                "tags": {
                    "schema": {"type": "object", "additionalProperties": {"type": "string"}},
                },
            },
        },
    })
}

fn world() -> World {
    World::rendered(&contract(spec()), spec(), json!({"count": 1, "tags": {"a": "x"}}))
}

type Decide = fn(&World, &PropsUpdate) -> Result<PropsChanged, Failure>;

fn change(world: &World, change: Value, decide: Decide) -> Result<PropsChanged, Failure> {
    decide(world, &PropsUpdate::read(&object(change)).unwrap())
}

fn by_update(world: &World, change: &PropsUpdate) -> Result<PropsChanged, Failure> {
    let (contract, project) = (world.compiled(), project());
    let at = at(&project, world.now);
    set_props(&world.session, &world.content, &contract, change, Source::Update, at)
}

fn by_amend(world: &World, change: &PropsUpdate) -> Result<PropsChanged, Failure> {
    let (contract, project) = (world.compiled(), project());
    let at = at(&project, world.now);
    set_props(&world.session, &world.content, &contract, change, Source::Amend, at)
}

#[test]
fn an_update_has_a_new_epoch_and_two_events() {
    let mut world = world();
    let patch = json!({"kind": "merge", "patch": {"count": 2, "tags": {"a": null, "b": "y"}}});
    let changed = change(&world, patch, by_update).unwrap();
    let props = json!({"count": 2, "tags": {"b": "y"}});
    assert_eq!((changed.is_updated, changed.epoch), (true, 1));
    let types: Vec<_> = changed.delta.ledger.iter().map(|row| row.kind.as_str()).collect();
    assert_eq!(types, ["ui.updated", "ui.reminted"]);
    let data: Vec<_> = changed.delta.ledger.iter().map(|row| &row.data).collect();
    let updated = json!({"sessionId": "s1", "props": props, "epoch": 1});
    assert_eq!(data, [&updated, &json!({"epoch": 1})]);
    match changed.frame.clone().unwrap() {
        ServerFrame::PropsUpdate { props: sent, epoch, .. } => {
            assert_eq!((Value::Object(sent), epoch), (props.clone(), 1));
        }
        other => panic!("{other:?}"),
    }
    world.apply(changed.delta);
    // The props of the first epoch can still be read.
    assert_eq!(Value::Object(world.props[&0].clone()), json!({"count": 1, "tags": {"a": "x"}}));
    assert_eq!(world.content.props.map(Value::Object), Some(props));
}

#[test]
fn an_amendment_keeps_the_epoch() {
    let mut world = world();
    let changed = change(&world, json!({"kind": "replace", "props": {"count": 5}}), by_amend);
    let changed = changed.unwrap();
    assert_eq!((changed.is_updated, changed.epoch), (true, 0));
    let types: Vec<_> = changed.delta.ledger.iter().map(|row| row.kind.as_str()).collect();
    assert_eq!(types, ["ui.updated"]);
    world.apply(changed.delta.clone());
    assert_eq!(Value::Object(world.props[&0].clone()), json!({"count": 5}));
    let answer = PropsAnswer::amended(&world.session, &changed, &world.compiled());
    assert_eq!(answer.epoch, None);
    assert_eq!(answer.resource_uri, "ui://ggui/render/s1");
}

#[test]
fn identical_props_change_nothing_and_warn() {
    let world = world();
    for same in [
        json!({"kind": "replace", "props": {"tags": {"a": "x"}, "count": 1.0}}),
        json!({"kind": "merge", "patch": {}}),
        json!({"kind": "merge", "patch": {"count": 1, "gone": null}}),
    ] {
        let changed = change(&world, same.clone(), by_update).unwrap();
        assert!(!changed.is_updated && changed.delta.is_empty() && changed.frame.is_none());
        let answer = PropsAnswer::updated(&world.session, &changed, &world.compiled());
        assert_eq!((answer.updated, answer.epoch), (false, Some(0)), "{same}");
        assert!(answer.warning.is_some());
        assert_eq!(answer.resource_uri, "ui://ggui/render/s1#0");
    }
}

#[test]
fn props_that_do_not_match_are_refused() {
    let world = world();
    let wrong = json!({"kind": "replace", "props": {"count": "one", "more": 1}});
    let both: [(Decide, &str); 2] = [(by_update, "ggui_update"), (by_amend, "ggui_amend")];
    for (decide, tool) in both {
        let failure = change(&world, wrong.clone(), decide).unwrap_err();
        assert_eq!(failure.code, Code::GguiToolContractViolation);
        let details = Value::Object(*failure.details.unwrap());
        assert_eq!(details["tool"], json!(tool));
        assert_eq!(details["violations"].as_array().unwrap().len(), 2);
        assert_eq!(details["propsSchemaHash"].as_str().unwrap().len(), 64);
    }
}

#[test]
fn only_a_rendered_session_has_props() {
    let mut world = world();
    let replace = json!({"kind": "replace", "props": {"count": 5}});
    world.session.head.has_pipe = false;
    let failure = change(&world, replace.clone(), by_update).unwrap_err();
    assert_eq!(failure.code.as_str(), "session_not_found");
    world.session.head.has_pipe = true;
    world.now = time(3600);
    assert!(change(&world, replace, by_update).is_err());
}
