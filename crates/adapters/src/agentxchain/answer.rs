//! The answers of the runner, as fixtures expect them.

use accord_contract::{Code, Failure, Object};
use accord_runs_core::coordinator::{Effect, Projection};
use accord_runs_core::gate::{Completion, Failures, PhaseExit};
use accord_runs_core::manifest::{self, MANIFEST, ManifestError};
use accord_runs_core::result::Judged;
use accord_runs_core::state::State;
use serde_json::{Value, json};

/// A check found nothing wrong.
pub fn valid() -> Value {
    json!({ "result": "success", "errors": [] })
}

/// A check, or an operation without state, refused its input.
pub fn invalid(failure: &Failure) -> Value {
    error(failure.code.as_str(), failure).into()
}

/// An operation on a run succeeded.
pub fn ok(state: &State) -> Value {
    json!({ "result": "ok", "state_assertions": state.document() })
}

/// An operation on a run was refused. Fixtures have fewer codes than the core.
pub fn refused(failure: &Failure, state_unchanged: bool) -> Value {
    let code = match failure.code {
        Code::XchainUnknownRole
        | Code::XchainRoleWithoutRuntime
        | Code::XchainTurnCapacityReached
        | Code::XchainRoleAlreadyActive
        | Code::XchainBudgetExhausted
        | Code::XchainBaselineDirty
        | Code::XchainCheckpointRequired => Code::XchainInvalidStateTransition,
        Code::XchainSchemaVersionInvalid
        | Code::XchainUndeclaredRuntimeReference
        | Code::XchainUndeclaredRoleReference
        | Code::XchainUndeclaredGateReference => Code::XchainInvalidConfig,
        code => code,
    };
    let mut answer = error(code.as_str(), failure);
    answer.insert("state_unchanged".into(), state_unchanged.into());
    answer.into()
}

/// An error with its type, message and the details of the failure.
fn error(error_type: &str, failure: &Failure) -> Object {
    let mut answer = Object::new();
    answer.insert("result".into(), "error".into());
    answer.insert("error_type".into(), error_type.into());
    for (name, value) in failure.details.iter().flat_map(|details| details.iter()) {
        // Details never replace `result` and `error_type`, which the comparison depends on.
        answer.entry(name.clone()).or_insert_with(|| value.clone());
    }
    answer.entry("message").or_insert_with(|| failure.message.as_str().into());
    answer
}

/// A staged result was validated.
pub fn judged(judged: &Judged) -> Value {
    let validation = &judged.validation;
    let Some(stage) = validation.failed_stage else {
        return json!({
            "result": "success",
            "stages_passed": validation.stages_passed(),
            "errors": [],
            "warnings": validation.warnings,
        });
    };
    let mut answer = json!({
        "result": "error",
        "failed_stage": stage.as_str(),
        "errors": validation.errors(),
        "warnings": validation.warnings,
    });
    if let Some(first) = validation.headline() {
        answer["error_type"] = first.code.as_str().into();
        for (name, value) in [
            ("error_field", first.field.as_deref()),
            ("error_path", first.path.as_deref()),
            ("error_detail", first.detail),
        ] {
            if let Some(value) = value {
                answer[name] = value.into();
            }
        }
    }
    answer
}

/// The exit of a phase was evaluated. `state_unchanged` is the result of a comparison.
pub fn phase_exit(exit: &PhaseExit, phase: &str, state_unchanged: bool) -> Value {
    match exit {
        PhaseExit::NoRequest => no_request(state_unchanged),
        PhaseExit::UnknownPhase(name) => json!({
            "result": "error",
            "action": "gate_error",
            "error_type": Code::XchainUnknownPhase.as_str(),
            "requested_phase": name,
            "state_unchanged": state_unchanged,
        }),
        PhaseExit::Failed { failures, .. } => {
            let mut answer = gate_failed(failures, state_unchanged);
            answer["phase_unchanged"] = state_unchanged.into();
            answer
        }
        PhaseExit::Awaiting { gate, to } => json!({
            "result": "success",
            "action": "awaiting_human_approval",
            "new_status": "paused",
            "pending_phase_transition": { "from": phase, "to": to, "gate": gate },
        }),
        PhaseExit::Advance { to, .. } => {
            json!({ "result": "success", "action": "advance", "new_phase": to })
        }
    }
}

