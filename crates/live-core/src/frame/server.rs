//! What a server sends.

use accord_contract::{Failure, Object, Time, Value, rule};

use crate::json::{members, put};
use crate::session::{LedgerRow, StreamRow};
use crate::{AppId, SessionId, contract::Mode};

#[derive(Clone, Debug, PartialEq)]
pub enum ServerFrame {
    Subscribed(Box<SubscribeAck>),
    /// The answer to `action`: it is stored.
    Acted(ActionAck),
    Error(Box<Failure>),
    Pong,
    Render {
        session: Value,
        match_type: Option<String>,
    },
    Data {
        session_id: SessionId,
        row: StreamRow,
    },
    PropsUpdate {
        session_id: SessionId,
        props: Object,
        /// The epoch that the change was committed with.
        epoch: u64,
    },
    /// An agent took an event out of the pipe.
    DrainAck {
        app_id: AppId,
        session_id: SessionId,
        event_id: String,
        drained_at: Time,
    },
    /// An event of the ledger, in a replay.
    RenderEvent(LedgerRow),
    ChannelPayload {
        session_id: SessionId,
        app_id: AppId,
        channel: String,
        /// The number of the answer in this subscription, from 1.
        seq: u64,
        at: Time,
        payload: Value,
        complete: Option<bool>,
    },
    /// A refusal or failure of a polled channel.
    ChannelError {
        session_id: SessionId,
        channel: String,
        failure: Box<Failure>,
        /// Where a poll failed, without secrets.
        stack: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct SubscribeAck {
    /// The number of the last ledger event.
    pub sequence: u64,
    pub at: Time,
    pub session: Value,
    pub stream_seq: u64,
    pub server_version: String,
    /// Whether frames that the client asked for are gone.
    pub replay_truncated: bool,
    /// A token to connect again with.
    pub session_token: Option<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ActionAck {
    /// The number of the ledger event.
    pub sequence: u64,
    pub at: Time,
    /// What is odd about the action, and did not stop it.
    pub warnings: Vec<String>,
}

impl ServerFrame {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Subscribed(_) | Self::Acted(_) => "ack",
            Self::Error(_) => "error",
            Self::Pong => "pong",
            Self::Render { .. } => "render",
            Self::Data { .. } => "data",
            Self::PropsUpdate { .. } => "props_update",
            Self::DrainAck { .. } => "drain_ack",
            Self::RenderEvent(_) => "render_event",
            Self::ChannelPayload { .. } => "channel_payload",
            Self::ChannelError { .. } => "channel_error",
        }
    }

    /// The frame as JSON. `version` is the one that the session advertises.
    ///
    /// Clauses: GGUI-VERSION-STAMP, GGUI-FRAME-REQUEST-ID.
    pub fn encode(&self, version: &str, request_id: Option<&str>) -> Value {
        let mut payload = self.payload();
        let is_stamped = !matches!(self, Self::Error(_));
        if rule!(is_stamped; ErrorsStamped => true; FramesUnstamped => false) {
            payload.insert("schemaVersion".into(), version.into());
        }
        let mut sent = members([("type", self.kind().into()), ("payload", Value::Object(payload))]);
        put(&mut sent, "requestId", rule!(request_id; RequestIdDropped => None));
        Value::Object(sent)
    }

    fn payload(&self) -> Object {
        match self {
            Self::Subscribed(ack) => ack.members(),
            Self::Acted(ack) => {
                let mut payload = members([
                    ("sequence", ack.sequence.into()),
                    ("timestamp", ack.at.unix_millis().into()),
                ]);
                let warnings = Some(&ack.warnings).filter(|warnings| !warnings.is_empty());
                put(&mut payload, "x-warnings", warnings.cloned());
                payload
            }
            Self::Error(failure) => failure_members(failure),
            Self::Pong => Object::new(),
            Self::Render { session, match_type } => {
                let mut payload = members([("session", session.clone())]);
                put(&mut payload, "matchType", match_type.as_deref());
                payload
            }
            Self::Data { session_id, row } => {
                let mut payload = members([("sessionId", session_id.as_str().into())]);
                payload.extend(row.envelope());
                payload
            }
            Self::PropsUpdate { session_id, props, epoch } => members([
                ("sessionId", session_id.as_str().into()),
                ("props", Value::Object(props.clone())),
                ("epoch", (*epoch).into()),
            ]),
            Self::DrainAck { app_id, session_id, event_id, drained_at } => members([
                ("appId", app_id.as_str().into()),
                ("sessionId", session_id.as_str().into()),
                ("eventId", event_id.as_str().into()),
                ("drainedAt", drained_at.to_string().into()),
            ]),
            Self::RenderEvent(row) => row.document(),
            Self::ChannelPayload { session_id, app_id, channel, seq, at, payload, complete } => {
                let mut answer = members([
                    ("sessionId", session_id.as_str().into()),
                    ("appId", app_id.as_str().into()),
                    ("channelName", channel.as_str().into()),
                    ("seq", (*seq).into()),
                    ("ts", at.to_string().into()),
                    ("mode", Mode::Replace.as_str().into()),
                    ("payload", payload.clone()),
                ]);
                put(&mut answer, "complete", *complete);
                answer
            }
            Self::ChannelError { session_id, channel, failure, stack } => {
                let mut payload = members([
                    ("sessionId", session_id.as_str().into()),
                    ("channelName", channel.as_str().into()),
                ]);
                payload.extend(failure_members(failure));
                put(&mut payload, "details", stack.as_deref());
                payload
            }
        }
    }
}

impl SubscribeAck {
    fn members(&self) -> Object {
        let mut payload = members([
            ("sequence", self.sequence.into()),
            ("timestamp", self.at.unix_millis().into()),
            ("session", self.session.clone()),
            ("streamSeq", self.stream_seq.into()),
            ("serverVersion", self.server_version.as_str().into()),
        ]);
        if rule!(false; VersionUnsaid => true) {
            payload.shift_remove("serverVersion");
        }
        put(&mut payload, "replayTruncated", self.replay_truncated.then_some(true));
        put(&mut payload, "sessionToken", self.session_token.as_deref());
        payload
    }
}

fn failure_members(failure: &Failure) -> Object {
    let mut payload = members([
        ("code", failure.code.as_str().into()),
        ("message", failure.message.as_str().into()),
    ]);
    put(&mut payload, "details", failure.details.as_deref().cloned());
    payload
}
