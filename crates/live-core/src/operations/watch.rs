//! What happens in a live session: the ledger in pages, and frames as they come.

use accord_api::parameter::{Number, Sequence};
use accord_api::{Json, Need, body::Events, operation, params};
use accord_base::Actor;
use accord_contract::{Code, Object, Timestamp, Value, Wire as _, message};

use super::{OfSession, at_session, envelope, questions::LiveAsk};
use crate::limits::{EVENTS_PAGE, PULL_WAIT_SECONDS};
use crate::{schema::written, session::LedgerRow};

params! {
    /// Which events of a ledger are read.
    #[derive(Default)]
    pub struct LiveEventsQuery {
        /// The number after which events are read. Default: from the first one.
        optional since: Sequence = Sequence::new("since");
        /// The most events.
        optional limit: Number =
            Number::new("limit", 1, EVENTS_PAGE.0 as u32).or(EVENTS_PAGE.1 as u32);
        /// How long the request waits for an event if there is none yet.
        optional wait_seconds: Number =
            Number::new("wait_seconds", 0, PULL_WAIT_SECONDS as u32).or(0);
    }

    /// Where a stream of frames begins.
    #[derive(Default)]
    pub struct WatchQuery {
        /// Begins with the events of the ledger after this number.
        optional since: Sequence = Sequence::new("since");
        /// Begins with the kept frames of the stream after this number.
        optional from_seq: Sequence = Sequence::new("from_seq");
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

    /// A page of the ledger of a session.
    pub struct LiveEventsAnswer("LiveEventsAnswer", open) {
        /// The events, in order.
        required events: Vec<LiveEvent> = "events", "live-events";
        /// The number of the last event of the session.
        required last_sequence: u64 = "last_sequence", "ledger-seq";
        /// Whether more events follow the page.
        required more: bool = "more", "flag";
    }

    /// A frame of the channel, or one of Accord's own.
    pub struct LiveFrame("LiveFrame", open) {
        /// Its type.
        required kind: String = "type", "frame-type";
        /// What belongs to the type.
        optional payload: Object = "payload", "frame-payload";
    }
}

envelope! {
    /// A page of the ledger of a live session.
    LiveEventsEnvelope("LiveEventsEnvelope") of LiveEventsAnswer;
}

operation! {
    /// Reads the ledger of a live session after a number, in its order.
    pub struct LiveSessionEvents("live_session_events", Get at_session!("/events")) of Agentic {
        path OfSession;
        query LiveEventsQuery;
        needs Need::Read;
        answers 200 "The events.", Json<LiveEventsEnvelope>;
        refuses [&[Code::AccessDenied, Code::GguiSessionNotFound, Code::GguiReplayHorizonPassed]];
    }

    /// Follows a live session: the frames that its subscribers get, one render_event for each
    /// event of its ledger, x-ask when it begins to wait for a person and x-answered when it waits
    /// no more. Without numbers it begins now. The stream ends when the session expires.
    pub struct WatchLiveSession("watch_live_session", Get at_session!("/frames")) of Agentic {
        path OfSession;
        query WatchQuery;
        needs Need::Read;
        answers 200 "The frames.", Events<LiveFrame>;
        refuses [&[
            Code::AccessDenied,
            Code::GguiSessionNotFound,
            Code::GguiReplayHorizonPassed,
            Code::HttpTooManyStreams,
            Code::HostClosing,
        ]];
    }
}

impl LiveEvent {
    pub fn of(row: LedgerRow) -> Self {
        Self {
            seq: row.seq,
            kind: row.kind.as_str().to_owned(),
            timestamp: Timestamp::emit(row.at),
            data: row.data,
            extra: Object::new(),
        }
    }

    /// The action of a person, and its data.
    pub fn action(&self) -> Option<(&str, &Value)> {
        let submitted = &self.data["payload"];
        Some((submitted["action"].as_str()?, &submitted["data"]))
    }

    pub fn by(&self) -> Option<Actor> {
        Actor::from_answer(self.data.get("x-by")?.clone()).ok()
    }
}

/// What a frame says; of one of another type, what a person reads.
#[derive(Clone, Debug)]
pub enum FrameContent {
    Event(LiveEvent),
    Data { seq: u64, channel: String, payload: Value },
    Ask(Box<LiveAsk>),
    AskEnded,
    Other(Vec<Value>),
}

impl LiveFrame {
    pub fn content(&self) -> FrameContent {
        let payload = Value::Object(self.payload.clone().unwrap_or_default());
        let member = |name: &str| payload[name].clone();
        let other = |members: Vec<Value>| Some(FrameContent::Other(members));
        let known = match self.kind.as_str() {
            "render_event" => LiveEvent::from_answer(payload.clone()).ok().map(FrameContent::Event),
            "x-ask" => LiveAsk::from_answer(payload.clone())
                .ok()
                .map(|ask| FrameContent::Ask(Box::new(ask))),
            "x-answered" => Some(FrameContent::AskEnded),
            "data" => payload["seq"].as_u64().map(|seq| FrameContent::Data {
                seq,
                channel: written(&payload["channel"]),
                payload: member("payload"),
            }),
            "props_update" => other(vec![member("props")]),
            "render" => other(vec![payload["session"]["prompt"].clone()]),
            "drain_ack" => other(vec![member("eventId")]),
            "error" => other(vec![member("code"), member("message")]),
            _ => None,
        };
        known.unwrap_or_else(|| FrameContent::Other(vec![payload]))
    }
}
