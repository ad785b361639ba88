//! Streams of events.

use accord_contract::alx::{RunEvent, Step, Stream, read_one};
use accord_contract::{Code, Extensible, Field, Wire};
use serde_json::json;

#[test]
fn nothing_in_a_stream_ends_it() {
    let events = [
        json!({"type": "run.started", "timestamp": "2026-01-01T00:00:00Z"}),
        json!("run.started"),
        json!({"type": 4}),
        json!({}),
        json!({"type": "later"}),
        json!({"type": "step.started", "timestamp": 7}),
        json!({"type": "run.failed", "ok": true}),
        json!({"type": "run.failed", "ok": false}),
    ];
    let report = Stream::Run.read(events);
    assert_eq!(
        report.encode(),
        json!({
            "accepted": ["run.started", "run.failed"],
            "skipped": [{"index": 4, "type": "later"}],
            "refused": [
                {"index": 1, "code": "WIRE_FIELD_TYPE", "pointer": ""},
                {"index": 2, "code": "WIRE_FIELD_TYPE", "pointer": "/type"},
                {"index": 3, "code": "WIRE_FIELD_MISSING", "pointer": "/type"},
                {"index": 5, "code": "WIRE_FIELD_TYPE", "pointer": "/timestamp"},
                {"index": 6, "code": "EVENT_OUTCOME_CONTRADICTION", "pointer": "/ok"},
            ],
        })
    );
}

#[test]
fn the_two_kinds_of_events_have_their_own_times() {
    let as_text = json!({"type": "step", "timestamp": "2026-01-01T00:00:00Z"});
    assert_eq!(Stream::Timeline.read([as_text]).refused[0].code, Code::WireFieldType);
    let as_number = json!({"type": "step", "timestamp": 1767225600000u64});
    assert_eq!(Stream::Timeline.read([as_number.clone()]).accepted, ["step"]);
    assert_eq!(Stream::Timeline.emit(as_number.clone()), Ok(as_number));
}

#[test]
fn an_event_keeps_what_it_came_with() {
    let event =
        json!({"type": "artifact.created", "ok": null, "artifactId": "a", "x": {"y": [null]}});
    let Step::Accepted(read) = read_one::<RunEvent>(event.clone()) else {
        panic!("{event} is sound");
    };
    assert_eq!(read.kind, Extensible::from_text("artifact.created"));
    assert_eq!((&read.ok, &read.timestamp), (&Field::Null, &Field::Absent));
    assert_eq!(read.encode(), event);
}
