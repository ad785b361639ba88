//! Gates that open too early.

use serde_json::{Value, json};

use super::tools::{Honest, Said, answered, asked, each};
use crate::Call;

const GATES: &[&str] = &["evaluate_phase_exit", "evaluate_run_completion"];

pub(super) fn human_not_asked(call: &Call, honest: Honest<'_>) -> Said {
    each_gate(call, honest, |gate| {
        gate["requires_human_approval"] = false.into();
    })
}

pub(super) fn verification_not_asked(call: &Call, honest: Honest<'_>) -> Said {
    each_gate(call, honest, |gate| {
        gate["requires_verification_pass"] = false.into();
    })
}

pub(super) fn missing_file_passes(call: &Call, honest: Honest<'_>) -> Said {
    let there = call.setup.get("filesystem").cloned().unwrap_or_default();
    each_gate(call, honest, |gate| {
        if let Some(Value::Array(files)) = gate.get_mut("requires_files") {
            files.retain(|file| there.get(file.as_str().unwrap_or_default()).is_some());
        }
    })
}

fn each_gate(call: &Call, honest: Honest<'_>, change: impl Fn(&mut Value)) -> Said {
    asked(call, honest, GATES, |document| {
        for gate in each(document.pointer_mut("/setup/config/gates")) {
            change(gate);
        }
    })
}

pub(super) fn last_signoff_counts(call: &Call, honest: Honest<'_>) -> Said {
    rewritten(call, honest, ".planning/PM_SIGNOFF.md", |text| {
        text.lines().rev().collect::<Vec<_>>().join("\n")
    })
}

pub(super) fn failed_rows_unread(call: &Call, honest: Honest<'_>) -> Said {
    rewritten(call, honest, ".planning/acceptance-matrix.md", |text| {
        let failed = |line: &&str| line.to_uppercase().contains("FAIL");
        let rest: Vec<&str> = text.lines().filter(|line| !failed(line)).collect();
        rest.join("\n")
    })
}

/// Lets a gate read another text than there is.
fn rewritten(
    call: &Call,
    honest: Honest<'_>,
    path: &str,
    change: impl FnOnce(&str) -> String,
) -> Said {
    asked(call, honest, GATES, |document| {
        let files = document["setup"].get_mut("filesystem");
        if let Some(Value::String(text)) = files.and_then(|files| files.get_mut(path)) {
            *text = change(text);
        }
    })
}

pub(super) fn ends_in_any_phase(call: &Call, honest: Honest<'_>) -> Said {
    answered(call, honest, GATES, |outcome| {
        if outcome["action"] == "not_final_phase" {
            *outcome = json!({
                "result": "success", "action": "complete", "new_status": "completed",
            });
        }
    })
}
