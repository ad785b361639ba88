//! Results that are corrected, and what becomes of them when they are taken as they are.

use serde_json::{Value, json};

use crate::results::{judged, remove, verdict};
use crate::support::{assign, config, config_with, result, world};

/// The member that is corrected, how it is wrong, and the stage and code without correction.
type Softened = (&'static str, Box<dyn Fn(&mut Value)>, &'static str, &'static str);

#[test]
fn what_is_corrected_is_refused_when_strict() {
    let softened: Vec<Softened> = vec![
        (
            "run_id",
            Box::new(|staged| staged["run_id"] = "run_x".into()),
            "assignment",
            "run_id_mismatch",
        ),
        ("run_id", Box::new(|staged| remove(staged, "run_id")), "schema", "missing_required_field"),
        (
            "summary",
            Box::new(|staged| remove(staged, "summary")),
            "schema",
            "missing_required_field",
        ),
        (
            "decisions",
            Box::new(|staged| remove(staged, "decisions")),
            "schema",
            "missing_required_field",
        ),
        (
            "artifact",
            Box::new(|staged| remove(staged, "artifact")),
            "schema",
            "missing_required_field",
        ),
        (
            "runtime_id",
            Box::new(|staged| remove(staged, "runtime_id")),
            "schema",
            "missing_required_field",
        ),
        (
            "proposed_next_role",
            Box::new(|staged| remove(staged, "proposed_next_role")),
            "schema",
            "missing_required_field",
        ),
        (
            "runtime_id",
            Box::new(|staged| staged["runtime_id"] = Value::Null),
            "schema",
            "schema_error",
        ),
        (
            "runtime_id",
            Box::new(|staged| staged["runtime_id"] = "".into()),
            "schema",
            "schema_error",
        ),
        (
            "proposed_next_role",
            Box::new(|staged| staged["proposed_next_role"] = Value::Null),
            "schema",
            "schema_error",
        ),
        (
            "proposed_next_role",
            Box::new(|staged| staged["proposed_next_role"] = "".into()),
            "schema",
            "schema_error",
        ),
        ("summary", Box::new(|staged| staged["summary"] = Value::Null), "schema", "schema_error"),
        ("status", Box::new(|staged| staged["status"] = "done".into()), "schema", "schema_error"),
        (
            "files_changed",
            Box::new(|staged| staged["files_changed"] = json!([{"path": "src/a.rs"}])),
            "schema",
            "schema_error",
        ),
        (
            "files_changed",
            Box::new(|staged| {
                remove(staged, "files_changed");
                staged["files_modified"] = json!(["src/a.rs"]);
            }),
            "schema",
            "missing_required_field",
        ),
        (
            "decisions.0.id",
            Box::new(|staged| {
                staged["decisions"] =
                    json!([{"id": "D1", "category": "scope", "statement": "s", "rationale": "r"}]);
            }),
            "schema",
            "invalid_decision_id_format",
        ),
        (
            "decisions.0.category",
            Box::new(|staged| {
                staged["decisions"] = json!([{"id": "DEC-1", "category": "mood", "statement": "s",
                    "rationale": "r"}]);
            }),
            "schema",
            "schema_error",
        ),
        (
            "objections.0.id",
            Box::new(|staged| {
                staged["objections"] = json!([{"id": "1", "severity": "low", "statement": "s"}]);
            }),
            "schema",
            "schema_error",
        ),
        (
            "verification.status",
            Box::new(|staged| staged["verification"] = json!({"exit_code": 0})),
            "schema",
            "schema_error",
        ),
        (
            "verification.machine_evidence",
            Box::new(|staged| {
                staged["verification"]["machine_evidence"] =
                    json!([{"command": "x", "exit_code": 1}]);
            }),
            "verification",
            "verification_error",
        ),
        (
            "proposed_next_role",
            Box::new(|staged| staged["proposed_next_role"] = "stranger".into()),
            "protocol",
            "protocol_error",
        ),
        (
            "artifact",
            Box::new(|staged| {
                staged["files_changed"] = json!([]);
                staged["status"] = "needs_human".into();
            }),
            "artifact",
            "artifact_error",
        ),
    ];
    for (field, change, stage, code) in softened {
        let mut world = world(config(), "implementation");
        let turn = assign(&mut world, "dev", 2);
        let mut staged = result(&world, &turn);
        change(&mut staged);
        let lenient = judged(&world, &staged, false);
        assert_eq!(lenient.validation.failed_stage, None, "{field}: {:?}", lenient.validation);
        assert!(lenient.rewrites.iter().any(|rewrite| rewrite.field == field), "{field}");
        assert!(lenient.validation.warnings[0].starts_with("[normalized] "));
        let found = verdict(true, change);
        assert_eq!(found, Some((stage.into(), code.into())), "{field}");
    }
}

#[test]
fn a_turn_that_wants_a_person_says_why_when_strict() {
    let silent = |staged: &mut Value| {
        staged["status"] = "needs_human".into();
        staged["artifact"] = json!({"type": "commit"});
    };
    assert_eq!(verdict(false, silent), None);
    let strict = verdict(true, silent);
    assert_eq!(strict, Some(("protocol".into(), "protocol_error".into())));
}

#[test]
fn a_member_of_the_wrong_type_is_neither_replaced_nor_dropped() {
    let schema = || Some(("schema".to_owned(), "schema_error".to_owned()));
    for wrong in [json!(0), json!(7), json!(false), json!([]), json!(["Did it."]), json!({})] {
        for member in ["summary", "runtime_id", "proposed_next_role"] {
            let found = verdict(false, |staged| staged[member] = wrong.clone());
            assert_eq!(found, schema(), "{member} = {wrong}");
        }
    }
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    for wrong in [json!("src/a.rs"), json!({"src/a.rs": true}), Value::Null] {
        let mut staged = result(&world, &turn);
        remove(&mut staged, "files_changed");
        staged["files_modified"] = wrong.clone();
        assert_eq!(judged(&world, &staged, false).result["files_modified"], wrong);
    }
}

#[test]
fn normalisation_makes_up_no_request() {
    let mut world = world(config(), "qa");
    let turn = assign(&mut world, "qa", 2);
    let staged = result(&world, &turn);
    let judged = judged(&world, &staged, false);
    assert_eq!(judged.validation.failed_stage, None);
    assert_eq!(judged.result.get("run_completion_request"), None);
    assert_eq!(judged.rewrites, Vec::new());
}

#[test]
fn a_phase_too_far_and_a_gate_are_taken_for_the_next_phase() {
    let config = config_with(|document| {
        document["routing"]["implementation"]["exit_gate"] = "built".into();
        document["gates"]["built"] = json!({});
    });
    let mut planning = world(config.clone(), "planning");
    let turn = assign(&mut planning, "pm", 2);
    let mut staged = result(&planning, &turn);
    staged["phase_transition_request"] = "qa".into();
    let far = judged(&planning, &staged, false);
    assert_eq!(far.result["phase_transition_request"], "implementation");
    staged["phase_transition_request"] = "plan".into();
    let gate = judged(&planning, &staged, false);
    assert_eq!(gate.result["phase_transition_request"], "implementation");
    let mut last = world(config, "qa");
    let turn = assign(&mut last, "qa", 2);
    let mut staged = result(&last, &turn);
    staged["phase_transition_request"] = "ship".into();
    let end = judged(&last, &staged, false);
    assert_eq!(end.result["run_completion_request"], true);
    assert!(end.result["phase_transition_request"].is_null());
}
