//! Frames and versions.

use accord_contract::Wire as _;
use accord_live_core::frame::{ActionAck, Gate, HostContext, Rejected, ServerFrame, Socket, parse};
use accord_live_core::limits::Limits;
use accord_live_core::refuse;
use accord_live_core::version::{VersionPolicy, check};
use serde_json::json;

use super::parts::{NOW, binding, time};
use crate::{BadCall, Call, Outcome};

pub(super) fn frame(call: &Call) -> Outcome {
    let text = match (call.optional_text("text")?, call.optional_count("bytes")?) {
        (Some(text), None) => text.to_owned(),
        (None, Some(bytes)) => {
            let frame = r#"{"type":"ping","payload":{}}"#;
            let blanks = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_sub(frame.len());
            format!("{frame}{}", " ".repeat(blanks))
        }
        _ => return Err(BadCall::new("the call has text or bytes").into()),
    };
    let is_subscribed = call.flag("subscribed", false)?;
    Ok(match parse(text.as_bytes(), is_subscribed, &Limits::default()) {
        Ok(frame) => json!({"kind": frame.kind(), "requestId": frame.request_id}),
        Err(Rejected::Answer { request_id, failure }) => {
            json!({"code": failure.code.as_str(), "requestId": request_id})
        }
        Err(Rejected::Close(end)) => json!({"close": {"code": end.code, "reason": end.reason}}),
    })
}

pub(super) fn socket_gate(call: &Call) -> Outcome {
    let text = call.value("frame")?.to_string();
    let frame = parse(text.as_bytes(), true, &Limits::default())
        .map_err(|_| BadCall::kind("frame", "a frame of a client"))?;
    let is_subscribed = call.flag("subscribed", false)?;
    let binding = is_subscribed.then_some(binding(None)?);
    let socket = Socket { binding, is_spent: call.flag("spent", is_subscribed)? };
    Ok(match socket.gate(&frame) {
        Gate::Pass => json!({"gate": "pass"}),
        Gate::Ignore => json!({"gate": "ignore"}),
        Gate::Refuse(failure) => json!({"gate": "refuse", "code": failure.code.as_str()}),
    })
}

pub(super) fn server_frame(call: &Call) -> Outcome {
    let frame = match call.text("type")? {
        "pong" => ServerFrame::Pong,
        "ack" => {
            let warnings = Vec::new();
            ServerFrame::Acted(ActionAck { sequence: 7, at: time(NOW)?, warnings })
        }
        "error" => ServerFrame::Error(Box::new(refuse::session_not_found("it is not there"))),
        _ => return Err(BadCall::kind("type", "pong, ack or error").into()),
    };
    let frame = frame.encode(call.text("version")?, call.optional_text("requestId")?);
    Ok(json!({"frame": frame}))
}

/// Whether a host context can be stored, and what is stored.
pub(super) fn host_context(call: &Call) -> Outcome {
    Ok(match HostContext::from_document(call.value("hostContext")?.clone()) {
        Ok(context) => json!({"accepted": true, "stored": context.members()}),
        Err(_) => json!({"accepted": false}),
    })
}

/// Whether a client can speak with a server.
pub(super) fn version_handshake(call: &Call) -> Outcome {
    let versions = call.args.contains_key("supportedVersions");
    let versions = versions.then(|| call.texts("supportedVersions")).transpose()?;
    check(versions.as_deref(), call.text("serverVersion")?, version_policy(call)?)?;
    Ok(json!({"accepted": true}))
}

pub(super) fn version_policy(call: &Call) -> Result<VersionPolicy, BadCall> {
    match call.optional_text("policy")? {
        None => Ok(VersionPolicy::Reject),
        Some(name) => VersionPolicy::parse(name).ok_or_else(|| BadCall::kind("policy", "a policy")),
    }
}
