//! Results: what is refused, and at which stage.

use accord_runs_core::result::{Judged, Leniency, Situation, Stage, judge, read_staged};
use accord_runs_core::testing::MemoryRepository;
use serde_json::{Value, json};

use crate::support::{assign, config, result, world};

pub(crate) fn judged(world: &MemoryRepository, staged: &Value, strict: bool) -> Judged {
    judged_as_read(world, Ok(staged.clone()), strict)
}

pub(crate) fn judged_as_read(
    world: &MemoryRepository,
    staged: Result<Value, String>,
    strict: bool,
) -> Judged {
    let index = world.index();
    let situation = Situation {
        config: &world.config,
        state: &world.state,
        turn: world.state.only_turn(),
        index: &index,
    };
    let leniency = Leniency { strict, force_review: false };
    judge(staged, &situation, leniency)
}

/// The stage and code of a dev's result in the implementation phase, changed.
pub(crate) fn verdict(strict: bool, change: impl FnOnce(&mut Value)) -> Option<(String, String)> {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let mut staged = result(&world, &turn);
    change(&mut staged);
    let judged = judged(&world, &staged, strict);
    let stage = judged.validation.failed_stage?;
    let code = judged.validation.headline()?.code;
    Some((stage.to_string(), code.to_string()))
}

pub(crate) fn remove(value: &mut Value, name: &str) {
    value.as_object_mut().unwrap().shift_remove(name);
}

#[test]
fn a_sound_result_passes_strictly() {
    assert_eq!(verdict(true, |_| {}), None);
}

#[test]
fn each_rule_refuses_at_its_stage() {
    let decision = |extra: Value| {
        let mut decision =
            json!({"id": "DEC-1", "category": "scope", "statement": "s", "rationale": "r"});
        for (name, value) in extra.as_object().unwrap() {
            decision[name] = value.clone();
        }
        json!([decision])
    };
    let delegation = |extra: Value| {
        let mut delegation =
            json!({"id": "del-001", "to_role": "qa", "charter": "c", "acceptance_contract": ["a"]});
        for (name, value) in extra.as_object().unwrap() {
            delegation[name] = value.clone();
        }
        json!([delegation])
    };
    let cases: Vec<(&str, Value, &str, &str)> = vec![
        ("status", json!("perhaps"), "schema", "schema_error"),
        ("schema_version", json!("2.0"), "schema", "schema_error"),
        ("summary", json!("<what you did>"), "schema", "schema_error"),
        ("decisions", decision(json!({"durability": "forever"})), "schema", "schema_error"),
        ("decisions", decision(json!({"overrides": "DEC-1"})), "schema", "schema_error"),
        ("decisions", decision(json!({"overrides": "x"})), "schema", "schema_error"),
        ("decisions", decision(json!({"durability": null})), "schema", "schema_error"),
        ("decisions", decision(json!({"overrides": null})), "schema", "schema_error"),
        (
            "delegations",
            delegation(json!({"required_decision_ids": null})),
            "schema",
            "schema_error",
        ),
        (
            "objections",
            json!([{"id": "OBJ-1", "severity": "low", "statement": "s", "status": null}]),
            "schema",
            "schema_error",
        ),
        ("delegations", delegation(json!({"charter": ""})), "schema", "schema_error"),
        ("delegations", delegation(json!({"to_role": "Not OK"})), "schema", "schema_error"),
        (
            "delegations",
            delegation(json!({"required_decision_ids": ["DEC-1", "DEC-1"]})),
            "schema",
            "schema_error",
        ),
        ("delegations", delegation(json!({"required_decision_ids": []})), "schema", "schema_error"),
        ("delegations", delegation(json!({"to_role": "dev"})), "protocol", "protocol_error"),
        ("delegations", delegation(json!({"to_role": "ghost"})), "protocol", "protocol_error"),
        ("turn_id", json!("turn_other"), "assignment", "turn_id_mismatch"),
        ("role", json!("qa"), "assignment", "assignment_error"),
        ("files_changed", json!(["../../etc/passwd"]), "artifact", "path_outside_repository"),
        ("files_changed", json!(["/etc/passwd"]), "artifact", "path_outside_repository"),
        (
            "files_changed",
            json!(["./.agentxchain/state.json"]),
            "artifact",
            "reserved_path_violation",
        ),
        (
            "files_changed",
            json!(["a/../.agentxchain/events.jsonl"]),
            "artifact",
            "reserved_path_violation",
        ),
        ("files_changed", json!([".git/config"]), "artifact", "reserved_path_violation"),
        ("files_changed", json!([".planning/only.md"]), "artifact", "artifact_error"),
        (
            "proposed_changes",
            json!([{"path": "../x", "action": "create", "content": ""}]),
            "artifact",
            "path_outside_repository",
        ),
        (
            "proposed_changes",
            json!([{"path": "./proposal.MD", "action": "create", "content": ""}]),
            "artifact",
            "artifact_error",
        ),
        (
            "proposed_changes",
            json!([{"path": "SOURCE_SNAPSHOT.json", "action": "delete"}]),
            "artifact",
            "artifact_error",
        ),
        (
            "proposed_changes",
            json!([{"path": "x", "action": "create"}]),
            "artifact",
            "artifact_error",
        ),
        (
            "proposed_changes",
            json!([{"path": "src/", "action": "create", "content": ""}]),
            "artifact",
            "artifact_error",
        ),
        (
            "proposed_changes",
            json!([{"path": "a", "action": "create", "content": ""},
                {"path": "a/b", "action": "create", "content": ""}]),
            "artifact",
            "artifact_error",
        ),
        (
            "proposed_changes",
            json!([{"path": "a/b", "action": "modify", "content": ""},
                {"path": "./a", "action": "create", "content": ""}]),
            "artifact",
            "artifact_error",
        ),
        (
            "proposed_changes",
            json!([{"path": "a", "action": "create", "content": ""},
                {"path": "a", "action": "delete"}]),
            "artifact",
            "artifact_error",
        ),
        (
            "proposed_changes",
            json!([{"path": "n".repeat(300), "action": "create", "content": ""}]),
            "artifact",
            "artifact_error",
        ),
        ("files_changed", json!(["src/lib.rs", "n".repeat(300)]), "artifact", "artifact_error"),
        (
            "files_changed",
            json!(["src/lib.rs", "n/".repeat(2500) + "n"]),
            "artifact",
            "artifact_error",
        ),
        ("files_changed", json!(["src/"]), "artifact", "artifact_error"),
        ("artifact", json!({"type": "review"}), "artifact", "artifact_error"),
        (
            "verification",
            json!({"status": "pass", "commands": [""]}),
            "verification",
            "verification_error",
        ),
        (
            "verification",
            json!({"status": "pass", "machine_evidence": [{"command": "x", "exit_code": 1,
                "expected_exit_code": 0}]}),
            "verification",
            "verification_error",
        ),
        (
            "verification",
            json!({"status": "pass", "produced_files": [{"path": "../x"}]}),
            "verification",
            "path_outside_repository",
        ),
        (
            "verification",
            json!({"status": "pass", "produced_files": [{"path": "src/lib.rs",
                "disposition": "ignore"}]}),
            "verification",
            "verification_error",
        ),
        ("phase_transition_request", json!("planning"), "protocol", "protocol_error"),
        ("phase_transition_request", json!("nowhere"), "protocol", "protocol_error"),
    ];
    for (name, value, stage, code) in cases {
        let found = verdict(false, |staged| staged[name] = value.clone());
        assert_eq!(found, Some((stage.into(), code.into())), "{name}: {value}");
    }
    let both = verdict(false, |staged| {
        staged["phase_transition_request"] = "qa".into();
        staged["run_completion_request"] = true.into();
    });
    assert_eq!(both, Some(("protocol".into(), "mutually_exclusive_requests".into())));
}

