//! Hooks whose answers are taken for others.

use serde_json::Value;

use super::tools::{Honest, Said, answered, asked, each, without};
use crate::{Call, Reply};

const HOOKS: &[&str] = &["run_hooks"];

pub(super) fn advisory_blocks(call: &Call, honest: Honest<'_>) -> Said {
    match honest(call)? {
        Reply::Outcome(outcome)
            if outcome["audit_entry"]["orchestrator_action"] == "downgraded_block_to_warn" =>
        {
            each_hook(call, honest, |hook| hook["mode"] = "blocking".into())
        }
        reply => Ok(reply),
    }
}

pub(super) fn tamper_unnoticed(call: &Call, honest: Honest<'_>) -> Said {
    passed_over(call, honest, "aborted_tamper")
}

pub(super) fn time_limit_ignored(call: &Call, honest: Honest<'_>) -> Said {
    passed_over(call, honest, "blocked_timeout")
}

/// Takes what led to an action for an answer that allows.
fn passed_over(call: &Call, honest: Honest<'_>, action: &str) -> Said {
    answered(call, honest, HOOKS, |outcome| {
        if outcome["audit_entry"]["orchestrator_action"] != action {
            return;
        }
        outcome["hook_ok"] = true.into();
        outcome["blocked"] = false.into();
        let mut entry = outcome["audit_entry"].take();
        entry["verdict"] = "allow".into();
        entry["timed_out"] = false.into();
        entry["orchestrator_action"] = "continued".into();
        outcome["audit_entries"][0] = entry.clone();
        outcome["audit_entry"] = entry;
    })
}

pub(super) fn skipped_unrecorded(call: &Call, honest: Honest<'_>) -> Said {
    answered(call, honest, HOOKS, |outcome| {
        if let Some(Value::Array(entries)) = outcome.get_mut("audit_entries") {
            entries.retain(|entry| entry["orchestrator_action"] != "skipped");
        }
    })
}

pub(super) fn hooks_reversed(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, HOOKS, |document| {
        for phase in each(document.pointer_mut("/setup/config/hooks")) {
            if let Value::Array(hooks) = phase {
                hooks.reverse();
            }
        }
    })
}

pub(super) fn environment_empty(call: &Call, honest: Honest<'_>) -> Said {
    each_hook(call, honest, |hook| without(hook, &["env"]))
}

fn each_hook(call: &Call, honest: Honest<'_>, change: impl Fn(&mut Value)) -> Said {
    asked(call, honest, HOOKS, |document| {
        for phase in each(document.pointer_mut("/setup/config/hooks")) {
            each(Some(phase)).into_iter().for_each(&change);
        }
    })
}
