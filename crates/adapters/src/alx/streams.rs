//! Event streams.

use accord_contract::Wire as _;
use accord_contract::alx::Stream;
use serde_json::json;

use super::answer::Answer;
use crate::{BadCall, Call};

pub(super) fn read_events(call: &Call) -> Result<Answer, BadCall> {
    let report = stream(call)?.read(call.list("events")?.iter().cloned());
    Ok(Answer::ok(report.encode()))
}

pub(super) fn emit_event(call: &Call) -> Result<Answer, BadCall> {
    let emitted =
        stream(call)?.emit(call.value("event")?.clone()).map(|event| json!({ "event": event }));
    Ok(emitted.into())
}

fn stream(call: &Call) -> Result<Stream, BadCall> {
    Stream::parse(call.text("stream")?).ok_or_else(|| BadCall::kind("stream", "run or timeline"))
}
