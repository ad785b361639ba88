//! What Accord's own side of live sessions is asked for and answers: part of Accord's wire
//! contract.
//!
//! `accord live … --json` prints the answers, and HTTP gives them in envelopes. The frames of the
//! channel and the documents of the tools are those of ggui, and are not here.

use accord_base::{Actor, ActorKey};
use accord_contract::message;
use accord_contract::time::Timestamp;
use accord_contract::wire::{Limits, Object, TextForm, Value};
use accord_live_core::session::{LedgerRow, PendingAsk, Status};
use accord_live_core::tools::SessionDocument;
use accord_live_core::{AppId, SessionId};

/// The name of an action.
const ACTION: TextForm = TextForm::ANY.chars(1, 256).without_nul();
/// What names the sender of an action.
const CLIENT: TextForm =
    TextForm::ANY.chars(1, accord_live_core::limits::CLIENT_ID_CHARS).without_nul();

message! {
    /// What a session waits for a person to answer.
    pub struct LiveAsk("LiveAsk", open) {
        /// The session.
        required session_id: SessionId = "session_id", "live-session-id";
        /// The app: the project under its name on the channel.
        required app_id: AppId = "app_id", "app-id";
        /// Who asks: the actor that the agent names, else that of its key, else the label of its
        /// key.
        optional asked_by: Actor = "asked_by", "actor";
        /// For what.
        required intent: String = "intent", "text";
        /// Since when.
        required since: Timestamp = "since", "time:iso-8601";
        /// Until when: the session expires then, unless something happens in it before.
        required until: Timestamp = "until", "time:iso-8601";
    }
}

message! {
    /// A live session in a list.
    pub struct LiveSessionItem("LiveSessionItem", open) {
        /// The session.
        required session_id: SessionId = "session_id", "live-session-id";
        /// The app: the project under its name on the channel.
        required app_id: AppId = "app_id", "app-id";
        /// Whether it can be used.
        required status: Status = "status", "live-session-status";
        /// What the agent rendered it for.
        optional intent: String = "intent", "text";
        /// Who rendered it, if that is known.
        optional asked_by: Actor = "asked_by", "actor";
        /// The version of the UI, from 0.
        required epoch: u64 = "epoch", "epoch";
        /// The number of the last event of its ledger; 0 if there is none.
        required last_sequence: u64 = "last_sequence", "ledger-seq";
        /// The number of the last frame of its stream; 0 if there is none.
        required stream_seq: u64 = "stream_seq", "stream-seq";
        /// When it began.
        required created_at: Timestamp = "created_at", "time:iso-8601";
        /// When something was last done in it.
        required last_activity_at: Timestamp = "last_activity_at", "time:iso-8601";
        /// When it expires, unless something is done in it before.
        required expires_at: Timestamp = "expires_at", "time:iso-8601";
        /// What it waits for, if it waits for a person.
        optional ask: LiveAsk = "ask", "ask";
    }
}

message! {
    /// A page of live sessions, the newest first.
    pub struct LiveSessionsAnswer("LiveSessionsAnswer", open) {
        /// The sessions.
        required sessions: Vec<LiveSessionItem> = "sessions", "live-sessions";
        /// The cursor of the next page, if there is one.
        optional next_cursor: String = "next_cursor", "cursor";
    }
}

message! {
    /// A live session as the channel shows it, and what it waits for.
    pub struct LiveSessionAnswer("LiveSessionAnswer", open) {
        /// The snapshot that subscribers get: props, contract, host context.
        required session: SessionDocument = "session", "ggui-session";
        /// What it waits for, if it waits for a person.
        optional ask: LiveAsk = "ask", "ask";
    }
}

message! {
    /// A page of what sessions wait for, the oldest first.
    pub struct LiveAsksAnswer("LiveAsksAnswer", open) {
        /// The asks.
        required asks: Vec<LiveAsk> = "asks", "asks";
        /// The cursor of the next page, if there is one.
        optional next_cursor: String = "next_cursor", "cursor";
    }
}

message! {
    /// An action of a person.
    pub struct LiveAnswerRequest("LiveAnswerRequest", closed) {
        /// The name of the action in the contract of the session.
        required action: String = "action", "live-action", Limits::text(ACTION);
        /// Its data, which the contract checks.
        optional data: Value = "data", "live-action-data";
        /// A random text of the sender. With `client_seq`, an action that is sent again counts
        /// once.
        optional client_id: String = "client_id", "client-id", Limits::text(CLIENT);
        /// The number that the sender gave the action.
        optional client_seq: u64 = "client_seq", "client-seq";
    }
}

message! {
    /// An action that is recorded.
    pub struct LiveAckAnswer("LiveAckAnswer", open) {
        /// The session.
        required session_id: SessionId = "session_id", "live-session-id";
        /// The name of the action.
        required action: String = "action", "live-action";
        /// Its number in the ledger of the session.
        required sequence: u64 = "sequence", "ledger-seq";
        /// When it was recorded.
        required at: Timestamp = "at", "time:iso-8601";
        /// Whether an agent waits for events of the session now.
        required agent_waits: bool = "agent_waits", "flag";
    }
}

message! {
    /// An event of the ledger of a session.
    pub struct LiveEvent("LiveEvent", open) {
        /// Its number.
        required seq: u64 = "seq", "ledger-seq";
        /// Its type, such as `user.submitted`.
        required kind: String = "type", "ledger-type";
        /// When it was appended.
        required timestamp: Timestamp = "timestamp", "time:iso-8601";
        /// What it is about: for an action, the payload of its frame.
        required data: Value = "data", "ledger-data";
    }
}

message! {
    /// A page of the ledger of a session.
    pub struct LiveEventsAnswer("LiveEventsAnswer", open) {
        /// The events, in order.
        required events: Vec<LiveEvent> = "events", "live-events";
        /// The number of the last event of the session.
        required last_sequence: u64 = "last_sequence", "ledger-seq";
        /// Whether more events follow the page.
        required more: bool = "more", "flag";
    }
}

/// The requests.
pub mod requests {
    use super::LiveAnswerRequest;

    accord_contract::contract_messages! {
        Request;
        LiveAnswerRequest = "live-answer-request",
    }
}

accord_contract::contract_messages! {
    Response;
    LiveSessionsAnswer = "live-sessions-answer",
    LiveSessionAnswer = "live-session-answer",
    LiveAsksAnswer = "live-asks-answer",
    LiveAckAnswer = "live-ack-answer",
    LiveEventsAnswer = "live-events-answer",
}

impl LiveAsk {
    /// The document of an ask.
    pub(crate) fn of(pending: &PendingAsk) -> Self {
        let (session, ask) = (&pending.session, &pending.ask);
        Self {
            session_id: session.id.clone(),
            app_id: session.app_id.clone(),
            asked_by: ask.asked_by.as_ref().map(actor_of),
            intent: ask.intent.clone(),
            since: Timestamp::emit(ask.since),
            until: Timestamp::emit(pending.until()),
            extra: Object::new(),
        }
    }
}

/// An actor as a document.
pub(crate) fn actor_of(key: &ActorKey) -> Actor {
    Actor::new(key.id.clone(), key.kind)
}

impl LiveEvent {
    /// The document of an event of a ledger.
    pub(crate) fn of(row: LedgerRow) -> Self {
        Self {
            seq: row.seq,
            kind: row.kind.as_str().to_owned(),
            timestamp: Timestamp::emit(row.at),
            data: row.data,
            extra: Object::new(),
        }
    }
}
