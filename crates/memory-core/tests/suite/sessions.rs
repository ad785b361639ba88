//! Sessions and callsigns.

use std::collections::BTreeSet;

use accord_base::ActorType;
use accord_contract::{Code, Wire as _};
use accord_memory_core::session::{SessionEnd, SessionRequest, SessionUpdate, start};
use accord_memory_core::{PackageId, Session, callsign, event};
use serde_json::json;

use crate::support::{actor, at, invalid, now, object, project, project_id, refused, writing};

fn started(body: &str) -> Session {
    let (id, project) = (project_id(), project());
    let asked = SessionRequest::parse(body.as_bytes(), &id).unwrap();
    let own = asked.actor().unwrap().unwrap_or_else(|| actor("key", ActorType::Agent));
    start(asked, &writing(&id, Some(&project), Some(&own)), [1; 32]).unwrap().session
}

#[test]
fn a_session_has_every_member_of_the_protocol() {
    let session =
        started(r#"{"actor_id":"ada","actor_type":"human","x-tool":"cli","project_id":"atlas"}"#);
    let expected = json!({
        "session_id": "sess_01010101010101010101010101010101", "project_id": "atlas",
        "actor_id": "ada", "actor_type": "human", "callsign": callsign(0x0101),
        "started_at": "2026-05-01T00:00:00.000Z", "ended_at": null, "packages_deposited": [],
        "x-tool": "cli",
    });
    assert_eq!(session.encode(), expected);
    assert_eq!(Session::read(object(expected)).unwrap(), session);
    assert_eq!(started("").actor_id.as_str(), "key");
    assert_eq!(started(r#"{"callsign":"Red Leader"}"#).callsign.as_deref(), Some("Red Leader"));
}

#[test]
fn what_is_no_request_is_refused() {
    let id = project_id();
    let read = |body: &str| SessionRequest::parse(body.as_bytes(), &id);
    for ours in ["session_id", "started_at", "ended_at"] {
        let body = json!({ours: "x"}).to_string();
        assert_eq!(refused(read(&body)), invalid(&format!("/{ours}")));
    }
    assert_eq!(refused(read(r#"{"project_id":"other"}"#)), invalid("/project_id"));
    assert_eq!(refused(read(r#"{"actor_type":"bot"}"#)), invalid("/actor_type"));
    assert_eq!(refused(read(r#"{"actor_id":"a"}"#).unwrap().actor()), invalid("/actor_type"));
    assert_eq!(refused(read(r#"{"actor_type":"agent"}"#).unwrap().actor()), invalid("/actor_id"));
    let (asked, here) = (read("{}").unwrap(), project());
    let nobody = start(asked.clone(), &writing(&id, Some(&here), None), [0; 32]);
    assert_eq!(refused(nobody), invalid("/actor_id"));

    let ada = actor("ada", ActorType::Human);
    let fresh = start(asked.clone(), &writing(&id, None, Some(&ada)), [0; 32]).unwrap();
    assert_eq!(fresh.create_project.unwrap().project_id, id);
    let accord_memory_core::project::ProjectUpdate::Changed(archived) = here.archived(now()) else {
        panic!("it was not archived before")
    };
    let refusal = refused(start(asked, &writing(&id, Some(&archived), Some(&ada)), [0; 32]));
    assert_eq!(refusal.0, Code::AgenticProjectArchived);
}

#[test]
fn a_session_ends_once() {
    let session = started("");
    let SessionUpdate::Ended(ended) = session.ended(at("2026-05-02T00:00:00Z")) else {
        panic!("it had not ended")
    };
    assert_eq!(ended.ended_at.as_ref().unwrap().as_str(), "2026-05-02T00:00:00.000Z");
    assert_eq!(ended.ended(at("2026-05-03T00:00:00Z")), SessionUpdate::Unchanged);
    let SessionUpdate::Ended(early) = session.ended(at("2020-01-01T00:00:00Z")) else {
        panic!("it had not ended")
    };
    assert_eq!(early.ended_at, Some(session.started_at));
}

#[test]
fn a_session_ends_when_it_says_and_no_later_than_now() {
    let ends = |body: &str| SessionEnd::parse(body.as_bytes()).map(|end| end.at(now()));
    for body in ["", "{}", r#"{"ended_at": null}"#] {
        assert_eq!(ends(body).unwrap(), now(), "{body}");
    }
    let early = r#"{"ended_at": "2020-01-01T00:00:00Z"}"#;
    assert_eq!(ends(early).unwrap(), at("2020-01-01T00:00:00Z"));
    let late = r#"{"ended_at": "2090-01-01T00:00:00Z"}"#;
    assert_eq!(ends(late).unwrap(), now());
    for (body, place) in [
        (r#"{"ended_at": "yesterday"}"#, "/ended_at"),
        (r#"{"callsign": "brave-otter"}"#, "/callsign"),
        ("[]", ""),
    ] {
        assert_eq!(refused(ends(body)), invalid(place), "{body}");
    }
}

#[test]
fn its_start_and_end_are_events() {
    let session = started("");
    let event = event::about_session(event::SESSION_STARTED, &session, now());
    assert_eq!((event.kind, &event.data["session"]), (event::SESSION_STARTED, &session.encode()));
    assert_eq!(
        event::about_session(event::SESSION_ENDED, &session, now()).kind,
        event::SESSION_ENDED
    );
}

#[test]
fn its_packages_are_listed_once_behind_those_it_came_with() {
    let ids = |names: &[&str]| -> Vec<PackageId> {
        names.iter().map(|id| PackageId::new(*id).unwrap()).collect()
    };
    let mut session = started("");
    session.packages_deposited = ids(&["b", "a"]);
    let session = session.with_packages(ids(&["a", "c"]));
    assert_eq!(session.packages_deposited, ids(&["b", "a", "c"]));
    assert_eq!(session.clone().with_packages(ids(&["c", "b"])), session);
}

#[test]
fn callsigns_are_two_words_and_4096_of_them() {
    let all: BTreeSet<String> = (0..4096).map(callsign).collect();
    assert_eq!(all.len(), 4096);
    for name in &all {
        let (adjective, noun) = name.split_once('-').unwrap();
        for word in [adjective, noun] {
            assert!(
                !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()),
                "{name}"
            );
        }
    }
    assert_eq!(callsign(u16::MAX), callsign(4095));
}
