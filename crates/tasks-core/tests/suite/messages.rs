//! How a message is recognised and read.

use accord_contract::{Code, Value};
use accord_tasks_core::message::{Detected, Message, Payload, detect, detect_text};
use serde_json::json;

fn envelope(kind: &str, payload: Value) -> Value {
    json!({
        "protocol": "aof",
        "version": 1,
        "type": kind,
        "taskId": "TASK-2026-02-09-057",
        "fromAgent": "swe-backend",
        "toAgent": "dispatcher",
        "sentAt": "2026-02-09T21:00:00.000Z",
        "payload": payload,
    })
}

fn report() -> Value {
    envelope(
        "completion.report",
        json!({
            "outcome": "done",
            "summaryRef": "outputs/summary.md",
            "tests": {"total": 3, "passed": 2, "failed": 1},
            "notes": "",
        }),
    )
}

fn request() -> Value {
    envelope(
        "handoff.request",
        json!({
            "taskId": "TASK-2026-02-09-057",
            "parentTaskId": "TASK-2026-02-09-001",
            "fromAgent": "swe-backend",
            "toAgent": "swe-qa",
            "dueBy": "2026-02-10T12:00:00.000Z",
        }),
    )
}

fn message(detected: Detected) -> Message {
    match detected {
        Detected::Message(message) => *message,
        other => panic!("{other:?}"),
    }
}

fn rejection(detected: Detected) -> (Code, String) {
    match detected {
        Detected::Rejected(rejection) => {
            (rejection.reason, Value::Object(rejection.details).to_string())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_is_recognised_wherever_it_is() {
    let text = report().to_string();
    let expected = message(detect(&report()));
    for event in [
        json!({"payload": report()}),
        json!({"message": report()}),
        json!({"content": report()}),
        json!({"message": text}),
        json!({"content": format!("  AOF/1 {text}\n")}),
        json!(text),
        json!(format!("AOF/1 {text}")),
    ] {
        assert_eq!(message(detect(&event)), expected, "{event}");
    }
}

#[test]
fn other_input_is_none_of_its_business() {
    for text in [
        "",
        "The tests pass.",
        r#"{"hello": 1}"#,
        r#"{"protocol": "mcp", "version": 1}"#,
        "[1, 2]",
        "AOF/1",
        r#"aof/1 {"protocol": "aof"}"#,
        r#"Here: AOF/1 {"protocol": "aof"}"#,
    ] {
        assert_eq!(detect_text(text), Detected::Other, "{text}");
    }
    for event in [json!(null), json!(7), json!([report()]), json!({"payload": {"a": 1}})] {
        assert_eq!(detect(&event), Detected::Other, "{event}");
    }
}

#[test]
fn broken_json_is_rejected_with_its_source() {
    let (reason, details) = rejection(detect_text("AOF/1 {\"protocol\": "));
    assert_eq!(reason, Code::AofInvalidJson);
    assert!(details.contains("AOF/1 prefix"), "{details}");
    let (reason, details) = rejection(detect_text("{nope"));
    assert_eq!(reason, Code::AofInvalidJson);
    assert!(details.contains(r#""source":"json""#), "{details}");
    let trailing = format!("AOF/1 {} thanks", report());
    assert_eq!(rejection(detect_text(&trailing)).0, Code::AofInvalidJson);
    // The prefix says that it is a message.
    assert_eq!(rejection(detect_text("AOF/1 {\"a\":1}")).0, Code::AofInvalidEnvelope);
}

#[test]
fn an_unknown_type_is_not_an_invalid_envelope() {
    let unknown = envelope("task.dance", json!({}));
    let expected =
        Detected::Unknown { kind: "task.dance".into(), task: Some("TASK-2026-02-09-057".into()) };
    assert_eq!(detect(&unknown), expected);
}

#[test]
fn each_member_of_the_envelope_is_checked() {
    for (member, wrong) in [
        ("version", json!(2)),
        ("version", json!("1")),
        ("type", json!(7)),
        ("taskId", json!("TASK-2026-02-09-0570")),
        ("fromAgent", json!(null)),
        ("toAgent", json!(1)),
        ("sentAt", json!("yesterday")),
        ("sentAt", json!("2026-02-09T21:00:00+02:00")),
        ("payload", json!([])),
        ("payload", json!("text")),
    ] {
        let mut changed = report();
        changed[member] = wrong.clone();
        let (reason, details) = rejection(detect(&changed));
        assert_eq!(reason, Code::AofInvalidEnvelope, "{member}: {wrong}");
        assert!(details.contains(&format!("/{member}")), "{details}");
        changed.as_object_mut().unwrap().shift_remove(member);
        assert_eq!(rejection(detect(&changed)).0, Code::AofInvalidEnvelope, "without {member}");
    }
}

#[test]
fn the_project_has_two_spellings() {
    for name in ["projectId", "project_id"] {
        let mut changed = report();
        changed[name] = json!("shop");
        let envelope = message(detect(&changed)).envelope;
        assert_eq!(envelope.project_id.as_deref(), Some("shop"));
    }
    assert_eq!(message(detect(&report())).envelope.project_id, None);
}

#[test]
fn a_payload_is_checked_by_its_type() {
    let update = |payload: Value| detect(&envelope("status.update", payload));
    let known = json!({"taskId": "TASK-2026-02-09-057", "agentId": "swe-qa"});
    assert_eq!(rejection(update(known.clone())).0, Code::AofInvalidEnvelope);
    for (name, value) in [
        ("status", json!("blocked")),
        ("progress", json!("")),
        ("blockers", json!([])),
        ("notes", json!("n")),
    ] {
        let mut payload = known.clone();
        payload[name] = value;
        assert!(matches!(message(update(payload)).payload, Payload::StatusUpdate(_)), "{name}");
    }
    let mut long = known;
    long["progress"] = json!("x".repeat(1_001));
    assert_eq!(rejection(update(long)).0, Code::AofInvalidEnvelope);

    let mut wrong = report();
    wrong["payload"]["tests"]["passed"] = json!(3);
    assert_eq!(rejection(detect(&wrong)).0, Code::AofInvalidEnvelope);
    wrong["payload"]["tests"]["passed"] = json!(u64::MAX);
    assert_eq!(rejection(detect(&wrong)).0, Code::AofInvalidEnvelope);
}

#[test]
fn invalid_acceptance_criteria_do_not_stop_a_handoff() {
    for (criteria, kept) in [
        (json!(["tests pass", 7, null]), vec!["tests pass".to_owned()]),
        (json!("tests pass"), vec![]),
        (json!(null), vec![]),
        (json!(["x".repeat(300), "short"]), vec!["short".to_owned()]),
    ] {
        let mut changed = request();
        changed["payload"]["acceptanceCriteria"] = criteria.clone();
        let message = message(detect(&changed));
        assert_eq!(message.problems.len(), 1, "{criteria}");
        let Payload::HandoffRequest(request) = message.payload else { panic!("{criteria}") };
        assert_eq!(request.acceptance_criteria, Some(kept));
    }
    // Everything else of a request stops it.
    let mut changed = request();
    changed["payload"]["contextRefs"] = json!([7]);
    assert_eq!(rejection(detect(&changed)).0, Code::AofInvalidEnvelope);
}
