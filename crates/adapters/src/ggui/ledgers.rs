//! Positions and types of the ledger.

use accord_live_core::session::{check_since_sequence, events_query, ledger_kind, stream_query};
use serde_json::json;

use super::parts::session;
use crate::{Call, Outcome};

/// Whether a ledger can be read after a position.
pub(super) fn ledger_position(call: &Call) -> Outcome {
    let mut head = session()?.head;
    head.ledger = call.optional_count("last")?.unwrap_or(0);
    head.horizon = call.optional_count("horizon")?.unwrap_or(0);
    match check_since_sequence(&head, call.value("since")?) {
        Ok(_) => Ok(json!({"accepted": true})),
        Err(failure) => Ok(json!({
            "accepted": false,
            "code": failure.code.as_str(),
            "currentSequence": super::contracts::detail(&failure, "currentSequence"),
        })),
    }
}

pub(super) fn ledger_type(call: &Call) -> Outcome {
    Ok(json!({"accepted": ledger_kind(call.text("type")?).is_some()}))
}

pub(super) fn events_parameters(call: &Call) -> Outcome {
    let (since, limit) = (call.optional_text("sinceSequence")?, call.optional_text("limit")?);
    let query = events_query(since, limit)?;
    Ok(json!({"accepted": true, "since": query.since, "limit": query.limit}))
}

pub(super) fn stream_parameters(call: &Call) -> Outcome {
    let last = call.optional_text("lastEventId")?;
    let (since, from) = (call.optional_text("sinceSequence")?, call.optional_text("fromSeq")?);
    let query = stream_query(last, since, from)?;
    Ok(json!({"accepted": true, "since": query.since, "fromSeq": query.from_seq}))
}
