//! Polled channels: the server calls a tool for a subscriber, again and again.
//!
//! A subscription numbers its own answers from 1. It lives as long as its socket, and nothing of it
//! is stored.

use std::collections::BTreeSet;

use accord_contract::{Failure, Object, Time, Value, rule, wire::Number};

use super::{Session, redact};
use crate::frame::{Binding, ChannelSubscribe, ServerFrame};
use crate::limits::{POLL_DETAILS_CHARS, POLL_INTERVAL_MS};
use crate::{AppId, SessionId, contract::CompiledContract, refuse, violation::summary};

#[derive(Clone, Copy, Debug)]
pub struct ChannelFacts<'a> {
    pub binding: &'a Binding,
    pub session: Option<&'a Session>,
    pub contract: &'a CompiledContract,
    /// The tools that this server may call for a channel; `None` if it calls none.
    pub local_tools: Option<&'a BTreeSet<String>>,
    pub now: Time,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChannelSubscription {
    pub session_id: SessionId,
    pub app_id: AppId,
    pub channel: String,
    /// The tool to call: at once, and then after each interval.
    pub tool: String,
    pub args: Object,
    /// The interval, in milliseconds.
    pub interval_ms: u64,
    seq: u64,
}

/// Decides whether a socket may subscribe to a channel. A second subscription to a channel replaces
/// the first. Fails in this order: `SUBSCRIBE_UNAUTHORIZED`, `CHANNEL_NOT_LOCAL` on a server
/// without tools, `SESSION_NOT_FOUND`, `CHANNEL_UNKNOWN`, `CHANNEL_NOT_LOCAL` for a tool of another
/// server.
///
/// Clauses: GGUI-CHANNEL-CHECKS, GGUI-CHANNEL-INTERVAL.
pub fn subscribe_channel(
    request: ChannelSubscribe,
    facts: ChannelFacts<'_>,
) -> Result<ChannelSubscription, Failure> {
    let bound = facts.binding;
    if bound.session_id != request.session_id || bound.app_id != request.app_id {
        let message = "the socket is subscribed to another session";
        return Err(refuse::subscribe_unauthorized(message));
    }
    let Some(tools) = facts.local_tools else {
        return Err(refuse::channel_not_local("this server calls no tools for channels"));
    };
    if !facts.session.is_some_and(|session| session.is_active(facts.now)) {
        return Err(refuse::session_not_found("the session has expired"));
    }
    let streams = facts.contract.contract().streams.as_ref();
    let declared = streams.and_then(|streams| streams.get(&request.channel_name));
    let Some(source) = declared.and_then(|entry| entry.source.as_ref()) else {
        return Err(refuse::channel_unknown("the contract declares no such channel with a tool"));
    };
    if rule!(!tools.contains(&source.tool); ForeignTools => false) {
        return Err(refuse::channel_not_local("the tool of the channel is not on this server"));
    }
    let mut args = source.args.clone();
    args.extend(request.args.unwrap_or_default());
    Ok(ChannelSubscription {
        session_id: request.session_id,
        app_id: request.app_id,
        channel: request.channel_name,
        tool: source.tool.clone(),
        args,
        interval_ms: interval(request.poll_interval_ms.as_ref()),
        seq: 0,
    })
}

fn interval(asked: Option<&Number>) -> u64 {
    let (least, most, default) = POLL_INTERVAL_MS;
    // A cast from a float saturates.
    let asked = asked.and_then(Number::as_f64).map(|asked| asked as u64);
    asked.map_or(default, |asked| rule!(asked.clamp(least, most); PolledAtWill => asked))
}

impl ChannelSubscription {
    /// The frame for an answer of the tool.
    ///
    /// Clauses: GGUI-SEQ-CHANNEL.
    pub fn answered(
        &mut self,
        payload: Value,
        complete: bool,
        contract: &CompiledContract,
        now: Time,
    ) -> ServerFrame {
        if let Err(violations) = contract.check_stream(&self.channel, &payload, complete) {
            let message = format!("the answer of the tool: {}", summary(&violations));
            return self.failed(&message, None, &[]);
        }
        self.seq += 1;
        ServerFrame::ChannelPayload {
            session_id: self.session_id.clone(),
            app_id: self.app_id.clone(),
            channel: self.channel.clone(),
            seq: rule!(self.seq; ChannelFromZero => self.seq - 1),
            at: now,
            payload,
            complete: complete.then_some(true),
        }
    }

    /// The frame for a poll that failed. Polling goes on. `secrets` are values that must not be
    /// seen.
    ///
    /// Clauses: GGUI-CHANNEL-POLL-FAILED.
    pub fn failed(&self, message: &str, stack: Option<&str>, secrets: &[&str]) -> ServerFrame {
        let shortened = |stack| redact(stack, secrets).chars().take(POLL_DETAILS_CHARS).collect();
        let stack = stack.map(shortened);
        let failure = Box::new(refuse::poll_failed(redact(message, secrets)));
        let (session_id, channel) = (self.session_id.clone(), self.channel.clone());
        ServerFrame::ChannelError { session_id, channel, failure, stack }
    }
}
