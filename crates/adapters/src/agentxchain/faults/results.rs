//! Turn results that must not pass.

use accord_governance::RepoPath;
use serde_json::Value;

use super::tools::{Honest, Said, answered, asked, each, staged, without};
use crate::Call;

const JUDGING: &[&str] = &["validate_turn_result"];

pub(super) fn challenge_waived(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, JUDGING, |document| {
        document["setup"]["config"]["rules"]["challenge_required"] = false.into();
    })
}

pub(super) fn reserved_by_spelling(call: &Call, honest: Honest<'_>) -> Said {
    other_files(call, honest, |file| {
        RepoPath::parse(file).is_ok_and(|path| path.is_reserved() && path.as_str() != file)
    })
}

pub(super) fn paths_may_leave(call: &Call, honest: Honest<'_>) -> Said {
    other_files(call, honest, |file| RepoPath::parse(file).is_err())
}

/// Judges a result as if it had changed a harmless file instead of these.
fn other_files(call: &Call, honest: Honest<'_>, is_meant: impl Fn(&str) -> bool) -> Said {
    staged(call, honest, JUDGING, |result| {
        for file in each(result.get_mut("files_changed")) {
            if file.as_str().is_some_and(&is_meant) {
                *file = "src/harmless.txt".into();
            }
        }
    })
}

pub(super) fn both_requests(call: &Call, honest: Honest<'_>) -> Said {
    staged(call, honest, JUDGING, |result| {
        if result["phase_transition_request"].is_string() {
            result["run_completion_request"] = false.into();
        }
    })
}

pub(super) fn evidence_unread(call: &Call, honest: Honest<'_>) -> Said {
    staged(call, honest, JUDGING, |result| {
        if let Some(verification) = result.get_mut("verification") {
            without(verification, &["commands", "machine_evidence"]);
        }
    })
}

pub(super) fn stage_after_it(call: &Call, honest: Honest<'_>) -> Said {
    answered(call, honest, JUDGING, |outcome| {
        let next = match outcome["failed_stage"].as_str() {
            Some("schema") => "assignment",
            Some("assignment") => "artifact",
            Some("artifact") => "verification",
            Some("verification") => "protocol",
            _ => return,
        };
        outcome["failed_stage"] = next.into();
    })
}

pub(super) fn other_turns_result(call: &Call, honest: Honest<'_>) -> Said {
    let turns = call
        .setup
        .get("state")
        .and_then(|state| state.get("active_turns"));
    let turns = turns.and_then(Value::as_object);
    let own = turns.and_then(|turns| turns.keys().next()).cloned();
    staged(call, honest, JUDGING, |result| {
        if let (Some(own), Some(turn)) = (own, result.get_mut("turn_id")) {
            *turn = own.into();
        }
    })
}

pub(super) fn corrected_when_strict(call: &Call, honest: Honest<'_>) -> Said {
    let mut changed = call.clone();
    changed.profile = None;
    honest(&changed)
}

pub(super) fn six_delegations(call: &Call, honest: Honest<'_>) -> Said {
    staged(call, honest, JUDGING, |result| {
        if let Some(Value::Array(delegations)) = result.get_mut("delegations") {
            delegations.truncate(5);
        }
    })
}

pub(super) fn delegated_to_itself(call: &Call, honest: Honest<'_>) -> Said {
    let roles = call
        .setup
        .get("config")
        .and_then(|config| config.get("roles"));
    let roles: Vec<String> = roles
        .and_then(Value::as_object)
        .map(|roles| roles.keys().cloned().collect())
        .unwrap_or_default();
    let own_role = |result: &Value| result["role"].as_str().unwrap_or_default().to_owned();
    // The rule is only left out where somebody else would have been allowed.
    let mut last = honest(call)?;
    for other in roles {
        last = staged(call, honest, JUDGING, |result| {
            let own = own_role(result);
            for delegation in each(result.get_mut("delegations")) {
                if delegation["to_role"] == own.as_str() {
                    delegation["to_role"] = other.as_str().into();
                }
            }
        })?;
        if matches!(&last, crate::Reply::Outcome(outcome) if outcome["result"] == "success") {
            break;
        }
    }
    Ok(last)
}

pub(super) fn decision_required_twice(call: &Call, honest: Honest<'_>) -> Said {
    staged(call, honest, JUDGING, |result| {
        for delegation in each(result.get_mut("delegations")) {
            if let Some(Value::Array(ids)) = delegation.get_mut("required_decision_ids") {
                let mut seen = Vec::new();
                ids.retain(|id| {
                    !seen.contains(id) && {
                        seen.push(id.clone());
                        true
                    }
                });
            }
        }
    })
}

pub(super) fn any_durability(call: &Call, honest: Honest<'_>) -> Said {
    staged(call, honest, JUDGING, |result| {
        for decision in each(result.get_mut("decisions")) {
            if decision
                .get("durability")
                .is_some_and(|lasts| *lasts != "repo")
            {
                decision["durability"] = "run".into();
            }
        }
    })
}

pub(super) fn overrides_itself(call: &Call, honest: Honest<'_>) -> Said {
    staged(call, honest, JUDGING, |result| {
        for decision in each(result.get_mut("decisions")) {
            if decision.get("overrides").is_some() && decision["overrides"] == decision["id"] {
                without(decision, &["overrides"]);
            }
        }
    })
}
