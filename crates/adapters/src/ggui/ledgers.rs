//! Positions and types of the ledger.

use accord_live_core::session::{check_since_sequence, events_query, ledger_kind, stream_query};
use serde_json::json;

use super::parts::{ok, refused, session};
use crate::{BadCall, Call, Reply};

/// Whether a ledger can be read after a position.
pub(super) fn ledger_position(call: &Call) -> Result<Reply, BadCall> {
    let mut head = session()?.head;
    head.ledger = call.optional_count("last")?.unwrap_or(0);
    head.horizon = call.optional_count("horizon")?.unwrap_or(0);
    match check_since_sequence(&head, call.value("since")?) {
        Ok(_) => ok(json!({"accepted": true})),
        Err(failure) => ok(json!({
            "accepted": false,
            "code": failure.code.as_str(),
            "currentSequence": super::contracts::detail(&failure, "currentSequence"),
        })),
    }
}

pub(super) fn ledger_type(call: &Call) -> Result<Reply, BadCall> {
    ok(json!({"accepted": ledger_kind(call.text("type")?).is_some()}))
}

pub(super) fn events_parameters(call: &Call) -> Result<Reply, BadCall> {
    let (since, limit) = (call.optional_text("sinceSequence")?, call.optional_text("limit")?);
    match events_query(since, limit) {
        Ok(query) => ok(json!({"accepted": true, "since": query.since, "limit": query.limit})),
        Err(failure) => refused(&failure),
    }
}

pub(super) fn stream_parameters(call: &Call) -> Result<Reply, BadCall> {
    let last = call.optional_text("lastEventId")?;
    let (since, from) = (call.optional_text("sinceSequence")?, call.optional_text("fromSeq")?);
    match stream_query(last, since, from) {
        Ok(query) => ok(json!({
            "accepted": true, "since": query.since, "fromSeq": query.from_seq,
        })),
        Err(failure) => refused(&failure),
    }
}
