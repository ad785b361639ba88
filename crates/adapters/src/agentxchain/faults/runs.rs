//! Runs that move where they must not, and configurations that must not be.

use serde_json::{Value, json};

use super::tools::{Honest, Said, answered, asked, each, without};
use crate::{Call, Reply};

pub(super) fn any_config_starts(call: &Call, honest: Honest<'_>) -> Said {
    match honest(call)? {
        Reply::Outcome(outcome) if outcome["error_type"] == "invalid_config" => {
            asked(call, honest, &["initialize_run"], |document| {
                without(&mut document["setup"], &["config"]);
            })
        }
        reply => Ok(reply),
    }
}

pub(super) fn any_run_initialized(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["initialize_run"], |document| {
        document["setup"]["state"] = json!({ "status": "idle" });
    })
}

pub(super) fn paused_run_assigns(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["assign_turn"], |document| {
        let status = &mut document["setup"]["state"]["status"];
        if *status == "paused" {
            *status = "active".into();
        }
    })
}

pub(super) fn approval_of_nothing(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["approve_transition"], |document| {
        let state = &mut document["setup"]["state"];
        if state["status"] == "paused" && state["pending_phase_transition"].is_null() {
            state["pending_phase_transition"] =
                json!({ "from": state["phase"], "to": "implementation", "gate": "none" });
        }
    })
}

pub(super) fn escalation_of_any_run(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["transition_state"], |document| {
        if document["args"]["trigger"] == "escalation" {
            document["setup"]["state"]["status"] = "active".into();
            let run = &mut document["setup"]["state"]["run_id"];
            if run.is_null() {
                *run = "run_0000000000000001".into();
            }
        }
    })
}

pub(super) fn status_set_by_name(call: &Call, honest: Honest<'_>) -> Said {
    answered(call, honest, &["transition_state"], |outcome| {
        if let Some(status) = call.args.get("target_status") {
            *outcome = json!({ "result": "ok", "state_assertions": { "status": status } });
        }
    })
}

pub(super) fn run_id_replaced(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["transition_state"], |document| {
        without(&mut document["args"], &["candidate_overrides"]);
    })
}

pub(super) fn resolution_passes_gate(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["resolve_blocked"], |document| {
        let pending = ["pending_phase_transition", "pending_run_completion"];
        without(&mut document["setup"]["state"], &pending);
    })
}

pub(super) fn any_action_resolves(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["resolve_blocked"], |document| {
        document["args"]["action"] = "resume".into();
    })
}

pub(super) fn capacity_ignored(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["assign_turn"], |document| {
        for route in each(document.pointer_mut("/setup/config/routing")) {
            route["max_concurrent_turns"] = 4.into();
        }
    })
}

pub(super) fn five_turns_at_once(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["validate_config"], |document| {
        for route in each(document.pointer_mut("/args/config/routing")) {
            if route["max_concurrent_turns"] == 5 {
                route["max_concurrent_turns"] = 4.into();
            }
        }
    })
}

pub(super) fn gate_undeclared(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["validate_config"], |document| {
        let declared = document["args"]["config"]["gates"].clone();
        for route in each(document.pointer_mut("/args/config/routing")) {
            let gate = route["exit_gate"].as_str().unwrap_or_default();
            if declared.get(gate).is_none() {
                without(route, &["exit_gate"]);
            }
        }
    })
}

pub(super) fn any_version(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["validate_config"], |document| {
        if let Some(version @ Value::String(_)) =
            document.pointer_mut("/args/config/schema_version")
        {
            *version = "1.0".into();
        }
    })
}