#[test]
fn a_reviewer_objects_and_changes_reviews_alone() {
    let mut world = world(config(), "qa");
    let turn = assign(&mut world, "qa", 2);
    let good = result(&world, &turn);
    let code = |change: &dyn Fn(&mut Value)| {
        let mut staged = good.clone();
        change(&mut staged);
        let judged = judged(&world, &staged, false);
        judged.validation.headline().map(|problem| problem.code.to_string())
    };
    assert_eq!(code(&|_| {}), None);
    let silent = code(&|staged| staged["objections"] = json!([]));
    assert_eq!(silent.as_deref(), Some("challenge_requirement_violated"));
    let writes = code(&|staged| staged["files_changed"] = json!(["src/x.rs"]));
    assert_eq!(writes.as_deref(), Some("artifact_error"));
    assert_eq!(code(&|staged| staged["files_changed"] = json!([".planning/r.md"])), None);
    let builds = code(&|staged| {
        staged["artifact"] = json!({"type": "workspace"});
        staged["files_changed"] = json!([".planning/r.md"]);
    });
    assert_eq!(builds.as_deref(), Some("artifact_error"));
}

#[test]
fn a_cost_is_a_finite_amount_from_zero() {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let sound = result(&world, &turn).to_string();
    // As bytes, because a value cannot hold what is not finite.
    let stage = |usd: &str| {
        let costly = sound.replacen('{', &format!("{{\"cost\":{{\"usd\":{usd}}},"), 1);
        let staged = read_staged(costly.as_bytes());
        let judged = judged_as_read(&world, staged, false);
        judged.validation.failed_stage
    };
    for sound in ["0", "0.42", "1e3", "null"] {
        assert_eq!(stage(sound), None, "{sound}");
    }
    for wrong in ["-0.01", "-1e999", "1e999", "NaN", "\"0.42\"", "true", "[]"] {
        assert_eq!(stage(wrong), Some(Stage::Schema), "{wrong}");
    }
}

#[test]
fn a_proposal_may_put_a_folder_where_it_deletes_a_file() {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let mut sound = result(&world, &turn);
    sound["proposed_changes"] = json!([
        {"path": "a", "action": "delete"},
        {"path": "a/b", "action": "create", "content": ""},
        {"path": "ab", "action": "create", "content": ""},
    ]);
    let judged = judged(&world, &sound, true);
    assert_eq!(judged.validation.failed_stage, None, "{judged:?}");
}

#[test]
fn judging_does_not_fall_over() {
    let mut world = world(config(), "implementation");
    assign(&mut world, "dev", 2);
    for odd in [
        json!(null),
        json!(7),
        json!({}),
        json!({"decisions": {}, "objections": 3, "files_changed": "x", "verification": [],
            "artifact": []}),
        json!({"decisions": [1, null], "objections": [[]], "files_changed": [{}],
            "verification": {"machine_evidence": [1], "produced_files": [[]]}}),
        json!({"delegations": [null], "proposed_changes": [1], "cost": [],
            "artifacts_created": [{}]}),
    ] {
        for strict in [false, true] {
            assert!(judged(&world, &odd, strict).validation.failed_stage.is_some());
        }
    }
}
