//! The channel, and the routes beside it for clients that cannot open it.

use accord_api::body::{BodyKind, Events, MediaType, Text as TextBody};
use accord_api::parameter::{Number, Opaque, Text};
use accord_api::{Content, Decision, Need, NoBody, operation, params};
use accord_contract::{Code, TextForm, Value};
use serde_json::json;

use super::{OfLive, watch::LiveFrame};
use crate::limits::EVENTS_PAGE;

const CREDENTIAL: TextForm = TextForm::ANY.chars(1, 4096);

pub const WS_TOKEN: Opaque = Opaque::new("wsToken", CREDENTIAL);
pub const TOKEN: Opaque = Opaque::new("token", CREDENTIAL);
pub const SINCE_SEQUENCE: Opaque = Opaque::number("sinceSequence");
pub const FROM_SEQ: Opaque = Opaque::number("fromSeq");
pub const LIMIT: Number = Number::new("limit", 1, EVENTS_PAGE.0 as u32).or(EVENTS_PAGE.1 as u32);
pub const LAST_EVENT_ID: Opaque = Opaque::number("last-event-id");

params! {
    pub struct ChannelQuery {
        /// A token of the session, which `subscribe` must carry too.
        optional ws_token: Opaque = WS_TOKEN;
        /// A key, for clients that cannot send the header Authorization.
        optional token: Opaque = TOKEN;
    }

    pub struct CredentialsQuery {
        /// A token of a session.
        optional ws_token: Opaque = WS_TOKEN;
        /// A key, for clients that cannot send the header Authorization.
        optional token: Opaque = TOKEN;
    }

    pub struct StateQuery {
        /// A token for the session.
        required ws_token: Opaque = WS_TOKEN;
    }

    pub struct LedgerQuery {
        /// A token for the session.
        required ws_token: Opaque = WS_TOKEN;
        /// The number of the last event that was received.
        required since_sequence: Opaque = SINCE_SEQUENCE;
        /// The most events.
        optional limit: Number = LIMIT;
    }

    pub struct FollowQuery {
        /// A token for the session.
        required ws_token: Opaque = WS_TOKEN;
        /// Replays the ledger after this number.
        optional since_sequence: Opaque = SINCE_SEQUENCE;
        /// Replays the stream after this number.
        optional from_seq: Opaque = FROM_SEQ;
    }

    pub struct FollowHeaders {
        /// Replays the ledger after this number; overrides the query.
        optional last_event_id: Opaque = LAST_EVENT_ID;
    }

    pub struct OfCode {
        /// The SHA-256 digest of the code in hexadecimal digits, and .js.
        required file: Text = Text::new("code_file", TextForm::ANY.not_empty());
    }
}

/// Documents of ggui, which are described and not typed.
macro_rules! documents {
    ($($(#[doc = $about:literal])+ $name:ident = $schema:expr;)+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl BodyKind for $name {
            fn contents() -> Vec<Content> {
                fn schema() -> Value {
                    $schema
                }
                vec![Content::Json(schema)]
            }
        }
    )+};
}

documents! {
    /// Whether the channel works.
    Health = json!({"type": "object"});
    /// What a host mounts.
    State = json!({"type": "object", "description": "The slice, as the member ai.ggui/render."});
    /// A page of a ledger.
    Ledger = json!({
        "type": "object",
        "description": "events, lastSequence and hasMore, as ggui_runtime_pull answers them.",
    });
}

#[derive(Clone, Copy, Debug)]
pub enum JavaScript {}

impl MediaType for JavaScript {
    const NAME: &'static str = "text/javascript";
}

const OF_TOKENS: &[Code] =
    &[Code::GguiUnauthenticated, Code::GguiBootstrapInvalid, Code::GguiBootstrapExpired];

const OF_SESSIONS: &[Code] = &[Code::GguiSessionNotFound, Code::GguiInvalidMessage];

operation! {
    /// Opens the channel of a live session, a WebSocket. A client without a key names a token.
    pub struct OpenChannel("live_channel", Get "/ws") of Ggui {
        query ChannelQuery;
        needs Need::Decide(Decision::Answer);
        answers 101 "The channel is open.", NoBody;
        refuses [&[Code::GguiUnauthenticated, Code::LiveTooManySockets, Code::HostClosing]];
    }

    /// Reads what a host needs to mount a live session, with a new token.
    pub struct ReadState("live_state", Get "/api/sessions/{live_session_id}/state") of Ggui {
        path OfLive;
        query StateQuery;
        needs Need::Read;
        answers 200 "What a host mounts.", State;
        refuses [OF_TOKENS, OF_SESSIONS];
    }

    /// Reads the ledger of a live session, for a client that cannot open the channel.
    pub struct ReadLedger("live_events", Get "/api/sessions/{live_session_id}/events") of Ggui {
        path OfLive;
        query LedgerQuery;
        needs Need::Read;
        answers 200 "A page of events.", Ledger;
        refuses [
            OF_TOKENS,
            OF_SESSIONS,
            &[Code::GguiInvalidSinceSequence, Code::GguiReplayHorizonPassed],
        ];
    }

    /// Follows a live session, for a client that cannot open the channel. Each event is a frame of
    /// the channel; the answer to the subscription comes first.
    pub struct Follow("live_stream", Get "/api/sessions/{live_session_id}/stream") of Ggui {
        path OfLive;
        query FollowQuery;
        headers FollowHeaders;
        needs Need::Read;
        answers 200 "The frames.", Events<LiveFrame>;
        refuses [
            OF_TOKENS,
            OF_SESSIONS,
            &[
                Code::GguiInvalidSinceSequence,
                Code::AgenticProjectArchived,
                Code::LiveTooManySockets,
                Code::HostClosing,
            ],
        ];
    }

    /// Reads component code by its SHA-256 digest.
    pub struct ReadCode("live_code", Get "/code/{code_file}") of Ggui {
        path OfCode;
        needs Need::Read;
        answers 200 "The code.", TextBody<JavaScript>;
        refuses [&[Code::GguiNotFound]];
    }

    /// Answers as long as the server runs.
    pub struct IsAlive("live_alive", Get "/ggui/live") of Ggui {
        needs Need::Read;
        answers 200 "It runs.", Health;
    }

    /// Says whether the channel can be used, and how many use it. A store that cannot be read, or
    /// that the disk does not let grow, is reported.
    pub struct ReadHealth("live_health", Get "/ggui/health") of Ggui {
        needs Need::Read;
        answers 200 "The channel can be used.", Health;
        also 503 "It cannot be used now.";
    }

    /// Says whether the credentials of the request open the channel.
    pub struct CheckCredentials("live_auth_check", Get "/ggui/auth-check") of Ggui {
        query CredentialsQuery;
        needs Need::Read;
        answers 204 "They do.", NoBody;
        refuses [OF_TOKENS];
    }
}