pub fn completion(completion: &Completion, phase: &str, state_unchanged: bool) -> Value {
    match completion {
        Completion::NoRequest => no_request(state_unchanged),
        Completion::NotFinal(reason) => json!({
            "result": "success",
            "action": "not_final_phase",
            "state_unchanged": state_unchanged,
            "reason": reason,
        }),
        Completion::Failed { failures, .. } => gate_failed(failures, state_unchanged),
        Completion::Awaiting { gate } => json!({
            "result": "success",
            "action": "awaiting_human_approval",
            "new_status": "paused",
            "pending_run_completion": { "phase": phase, "gate": gate },
        }),
        Completion::Complete { .. } => {
            json!({ "result": "success", "action": "complete", "new_status": "completed" })
        }
    }
}

fn no_request(state_unchanged: bool) -> Value {
    json!({"result": "success", "action": "no_request", "state_unchanged": state_unchanged})
}

fn gate_failed(failures: &Failures, state_unchanged: bool) -> Value {
    json!({
        "result": "success",
        "action": "gate_failed",
        "state_unchanged": state_unchanged,
        "reason": failures.reason(),
        "reasons": failures.reasons,
    })
}

/// The records after an acceptance was attempted.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    pub history_length: usize,
    /// The decisions of the repository, in the order of their file.
    pub repo_decisions: &'a [Object],
}

/// A turn was accepted: the state after it, and its entry as the last of the history.
pub fn accepted(state: &State, entry: Object, records: &Records<'_>, warnings: &[String]) -> Value {
    json!({
        "result": "success",
        "state": state.document(),
        "history_last_entry": entry,
        "warnings": warnings,
        "history_length": records.history_length,
        "repo_decisions": records.repo_decisions,
    })
}

pub fn not_accepted(failure: &Failure, records: &Records<'_>, state_unchanged: bool) -> Value {
    let details = failure.details.as_ref();
    // Fixtures expect the type of the validation error, not the code of the refused acceptance.
    let finer = details.and_then(|details| details.get("error_type")?.as_str());
    let mut answer = error(finer.unwrap_or(failure.code.as_str()), failure);
    answer.insert("history_length".into(), records.history_length.into());
    answer.insert("repo_decisions".into(), json!(records.repo_decisions));
    answer.insert("state_unchanged".into(), state_unchanged.into());
    answer.into()
}

pub fn appended(entry: Object, ledger_length: usize) -> Value {
    json!({"result": "success", "ledger_length": ledger_length, "ledger_last_entry": entry})
}

pub fn not_appended(failure: &Failure, ledger_length: usize) -> Value {
    let mut answer = error(failure.code.as_str(), failure);
    answer.insert("ledger_length".into(), ledger_length.into());
    answer.into()
}

/// Hooks were run and wrote these lines to the audit.
pub fn hooks(ok: bool, blocked: bool, entries: &[Object]) -> Value {
    json!({
        "result": "success",
        "hook_ok": ok,
        "blocked": blocked,
        "audit_entry": entries.first(),
        "audit_entries": entries,
    })
}

pub fn verified(outcome: Result<Object, Vec<ManifestError>>) -> Value {
    match outcome {
        Ok(manifest) => json!({
            "result": "success",
            "manifest_valid": true,
            "manifest": manifest,
            "verification_errors": [],
        }),
        Err(errors) => {
            let kind = errors.first().map(|error| error.fault.as_str());
            error(kind.unwrap_or_default(), &manifest::refusal(&errors)).into()
        }
    }
}

pub fn inspected(manifest: &Object) -> Value {
    let files = manifest.get("files").and_then(Value::as_array);
    let paths = files.into_iter().flatten().filter_map(|file| file.get("path")?.as_str());
    let paths: Vec<&str> = paths.collect();
    let is_listed = paths.contains(&MANIFEST);
    json!({"result": "success", "manifest_contains_self": is_listed, "file_paths": paths})
}

/// The coordinator recorded an acceptance.
pub fn projected(projection: &Projection) -> Value {
    let effects: Vec<Object> = projection.effects.iter().map(Effect::document).collect();
    json!({
        "result": "success",
        "projection_ref": projection.reference,
        "barrier_effects": effects,
        "barrier_snapshot": projection.barriers.document(),
    })
}
