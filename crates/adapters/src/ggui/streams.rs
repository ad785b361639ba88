//! The stream of a session, and its polled channels.

use std::collections::BTreeSet;

use accord_contract::{Value, Wire as _};
use accord_live_core::contract::{Mode, Replay};
use accord_live_core::frame::ChannelSubscribe;
use accord_live_core::session::{
    ChannelFacts, Delta, Emitter, LiveCursor, NewFrame, StreamChange, StreamRow, emit, redact,
    replay_stream, subscribe_channel,
};
use serde_json::json;

use super::contracts::detail;
use super::parts::{NOW, at, binding, contract, members, project, session, time};
use crate::{BadCall, Call, Outcome};

pub(super) fn emit_frame(call: &Call) -> Outcome {
    let contract = contract(call)?;
    let mut session = session()?;
    session.head.stream = call.optional_count("last")?.unwrap_or(0);
    let ring = call.optional_count("ring")?.unwrap_or(0);
    session.head.ring = u32::try_from(ring).map_err(|_| BadCall::kind("ring", "a number"))?;
    let by = match call.optional_text("by")? {
        None | Some("agent") => Emitter::Agent,
        Some("platform") => Emitter::Platform,
        Some(_) => return Err(BadCall::kind("by", "agent or platform").into()),
    };
    let frame = NewFrame {
        channel: call.text("channel")?.to_owned(),
        payload: call.value("payload")?.clone(),
        complete: call.flag("complete", false)?,
    };
    let project = project()?;
    let at = at(&project, time(NOW)?);
    let oldest = call.optional_count("oldest")?;
    match emit(&session, &contract, frame, by, oldest, at) {
        Err(failure) => Ok(json!({
            "accepted": false,
            "code": failure.code.as_str(),
            "violations": detail(&failure, "violations"),
        })),
        Ok(emitted) => {
            let evicted = emitted.delta.stream.iter().find_map(|change| match change {
                StreamChange::Evict(seq) => Some(*seq),
                StreamChange::Keep(..) => None,
            });
            Ok(json!({
                "accepted": true,
                "seq": emitted.row.seq,
                "mode": emitted.row.mode.as_str(),
                "kept": kept(&emitted.delta),
                "evicted": evicted,
            }))
        }
    }
}

/// The policy under which a delta keeps its frame.
pub(super) fn kept(delta: &Delta) -> &'static str {
    let kept = delta.stream.iter().find_map(|change| match change {
        StreamChange::Keep(replay, _) => Some(*replay),
        StreamChange::Evict(_) => None,
    });
    kept.unwrap_or(Replay::None).as_str()
}

pub(super) fn stream_replay(call: &Call) -> Outcome {
    let contract = contract(call)?;
    let mut head = session()?.head;
    head.stream = call.optional_count("last")?.unwrap_or(0);
    head.evicted = call.optional_count("evicted")?.unwrap_or(0);
    let mut kept = Vec::new();
    for frame in call.list("kept")? {
        let frame = members(frame, "kept")?;
        let seq = frame.get("seq").and_then(Value::as_u64);
        let channel = frame.get("channel").and_then(Value::as_str);
        let wrong = || BadCall::kind("kept", "a list of frames with seq and channel");
        let (seq, channel) = seq.zip(channel).ok_or_else(wrong)?;
        let (channel, mode) = (channel.to_owned(), Mode::Append);
        kept.push(StreamRow { seq, channel, mode, payload: Value::Null, complete: false });
    }
    let replay = replay_stream(&head, &contract, call.optional_count("fromSeq")?, kept);
    let seqs: Vec<u64> = replay.rows.iter().map(|row| row.seq).collect();
    Ok(json!({"seqs": seqs, "truncated": replay.is_truncated}))
}

pub(super) fn live_frames(call: &Call) -> Outcome {
    let mut cursor = LiveCursor::after(call.optional_count("streamSeq")?.unwrap_or(0));
    let mut admitted = Vec::new();
    for seq in call.list("seqs")? {
        let seq = seq.as_u64().ok_or_else(|| BadCall::kind("seqs", "a list of numbers"))?;
        if cursor.admit(seq) {
            admitted.push(seq);
        }
    }
    Ok(json!({"admitted": admitted}))
}

/// A subscription to a polled channel, and its frames. An answer that is a string is a failed poll.
pub(super) fn channel_subscription(call: &Call) -> Outcome {
    let contract = contract(call)?;
    let request = ChannelSubscribe::from_document(call.value("request")?.clone())
        .map_err(BadCall::from_error)?;
    let session = session()?;
    let tools = call.args.contains_key("localTools").then(|| call.texts("localTools"));
    let tools: Option<BTreeSet<_>> = tools.transpose()?.map(|tools| tools.into_iter().collect());
    let now = time(NOW)?;
    let facts = ChannelFacts {
        binding: &binding(None)?,
        session: call.flag("exists", true)?.then_some(&session),
        contract: &contract,
        local_tools: tools.as_ref(),
        now,
    };
    let mut subscription = subscribe_channel(request, facts)?;
    let mut frames = Vec::new();
    for answer in call.optional_list("answers")? {
        let frame = match answer {
            Value::String(stack) => subscription.failed("the poll failed", Some(stack), &[]),
            answer => subscription.answered(answer.clone(), false, &contract, now),
        };
        frames.push(frame.encode("v", None));
    }
    Ok(json!({
        "accepted": true,
        "intervalMs": subscription.interval_ms,
        "args": subscription.args,
        "frames": frames,
    }))
}

/// A text without secrets.
pub(super) fn redact_details(call: &Call) -> Outcome {
    let secrets = call.optional_texts("secrets")?;
    let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
    Ok(json!({"text": redact(call.text("text")?, &secrets)}))
}
