//! Events, and what readers see of them.

use accord_base::{Access, ActorType, Event, EventKind, KeyScope, Verb};
use accord_contract::Wire as _;
use accord_memory_core::lifecycle::{Change, Move, Revision, Transition, transition};
use accord_memory_core::{FactId, event};
use serde_json::json;

use crate::support::{fact, key, minimal, now, package, project, with};

#[test]
fn an_event_says_what_it_is_about() {
    let sound = package(&minimal());
    let event = Event { seq: 7, event: Some(event::deposited(&sound, now())) };
    let expected = json!({
        "type": "package.deposited", "seq": 7, "project_id": "atlas",
        "at": "2026-05-01T00:00:00.000Z",
        "data": {
            "package_id": "pkg_1", "title": "Indexes rebuilt", "package_type": "milestone",
            "status": "complete",
            "review_type": "none", "created_at": "2026-04-18T20:00:00Z",
            "created_by": {"id": "ada", "type": "human"},
            "content_hash": sound.content_hash().to_string(),
        },
    });
    assert_eq!(event.document_for(&Access::open()), expected);

    let fact = fact(json!({}));
    let asserted = event::asserted(&fact, Some(&FactId::new("f0").unwrap()), now());
    assert_eq!(asserted.data, json!({"fact": fact.encode(), "superseded": "f0"}));
    assert_eq!(event::invalidated(&fact, None, now()).kind, event::FACT_INVALIDATED);
    let created = event::about_project(event::PROJECT_CREATED, &project(), now());
    assert_eq!(created.data["project"]["project_id"], "atlas");
    for (event, kind) in [
        (event::about_project(event::PROJECT_UPDATED, &project(), now()), event::PROJECT_UPDATED),
        (event::about_project(event::PROJECT_ARCHIVED, &project(), now()), event::PROJECT_ARCHIVED),
        (event::about_project(event::PROJECT_RESTORED, &project(), now()), event::PROJECT_RESTORED),
    ] {
        assert_eq!((event.kind, &event.data), (kind, &created.data));
    }
}

#[test]
fn a_draft_is_its_authors_until_it_moves() {
    let draft = package(&with(json!({"status": "draft"})));
    let bound = |id: &str| {
        Access::of(
            &KeyScope::new(vec![Verb::Read], None).bound_to(key(id, ActorType::Human), false),
        )
    };
    let deposited = Event { seq: 3, event: Some(event::deposited(&draft, now())) };
    assert_eq!(deposited.event.as_ref().unwrap().only_for, Some(key("ada", ActorType::Human)));
    assert_eq!(deposited.document_for(&bound("grace")), json!({"type": "hidden"}));
    assert_eq!(deposited.type_for(&bound("grace")), "hidden");
    for reader in [bound("ada"), Access::open()] {
        assert_eq!(deposited.type_for(&reader), "package.deposited");
    }
    let first = Revision::deposited(&draft, None, now());
    let asked = Move::new(Change::Complete);
    let Transition::Moved { package, revision } =
        transition(&draft, &first, &asked, now()).unwrap()
    else {
        panic!("it moves")
    };
    let moved = Event { seq: 4, event: Some(event::transitioned(&package, &revision, now())) };
    let document = moved.document_for(&bound("grace"));
    assert_eq!(
        (&document["data"]["status"], &document["data"]["revision"]["seq"]),
        (&json!("complete"), &json!(2))
    );
}

#[test]
fn kinds_have_names_that_a_stream_can_carry() {
    for kind in event::KINDS {
        assert_eq!(EventKind::parse(kind.as_str()), Ok(kind.clone()));
        let (thing, what) = kind.as_str().split_once('.').unwrap();
        assert!(["project", "package", "fact", "session"].contains(&thing) && !what.is_empty());
    }
}

#[test]
fn a_damaged_event_keeps_its_number_and_says_so() {
    let damaged = Event { seq: 5, event: None };
    let access = Access::open();
    assert_eq!(damaged.type_for(&access), "damaged");
    assert_eq!(damaged.document_for(&access), json!({"type": "damaged"}));
}
