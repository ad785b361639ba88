//! Ledgers, histories and timelines that say too much or too little.

use serde_json::{Value, json};

use super::tools::{Honest, Said, answered, asked, each, staged, without};
use crate::Call;

const APPEND: &[&str] = &["append_decision"];
const ACCEPT: &[&str] = &["accept_turn"];

pub(super) fn duplicate_appended(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, APPEND, |document| {
        for line in each(document.pointer_mut("/setup/ledger")) {
            without(line, &["id"]);
        }
    })
}

pub(super) fn any_category(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, APPEND, |document| {
        if let Some(category @ Value::String(_)) = document.pointer_mut("/args/entry/category") {
            let lower = category.as_str().unwrap_or_default().to_lowercase();
            *category = match lower.as_str() {
                "implementation" | "architecture" | "scope" | "process" | "quality" | "release" => {
                    lower.into()
                }
                _ => "process".into(),
            };
        }
    })
}

pub(super) fn refused_and_appended(call: &Call, honest: Honest<'_>) -> Said {
    answered(call, honest, APPEND, |outcome| {
        let length = outcome["ledger_length"].as_u64().unwrap_or_default();
        if outcome["error_type"] == "empty_required_field" {
            outcome["ledger_length"] = (length + 1).into();
        }
    })
}

pub(super) fn used_id_accepted(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, ACCEPT, |document| {
        document["setup"]["ledger"] = json!([]);
    })
}

pub(super) fn authority_ignored(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, ACCEPT, |document| {
        for role in each(document.pointer_mut("/setup/config/roles")) {
            without(role, &["decision_authority"]);
        }
    })
}

pub(super) fn override_of_unknown(call: &Call, honest: Honest<'_>) -> Said {
    let known = call.setup.get("filesystem").map(Value::to_string);
    let known = known.unwrap_or_default();
    staged(call, honest, ACCEPT, |result| {
        for decision in each(result.get_mut("decisions")) {
            let other = decision["overrides"].as_str().unwrap_or_default();
            if !known.contains(other) {
                without(decision, &["overrides"]);
            }
        }
    })
}

pub(super) fn history_doubled(call: &Call, honest: Honest<'_>) -> Said {
    answered(call, honest, ACCEPT, |outcome| {
        if outcome["result"] == "success" {
            let length = outcome["history_length"].as_u64().unwrap_or_default();
            outcome["history_length"] = (length + 1).into();
        }
    })
}

pub(super) fn sequence_restarts(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, ACCEPT, |document| {
        let counters = ["accepted_sequence", "turn_sequence"];
        without(&mut document["setup"]["state"], &counters);
    })
}

pub(super) fn accepted_twice(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, ACCEPT, |document| {
        let turn = document["args"]["turn_id"].clone();
        for line in each(document.pointer_mut("/setup/history")) {
            if line["turn_id"] == turn {
                line["turn_id"] = "turn_0000000000000000".into();
            }
        }
    })
}

pub(super) fn run_id_not_needed(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["validate_event"], |document| {
        if let Some(event @ Value::Object(_)) = document.pointer_mut("/args/event") {
            event["run_id"] = "run_0000000000000001".into();
        }
    })
}

pub(super) fn time_goes_back(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["validate_event_ordering"], |document| {
        for event in each(document.pointer_mut("/args/events")) {
            if event.get("timestamp").is_some() {
                event["timestamp"] = "2026-01-01T00:00:00.000Z".into();
            }
        }
    })
}

pub(super) fn never_dispatched(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, &["validate_event_ordering"], |document| {
        for event in each(document.pointer_mut("/args/events")) {
            if event["event_type"] == "turn_accepted" {
                event["event_type"] = "dispatch_progress".into();
            }
        }
    })
}
