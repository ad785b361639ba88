//! Reading the frames of clients, within the limits.

use accord_contract::wire::{Pointer, count_of};
use accord_contract::{Failure, Object, Value, Wire, rule, text::excerpt};

use super::{Action, ClientBody, ClientFrame, Close};
use crate::{SessionId, limits::Limits, refuse};

#[derive(Clone, Debug, PartialEq)]
pub enum Rejected {
    /// It is answered with an `error` frame. The socket stays open.
    Answer {
        /// The `requestId` of the frame, if it could be read.
        request_id: Option<String>,
        failure: Box<Failure>,
    },
    Close(Close),
}

/// Reads a frame. The bytes of a binary frame are read as those of a text frame. A frame that is
/// too large closes the socket before it is read. Everything else that is wrong is answered with
/// `INVALID_JSON`, `INVALID_MESSAGE` or `UNSUPPORTED_MESSAGE`.
///
/// Clauses: GGUI-TRANSPORT-LIMITS, GGUI-FRAME-MALFORMED.
pub fn parse(bytes: &[u8], is_subscribed: bool, limits: &Limits) -> Result<ClientFrame, Rejected> {
    let exceeds = |most: usize| most > 0 && bytes.len() > most;
    if rule!(exceeds(limits.frame_bytes); LargeFramesTaken => false) {
        return Err(Rejected::Close(Close::FRAME_TOO_LARGE));
    }
    let is_early = rule!(!is_subscribed; EarlyFramesUnlimited => false);
    if is_early && exceeds(limits.pre_subscribe_bytes) {
        return Err(Rejected::Close(Close::PRE_SUBSCRIBE_PAYLOAD));
    }
    let document = accord_canon::read(bytes).map_err(|error| {
        answer(None, refuse::invalid_json(format!("the frame is not valid JSON: {error}")))
    })?;
    let Value::Object(mut frame) = document else {
        return Err(answer(None, refuse::invalid_message("a frame is a JSON object")));
    };
    let request_id = match frame.shift_remove("requestId") {
        None => None,
        Some(Value::String(id)) => Some(id),
        Some(_) => return Err(answer(None, member("requestId", "requestId is a string"))),
    };
    match body(frame) {
        Ok(body) => Ok(ClientFrame { request_id, body }),
        Err(failure) => Err(answer(request_id, failure)),
    }
}

fn body(mut frame: Object) -> Result<ClientBody, Failure> {
    let Some(Value::String(kind)) = frame.shift_remove("type") else {
        return Err(member("type", "a frame has a type, which is a string"));
    };
    let payload = frame.shift_remove("payload");
    match kind.as_str() {
        "subscribe" => read(payload).map(Box::new).map(ClientBody::Subscribe),
        "action" => action(payload).map(ClientBody::Action),
        // Clauses: GGUI-FRAME-PING. Its payload says nothing, so that one of another form is no
        // reason to refuse it.
        "ping" => Ok(ClientBody::Ping),
        "host_context_observed" => read(payload).map(ClientBody::HostContext),
        "channel_subscribe" => read(payload).map(ClientBody::ChannelSubscribe),
        "channel_unsubscribe" => read(payload).map(ClientBody::ChannelUnsubscribe),
        other => {
            let message = format!("there is no frame of the type {:?}", excerpt(other, 60));
            Err(rule!(
                refuse::unsupported_message(message);
                UnknownIsInvalid => refuse::invalid_message(message)
            ))
        }
    }
}

fn read<T: Wire>(payload: Option<Value>) -> Result<T, Failure> {
    let root = Pointer::Root;
    T::decode(payload.unwrap_or(Value::Null), &root.member("payload"))
        .map_err(|error| refuse::decoded(&error))
}

fn action(payload: Option<Value>) -> Result<Action, Failure> {
    let envelope: Object = read(payload)?;
    let root = Pointer::Root;
    let at = root.member("payload");
    let session_id = envelope.get("sessionId").cloned().unwrap_or(Value::Null);
    let session_id = SessionId::decode(session_id, &at.member("sessionId"))
        .map_err(|error| refuse::decoded(&error))?;
    let kind = match envelope.get("type") {
        Some(Value::String(kind)) if !kind.is_empty() => kind.clone(),
        _ => return Err(member("payload.type", "an action has a type, which is a string")),
    };
    let client_seq = envelope.get("clientSeq").and_then(count_of);
    Ok(Action { session_id, kind, client_seq, envelope })
}

fn answer(request_id: Option<String>, failure: Failure) -> Rejected {
    Rejected::Answer { request_id, failure: Box::new(failure) }
}

fn member(field: &str, message: &str) -> Failure {
    let pointer = format!("/{}", field.replace('.', "/"));
    refuse::invalid_message(message).at(pointer).with("field", field)
}
