//! Turns that are taken back, and what becomes of their work.

use accord_contract::{Code, Time};
use accord_runs_core::TurnId;
use accord_runs_core::coordinator::{
    DivergenceKind, Initiative, choose, dispatched_line, diverging,
};
use accord_runs_core::history::is_accepted;
use accord_runs_core::hooks::{HookPhase, HookReport};
use accord_runs_core::run::{self, BaselineCheck, Reissued, Rejection, check_reissue};
use accord_runs_core::state::{Baseline, Block, Status};
use accord_runs_core::testing::MemoryRepository;
use serde_json::{Value, json};

use crate::coordinators;
use crate::support::{
    Script, accept, assign, clean, config, config_with, ids, now, result, stage, world,
};

fn later() -> Time {
    now().minutes_later(5)
}

/// Takes a turn back for a role.
fn reissue(world: &mut MemoryRepository, turn: &TurnId, role: &str) -> Reissued {
    let wanted = (role, "she is ill");
    let (state, config) = (&world.state, &world.config);
    let checked = check_reissue(state, config, Some(turn), wanted, clean(), 0).unwrap();
    assert_eq!(checked.old().id(), turn);
    let none = HookReport::none(HookPhase::BeforeAssignment);
    let reissued = checked.confirm(&none, &mut ids(90), later()).unwrap();
    world.state = reissued.change.state.clone();
    reissued
}

