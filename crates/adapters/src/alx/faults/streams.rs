//! Wrong readers and writers of events.

use serde_json::{Value, json};

use super::tools::{Honest, after, instead_of, with_arg};
use crate::{Answered, Call, Reply};

pub(super) fn stream_ends_at_unknown(call: &Call, honest: Honest<'_>) -> Answered {
    let reply = honest(call)?;
    let first_skipped = match &reply {
        Reply::Outcome(outcome) => outcome["skipped"][0]["index"].as_u64(),
        Reply::NotImplemented => None,
    };
    match (first_skipped, call.args.get("events")) {
        (Some(index), Some(Value::Array(events))) => {
            let heard: Vec<Value> = events.iter().take(index as usize + 1).cloned().collect();
            honest(&with_arg(call, "events", heard))
        }
        _ => Ok(reply),
    }
}

pub(super) fn unknown_event_unrecorded(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, &["read_events"], |outcome| outcome["skipped"] = json!([]))
}

pub(super) fn any_type_emitted(call: &Call, honest: Honest<'_>) -> Answered {
    emitted_instead_of(call, honest, "EVENT_TYPE_NOT_EMITTABLE")
}

pub(super) fn contradiction_emitted(call: &Call, honest: Honest<'_>) -> Answered {
    emitted_instead_of(call, honest, "EVENT_OUTCOME_CONTRADICTION")
}

fn emitted_instead_of(call: &Call, honest: Honest<'_>, code: &str) -> Answered {
    let emitted = || Ok(Reply::ok(json!({ "event": call.args.get("event") })));
    instead_of(call, honest, code, emitted)
}
