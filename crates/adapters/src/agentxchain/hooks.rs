//! `run_hooks`: the hooks of a phase, as processes and HTTP requests.

use accord_contract::Object;
use accord_contract::wire::count_of;
use accord_runs::repository::RecordFile;
use accord_runs_core::hooks::{HookBatch, HookPhase, MAX_HOOKS_PER_PHASE};
use serde_json::Value;

use super::answer;
use super::context::{CaseContext, of_machine};
use crate::BadCall;

pub(super) fn perform(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let name = case.call.text("phase")?;
    let phase = HookPhase::parse(name)
        .ok_or_else(|| BadCall::new(format!("{name:?} is no phase for hooks")))?;
    let config = case.config()?;
    let hooks = config.hooks(phase);
    let declared = config.document().get("hooks").and_then(|all| all.get(name));
    // `hooks` leaves out invalid ones. The case would be judged without them.
    if declared.and_then(Value::as_array).map_or(0, Vec::len) != hooks.len() {
        return Err(BadCall::new(format!("a hook of {name} is not valid")));
    }
    let run = case.state()?.run_id().map(ToString::to_string);
    let batch = HookBatch::new(phase, hooks, case.object("payload")?, run);
    let held = case.lock()?;
    let outcome = accord_runs::hooks::run_any(batch, phase, &held, &case.environment(), &[])
        .map_err(of_machine)?;
    let audit = held.lines(RecordFile::HookAudit)?;
    let audit: Result<Vec<Object>, BadCall> = audit.map(|line| Ok(line?.object)).collect();
    Ok(answer::hooks(outcome.ok, outcome.blocked, &audit?))
}

/// Refuses hooks that could delay a case for long: too many in a phase, or a timeout too long.
pub(super) fn check(config: &Object) -> Result<(), BadCall> {
    let phases = config.get("hooks").and_then(Value::as_object);
    for (phase, hooks) in phases.into_iter().flatten() {
        let hooks = hooks.as_array().map_or(&[][..], Vec::as_slice);
        if hooks.len() > MAX_HOOKS_PER_PHASE {
            return Err(BadCall::new(format!("{phase} has more than {MAX_HOOKS_PER_PHASE} hooks")));
        }
        // An absent timeout is `None`, which is less than any limit.
        let is_slow = |hook: &&Value| count_of(&hook["timeout_ms"]) > Some(MAX_TIMEOUT_MS);
        if let Some(hook) = hooks.iter().find(is_slow) {
            let name = &hook["name"];
            let message = format!("the hook {name} has a timeout of more than {MAX_TIMEOUT_MS} ms");
            return Err(BadCall::new(message));
        }
    }
    Ok(())
}

/// The longest timeout that the protocol allows.
const MAX_TIMEOUT_MS: u64 = 30_000;
