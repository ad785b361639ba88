//! Running the hooks of a phase, as processes and requests.

use accord_contract::wire::count_of;
use accord_runs::repository::RecordFile;
use accord_runs_core::fixture::answer;
use accord_runs_core::hooks::{HookBatch, HookPhase, MAX_HOOKS_PER_PHASE};
use serde_json::{Map, Value};

use super::site::Site;
use super::workspace::trouble;
use crate::BadCall;

pub(super) fn perform(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let name = site.call.text("phase")?;
    let phase = HookPhase::parse(name)
        .ok_or_else(|| BadCall::new(format!("{name:?} is no phase for hooks")))?;
    let config = site.config()?;
    let hooks = config.hooks(phase);
    let declared = config.document().get("hooks").and_then(|all| all.get(name));
    if declared.and_then(Value::as_array).map_or(0, Vec::len) != hooks.len() {
        return Err(BadCall::new(format!("a hook of {name} is not understood")));
    }
    let run = site.state()?.run_id().map(ToString::to_string);
    let batch = HookBatch::new(phase, hooks, site.object("payload")?, run);
    let held = site.hold()?;
    let outcome = accord_runs::hooks::run_any(batch, phase, &held, &site.world(), &[])
        .map_err(|failure| trouble(failure.message))?;
    let audit = held.lines(RecordFile::HookAudit).map_err(trouble)?;
    let audit: Result<Vec<Map<String, Value>>, BadCall> = audit
        .map(|line| Ok(line.map_err(trouble)?.object))
        .collect();
    Ok(answer::hooks(outcome.ok, outcome.blocked, audit?))
}

/// Refuses hooks that could hold a case up: too many in a phase, or one with too much time.
///
/// # Errors
/// When there are such.
pub(super) fn check(config: &Map<String, Value>) -> Result<(), BadCall> {
    let phases = config.get("hooks").and_then(Value::as_object);
    for (phase, hooks) in phases.into_iter().flatten() {
        let hooks = hooks.as_array().map_or(&[][..], Vec::as_slice);
        if hooks.len() > MAX_HOOKS_PER_PHASE {
            let message = format!("{phase} has more than {MAX_HOOKS_PER_PHASE} hooks");
            return Err(BadCall::new(message));
        }
        let patient = |hook: &&Value| count_of(&hook["timeout_ms"]) > Some(LONGEST_MS);
        if let Some(hook) = hooks.iter().find(patient) {
            let name = &hook["name"];
            let message = format!("the hook {name} has more than {LONGEST_MS} ms");
            return Err(BadCall::new(message));
        }
    }
    Ok(())
}

/// The most time that the protocol lets a hook have.
const LONGEST_MS: u64 = 30_000;
