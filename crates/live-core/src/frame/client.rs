//! What a client sends.

use accord_contract::{Limits, Object, TextForm, Value, message, wire_enum};

use super::HostContext;
use crate::json::{members, put};
use crate::{AppId, SessionId, limits::CLIENT_ID_CHARS, session::EXPECT};

#[derive(Clone, Debug, PartialEq)]
pub struct ClientFrame {
    /// The id that answers repeat.
    pub request_id: Option<String>,
    pub body: ClientBody,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ClientBody {
    Subscribe(Box<Subscribe>),
    Action(Action),
    /// An answer, to see that the connection works.
    Ping,
    HostContext(HostContextObserved),
    ChannelSubscribe(ChannelSubscribe),
    ChannelUnsubscribe(ChannelUnsubscribe),
}

wire_enum! {
    /// On which side of the session a subscriber is.
    pub enum Role("GguiRole", closed) {
        /// The person's.
        User = "user",
        /// The agent's.
        Agent = "agent",
    }
}

/// A random text that a client makes once per page load.
const CLIENT_ID: TextForm = TextForm::ANY.chars(1, CLIENT_ID_CHARS).without_nul();

message! {
    // Clauses: GGUI-FRAME-SUBSCRIBE.
    /// The payload of `subscribe`.
    pub struct Subscribe("GguiSubscribe", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// The app that the session belongs to.
        optional app_id: AppId = "appId", "app-id";
        /// On which side the subscriber is.
        optional role: Role = "role", "role";
        /// Replays the stream after this number.
        optional from_seq: u64 = "fromSeq", "stream-seq";
        /// Replays the ledger after this number.
        nullable since_sequence: Value = "sinceSequence", "ledger-seq";
        /// A token for the session.
        optional ws_token: String = "wsToken", "ws-token";
        /// The versions that the client supports.
        optional supported_versions: Vec<String> = "supportedVersions", "versions";
        /// Names this load of the page, so that an action that is sent again counts once.
        optional client_id: String = "clientId", "client-id", Limits::text(CLIENT_ID);
        /// Sends each later event of the ledger as `render_event`, when it happens.
        optional follow_ledger: bool = "followLedger", "flag";
    }
}

/// The payload of `action`. It is kept as it was sent, because the ledger stores it.
///
/// Clauses: GGUI-FRAME-ACTION.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    pub session_id: SessionId,
    /// The type of the event, `data:submit`.
    pub kind: String,
    /// The number that the client gave the action, if it is a whole number from zero.
    pub client_seq: Option<u64>,
    /// The payload as it was sent.
    pub envelope: Object,
}

impl Action {
    pub fn submit(
        session_id: SessionId,
        name: &str,
        data: Option<Value>,
        client_seq: Option<u64>,
        expect: Option<String>,
    ) -> Self {
        let mut payload = members([("action", name.into())]);
        put(&mut payload, "data", data);
        let mut envelope = members([
            ("sessionId", session_id.as_str().into()),
            ("type", DATA_SUBMIT.into()),
            ("payload", Value::Object(payload)),
        ]);
        put(&mut envelope, "clientSeq", client_seq);
        put(&mut envelope, EXPECT, expect);
        Self { session_id, kind: DATA_SUBMIT.to_owned(), client_seq, envelope }
    }
}

/// The type of the event whose body is checked against the contract.
pub(crate) const DATA_SUBMIT: &str = "data:submit";

message! {
    // Clauses: GGUI-FRAME-HOST-CONTEXT.
    /// The payload of `host_context_observed`.
    pub struct HostContextObserved("GguiHostContextObserved", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// What the client knows about its host.
        required host_context: HostContext = "hostContext", "host-context";
    }

    // Clauses: GGUI-FRAME-CHANNEL-SUBSCRIBE.
    /// The payload of `channel_subscribe`.
    pub struct ChannelSubscribe("GguiChannelSubscribe", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// The app that the session belongs to.
        required app_id: AppId = "appId", "app-id";
        /// The channel.
        required channel_name: String = "channelName", "channel-name";
        /// How often the tool is polled, in milliseconds.
        optional poll_interval_ms: accord_contract::wire::Number = "pollIntervalMs", "duration:ms";
        /// Arguments for the tool, over those of the contract.
        optional args: Object = "args", "tool-arguments";
    }

    // Clauses: GGUI-FRAME-CHANNEL-UNSUBSCRIBE.
    /// The payload of `channel_unsubscribe`.
    pub struct ChannelUnsubscribe("GguiChannelUnsubscribe", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// The app that the session belongs to.
        required app_id: AppId = "appId", "app-id";
        /// The channel.
        required channel_name: String = "channelName", "channel-name";
    }
}

impl ClientFrame {
    pub fn kind(&self) -> &'static str {
        match self.body {
            ClientBody::Subscribe(_) => "subscribe",
            ClientBody::Action(_) => "action",
            ClientBody::Ping => "ping",
            ClientBody::HostContext(_) => "host_context_observed",
            ClientBody::ChannelSubscribe(_) => "channel_subscribe",
            ClientBody::ChannelUnsubscribe(_) => "channel_unsubscribe",
        }
    }
}
