//! Event streams.

use accord_contract::Wire as _;
use accord_contract::alx::Stream;
use serde_json::json;

use crate::{BadCall, Call, Outcome};

pub(super) fn read_events(call: &Call) -> Outcome {
    Ok(stream(call)?.read(call.list("events")?.iter().cloned()).encode())
}

pub(super) fn emit_event(call: &Call) -> Outcome {
    let event = stream(call)?.emit(call.value("event")?.clone())?;
    Ok(json!({ "event": event }))
}

fn stream(call: &Call) -> Result<Stream, BadCall> {
    Stream::parse(call.text("stream")?).ok_or_else(|| BadCall::kind("stream", "run or timeline"))
}
