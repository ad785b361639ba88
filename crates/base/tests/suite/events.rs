//! Event kinds, and what readers see of events.

use accord_base::{Access, DAMAGED, Event, EventKind, EventKindError, HIDDEN, NewEvent, ProjectId};
use accord_contract::{Time, Timestamp};
use serde_json::json;

#[test]
fn kinds_are_an_open_set() {
    for text in ["package.deposited", "task.lease-renewed", "run.gate.opened", "live.frame_2"] {
        let kind = EventKind::parse(text).unwrap();
        assert_eq!((kind.as_str(), kind.to_string()), (text, text.to_owned()));
    }
    for text in ["", ".", "task", "task.", ".claimed", "a..b", "Task.claimed", "task.2nd", "a. b"] {
        assert_eq!(EventKind::parse(text), Err(EventKindError), "{text}");
    }
    for reserved in [HIDDEN, DAMAGED] {
        assert_eq!(EventKind::parse(reserved), Err(EventKindError));
    }
}

#[test]
fn an_event_of_an_unknown_kind_is_shown_as_it_is() {
    let event = Event {
        seq: 4,
        event: Some(NewEvent {
            project_id: ProjectId::new("atlas").unwrap(),
            kind: EventKind::parse("task.claimed").unwrap(),
            at: Timestamp::emit(Time::from_unix_millis(0)),
            data: json!({"lease": {"token": 7}}),
            only_for: None,
        }),
    };
    let expected = json!({
        "type": "task.claimed", "seq": 4, "project_id": "atlas",
        "at": "1970-01-01T00:00:00.000Z", "data": {"lease": {"token": 7}},
    });
    assert_eq!(event.document_for(&Access::open()), expected);
}