fn types(reissued: &Reissued) -> Vec<String> {
    let events = reissued.change.events.iter();
    events.map(|event| event.line()["event_type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_turn_is_taken_back_for_another_role() {
    let config = config_with(|document| {
        document["budget"] = json!({"per_turn_max_usd": 1.0, "per_run_max_usd": 1.5});
    });
    let mut world = world(config, "implementation");
    let old = assign(&mut world, "dev", 2);
    let reissued = reissue(&mut world, &old, "pm");
    let turn = &reissued.turn;
    assert_eq!((turn.role(), turn.attempt()), ("pm", 1));
    assert_eq!(turn.member("reissued_from"), Some(&json!(old.as_str())));
    assert_eq!(world.state.only_turn(), Some(turn), "the state has it so");
    assert_eq!(world.state.reserved_usd(), 1.0, "for the new turn alone");

    let line = &reissued.history_entry;
    assert_eq!(line["turn_id"], old.as_str());
    assert_eq!(
        (&line["status"], &line["reissued_as"]),
        (&json!("reissued"), &json!(turn.id().as_str()))
    );
    assert_eq!(line["duration_ms"], 300_000);
    assert!(!is_accepted(line));
    assert_eq!(types(&reissued), ["turn_reissued"]);
    let event = reissued.change.events[0].line();
    assert_eq!(event["turn"]["turn_id"], turn.id().as_str());
    assert_eq!(
        (&event["payload"]["old_role"], &event["payload"]["new_role"]),
        (&json!("dev"), &json!("pm"))
    );
    let ledger = &reissued.change.ledger[0];
    assert_eq!(
        (&ledger["decision"], &ledger["reason"]),
        (&json!("turn_reissued"), &json!("she is ill"))
    );
}

#[test]
fn a_block_because_of_the_turn_ends_with_it_and_no_other_does() {
    let mut world = world(config(), "implementation");
    let old = assign(&mut world, "dev", 2);
    let rejection = Rejection {
        reason: "no tests".into(),
        errors: Vec::new(),
        failed_stage: None,
        baseline: world.state.turn(&old).unwrap().baseline().unwrap(),
        left_behind: Value::Null,
    };
    for seed in [3, 4] {
        let (state, config) = (&world.state, &world.config);
        let change = run::reject(state, config, Some(&old), &rejection, &mut ids(seed), now());
        world.state = change.unwrap().state;
    }
    assert_eq!(world.state.status(), Status::Blocked);
    let blocked = world.state.clone();
    let reissued = reissue(&mut world, &old, "pm");
    assert_eq!(world.state.status(), Status::Active);
    assert!(world.state.member("escalation").is_null());
    assert_eq!(types(&reissued), ["turn_reissued", "escalation_resolved"]);
    let decided: Vec<&Value> =
        reissued.change.ledger.iter().map(|line| &line["decision"]).collect();
    assert_eq!(decided, ["turn_reissued", "escalation_resolved"]);

    let other = Block::operator("wait");
    let stopped = run::block(&blocked, &other, &mut ids(5), now()).unwrap().state;
    let wanted = ("pm", "she is ill");
    let refused = check_reissue(&stopped, &world.config, Some(&old), wanted, clean(), 0);
    assert_eq!(refused.unwrap_err().code, Code::XchainInvalidStateTransition);
}

#[test]
fn the_guards_of_an_assignment_hold_for_the_new_turn() {
    let mut world = world(config(), "implementation");
    let dev = assign(&mut world, "dev", 2);
    assign(&mut world, "pm", 3);
    let code = |role: &str, turn: Option<&TurnId>, check: BaselineCheck| {
        let wanted = (role, "why");
        let checked = check_reissue(&world.state, &world.config, turn, wanted, check, 0);
        checked.err().map(|failure| failure.code)
    };
    assert_eq!(code("dev", None, clean()), Some(Code::XchainTargetRequired));
    assert_eq!(code("nobody", Some(&dev), clean()), Some(Code::XchainUnknownRole));
    let taken = Some(Code::XchainRoleAlreadyActive);
    assert_eq!(code("pm", Some(&dev), clean()), taken);
    let baseline = Baseline {
        head_ref: Some("a".into()),
        clean: false,
        dirty: Vec::new(),
        ..Baseline::default()
    };
    let dirty = BaselineCheck::Dirty(baseline, vec!["src/half.rs".into()]);
    let refused = Some(Code::XchainBaselineDirty);
    assert_eq!(code("dev", Some(&dev), dirty.clone()), refused);
    assert_eq!(code("qa", Some(&dev), dirty), None, "who reviews changes nothing");
    // Two are active and the phase takes two: the old one makes room for the new one.
    assert_eq!(code("dev", Some(&dev), clean()), None);
    let gone = TurnId::parse("turn_gone").unwrap();
    assert_eq!(code("dev", Some(&gone), clean()), Some(Code::XchainTurnNotActive));
}

#[test]
fn what_was_delegated_goes_on_with_the_new_turn_and_comes_back() {
    let config = config_with(|document| {
        let route = document["routing"]["implementation"].as_object_mut().unwrap();
        route.insert("allowed_next_roles".into(), json!(["pm", "dev", "qa", "human"]));
    });
    let mut world = world(config, "implementation");
    let parent = assign(&mut world, "pm", 2);
    let mut ask = result(&world, &parent);
    ask["delegations"] = json!([{"id": "del-001", "to_role": "dev", "charter": "Build it.",
        "acceptance_contract": ["All of it."]}]);
    stage(&mut world, &parent, &ask);
    accept(&mut world, &parent, &Script::default()).accepted();
    let child = assign(&mut world, "dev", 3);
    let reissued = reissue(&mut world, &child, "qa");
    let context = reissued.turn.delegation_context().unwrap();
    assert_eq!(context["charter"], "Build it.");
    let queue = world.state.member("delegation_queue");
    assert_eq!(
        (&queue[0]["status"], &queue[0]["to_role"], &queue[0]["child_turn_id"]),
        (&json!("active"), &json!("qa"), &json!(reissued.turn.id().as_str()))
    );
    let done = result(&world, reissued.turn.id());
    stage(&mut world, reissued.turn.id(), &done);
    let script = Script { seed: 70, ..Script::default() };
    accept(&mut world, reissued.turn.id(), &script).accepted();
    let review = world.state.member("pending_delegation_review");
    assert_eq!(review["delegation_results"][0]["status"], "completed");

    // A review that is taken back waits for the role that goes on.
    let reviewing = assign(&mut world, "pm", 5);
    let turn = reissue(&mut world, &reviewing, "dev").turn;
    assert!(turn.delegation_review().is_some());
    assert_eq!(world.state.member("pending_delegation_review")["parent_role"], "dev");
}

#[test]
fn a_coordinator_follows_the_work_to_the_turn_that_took_its_place() {
    let config = coordinators::coordinator();
    let start = coordinators::begun("planning");
    let mut views = coordinators::repos("planning");
    let run = start.state.repo_run("api").map(str::to_owned);
    let line = |turn: &str, status: &str, anew: Value| {
        let mut line = coordinators::turn(turn, &["DEC-1"], "a");
        line.insert("run_id".into(), run.clone().into());
        line.insert("status".into(), status.into());
        line.insert("reissued_as".into(), anew);
        line
    };
    let place = Initiative {
        config: &config,
        state: &start.state,
        barriers: &start.barriers,
        history: &[],
    };
    let choice = choose(&place, &views, None).unwrap();
    let handed_out = TurnId::parse("turn_1").unwrap();
    let history = [dispatched_line(&place, &choice, &handed_out, now())];
    let place = Initiative { history: &history, ..place };
    let mut differences = |lines: Vec<serde_json::Map<String, Value>>| {
        views.get_mut("api").unwrap().history = lines;
        let found = diverging(&place, &views);
        found
            .into_iter()
            .map(|found| (found.kind, found.turn.unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let accepted = DivergenceKind::TurnAcceptedUnprojected;
    let followed = differences(vec![
        line("turn_1", "reissued", json!("turn_2")),
        line("turn_2", "completed", Value::Null),
    ]);
    assert_eq!(followed, [(accepted, "turn_2".to_owned())]);
    // Another runner does not say what took its place.
    let rejected = DivergenceKind::TurnRejectedUnprojected;
    let lost = differences(vec![line("turn_1", "reissued", Value::Null)]);
    assert_eq!(lost, [(rejected, "turn_1".to_owned())]);
    let circle = differences(vec![
        line("turn_1", "reissued", json!("turn_2")),
        line("turn_2", "reissued", json!("turn_1")),
    ]);
    assert_eq!(circle.len(), 1);
}
