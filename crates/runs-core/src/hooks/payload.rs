//! The payloads of hooks, and where their programs run.

use std::path::Path;

use accord_contract::{Object, Time, Value};

use super::Hook;
use crate::{Config, GateType, State, Turn, array, build, config, doc, rule};

/// The payload in its envelope, as a hook reads it.
///
/// Clauses: AX-HK-ENVELOPE.
pub fn envelope(
    hook: &Hook,
    run_id: Option<&str>,
    project_root: &str,
    payload: &Object,
    now: Time,
) -> Object {
    let payload = rule!(payload.clone(); PayloadForgotten => Object::new());
    build([
        ("hook_phase", hook.phase.as_str().into()),
        ("hook_name", hook.name.as_str().into()),
        ("run_id", run_id.into()),
        ("project_root", project_root.into()),
        ("timestamp", now.to_string().into()),
        ("payload", payload.into()),
    ])
}

/// The environment variables that are added for a process hook.
///
/// Clauses: AX-HK-ENVIRONMENT.
pub fn environment(hook: &Hook, run_id: Option<&str>, project_root: &str) -> Vec<(String, String)> {
    let mut added = vec![
        ("AGENTXCHAIN_HOOK_PHASE".to_owned(), hook.phase.as_str().to_owned()),
        ("AGENTXCHAIN_HOOK_NAME".to_owned(), hook.name.clone()),
        ("AGENTXCHAIN_RUN_ID".to_owned(), run_id.unwrap_or_default().to_owned()),
        ("AGENTXCHAIN_PROJECT_ROOT".to_owned(), project_root.to_owned()),
    ];
    // The hook's own variables come last, as in the reference runner.
    added.extend(rule!(hook.env.clone(); EnvironmentEmpty => Vec::new()));
    added
}

/// The folder in which the program of a hook runs.
///
/// Clauses: AX-HK-FOLDER.
pub fn working_folder(root: &Path) -> &Path {
    rule!(root; HookElsewhere => Path::new("/"))
}

pub fn before_assignment(
    config: &Config,
    state: &State,
    role_id: &str,
    history_length: u64,
) -> Object {
    let roles = crate::members::object(config.document(), "roles");
    let role = roles.and_then(|roles| roles.get(role_id)).cloned();
    let active: Vec<&str> = state.turns().map(|turn| turn.id().as_str()).collect();
    build([
        ("role_id", role_id.into()),
        ("role_config", role.unwrap_or(Value::Null)),
        ("phase", state.phase().into()),
        ("active_turns", array(&active)),
        ("history_length", history_length.into()),
    ])
}

/// After a turn's bundle was written, before it is finalized.
pub fn after_dispatch(turn: &Turn, state: &State, bundle_path: &str, files: &[String]) -> Object {
    build([
        ("turn_id", turn.id().as_str().into()),
        ("role_id", turn.role().into()),
        ("runtime_id", turn.runtime_id().into()),
        ("phase", state.phase().into()),
        ("bundle_path", bundle_path.into()),
        ("bundle_files", array(files)),
    ])
}

/// Before a staged result is read. `result` is the parsed result, or why it cannot be parsed.
pub fn before_validation(turn: &Turn, staging_path: &str, result: Result<&Value, &str>) -> Object {
    let mut payload = build([
        ("turn_id", turn.id().as_str().into()),
        ("role_id", turn.role().into()),
        ("staging_path", staging_path.into()),
        ("turn_result", result.ok().cloned().unwrap_or(Value::Null)),
    ]);
    // The protocol also has `read_error`. A result that cannot be read is reported here as well.
    if let Err(why) = result {
        payload.insert("parse_error".into(), why.into());
    }
    payload
}

pub fn after_validation(
    turn: &Turn,
    result: &Value,
    failed_stage: Option<&str>,
    errors: &[String],
    warnings: &[String],
) -> Object {
    build([
        ("turn_id", turn.id().as_str().into()),
        ("role_id", turn.role().into()),
        ("validation_ok", failed_stage.is_none().into()),
        ("validation_stage", failed_stage.into()),
        ("errors", array(errors)),
        ("warnings", array(warnings)),
        ("turn_result", result.clone()),
    ])
}

pub fn before_acceptance(
    turn: &Turn,
    result: &Value,
    observed: &[String],
    conflict: bool,
) -> Object {
    build([
        ("turn_id", turn.id().as_str().into()),
        ("role_id", turn.role().into()),
        ("turn_result", result.clone()),
        ("observed_changes", array(observed)),
        ("conflict_detected", conflict.into()),
    ])
}

pub fn after_acceptance(turn: &Turn, state: &State, entry: &Object, index: u64) -> Object {
    let count = |name: &str| crate::members::list(entry, name).len();
    build([
        ("turn_id", turn.id().as_str().into()),
        ("role_id", turn.role().into()),
        ("history_entry_index", index.into()),
        ("accepted_integration_ref", state.value(doc::State::ACCEPTED_INTEGRATION_REF)),
        ("decisions_count", count("decisions").into()),
        ("objections_count", count("objections").into()),
        ("run_status", state.status().as_str().into()),
        ("phase", state.phase().into()),
    ])
}

pub fn before_gate(
    gate_type: GateType,
    current_phase: &str,
    target_phase: Option<&str>,
    gate: Option<&config::Gate>,
    config: &Config,
    history_length: u64,
) -> Object {
    let gates = crate::members::object(config.document(), "gates");
    let declared = gate.and_then(|gate| gates?.get(&gate.id)).cloned();
    build([
        ("gate_type", gate_type.as_str().into()),
        ("current_phase", current_phase.into()),
        ("target_phase", target_phase.into()),
        ("gate_config", declared.unwrap_or(Value::Null)),
        ("history_length", history_length.into()),
    ])
}

pub fn on_escalation(state: &State, turn: Option<&Turn>, last_error: Option<&str>) -> Object {
    let blocked = state.value(doc::State::BLOCKED_REASON);
    let recovery = blocked.pointer("/recovery/recovery_action").cloned();
    build([
        ("blocked_reason", blocked),
        ("recovery_action", recovery.unwrap_or(Value::Null)),
        ("failed_turn_id", turn.map(|turn| turn.id().as_str()).into()),
        ("failed_role", turn.map(Turn::role).into()),
        ("attempt_count", turn.map(Turn::attempt).into()),
        ("last_error", last_error.into()),
        ("run_id", state.run_id().map(crate::RunId::as_str).into()),
    ])
}
