//! What live sessions ask people: lists, and one session.

use accord_api::parameter::{CURSOR, InProject, Number, Opaque, Text};
use accord_api::{Json, Need, operation, params};
use accord_base::{Actor, ActorKey};
use accord_contract::{Code, Object, TextForm, Timestamp, Value, Wire as _, message};

use super::{OfSession, at_live, at_session, envelope};
use crate::schema::{Question, written};
use crate::session::{LedgerRow, PendingAsk, Status};
use crate::{AppId, SessionId, limits::SESSIONS_PAGE, tools::SessionDocument};

const LIMIT: Number = Number::new("limit", 1, SESSIONS_PAGE.0 as u32).or(SESSIONS_PAGE.1 as u32);

const OF_LISTS: &[Code] =
    &[Code::AccessDenied, Code::AgenticProjectNotFound, Code::AgenticInvalidCursor];

params! {
    /// Which sessions are listed.
    #[derive(Default)]
    pub struct LiveSessionsQuery {
        /// Only those whose ids begin so.
        optional prefix: Text = Text::new("prefix", TextForm::ANY.chars(1, 256).without_nul());
        /// The most sessions.
        optional limit: Number = LIMIT;
        /// `next_cursor` of the previous page.
        optional cursor: Opaque = CURSOR;
    }

    /// Which asks are listed.
    #[derive(Default)]
    pub struct LiveAsksQuery {
        /// The most entries.
        optional limit: Number = LIMIT;
        /// `next_cursor` of the previous page.
        optional cursor: Opaque = CURSOR;
    }
}

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
        /// Whom the question is for, as a hint: others can answer it, too.
        optional to: Actor = "to", "actor";
        /// For what.
        required intent: String = "intent", "text";
        /// Since when.
        required since: Timestamp = "since", "time:iso-8601";
        /// Until when: the deadline of the contract, else the end of the session, unless something
        /// happens in it before.
        required until: Timestamp = "until", "time:iso-8601";
    }

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

    /// A page of live sessions, the newest first.
    pub struct LiveSessionsAnswer("LiveSessionsAnswer", open) {
        /// The sessions.
        required sessions: Vec<LiveSessionItem> = "sessions", "live-sessions";
        /// The cursor of the next page, if there is one.
        optional next_cursor: String = "next_cursor", "cursor";
    }

    /// A live session as the channel shows it, and what it waits for.
    pub struct LiveSessionAnswer("LiveSessionAnswer", open) {
        /// The snapshot that subscribers get: props, contract, host context.
        required session: SessionDocument = "session", "ggui-session";
        /// What it waits for, if it waits for a person.
        optional ask: LiveAsk = "ask", "ask";
        /// The digest of what it shows, for `expect` of an answer.
        optional digest: String = "digest", "evidence-digest";
    }

    /// An answer of a person that no agent has read.
    pub struct LiveUnreadAnswer("LiveUnreadAnswer", open) {
        /// The session.
        required session_id: SessionId = "session_id", "live-session-id";
        /// What the agent asked for.
        optional intent: String = "intent", "text";
        /// The number in the ledger of the session.
        required sequence: u64 = "sequence", "ledger-seq";
        /// When it was recorded.
        required at: Timestamp = "at", "time:iso-8601";
        /// The event in the ledger: its payload, and who answered.
        required data: Value = "data", "ledger-data";
        /// Until when it is kept, if its session has ended.
        optional until: Timestamp = "until", "time:iso-8601";
    }

    /// The answers that no agent has read.
    pub struct LiveAnswersAnswer("LiveAnswersAnswer", open) {
        /// The answers, by session, oldest first.
        required answers: Vec<LiveUnreadAnswer> = "answers", "live-answers";
    }

    /// A page of what sessions wait for, the oldest first.
    pub struct LiveAsksAnswer("LiveAsksAnswer", open) {
        /// The asks.
        required asks: Vec<LiveAsk> = "asks", "asks";
        /// The cursor of the next page, if there is one.
        optional next_cursor: String = "next_cursor", "cursor";
    }
}

envelope! {
    /// A page of live sessions.
    LiveSessionsEnvelope("LiveSessionsEnvelope") of LiveSessionsAnswer;
    /// A live session.
    LiveSessionEnvelope("LiveSessionEnvelope") of LiveSessionAnswer;
    /// What live sessions wait for.
    LiveAsksEnvelope("LiveAsksEnvelope") of LiveAsksAnswer;
    /// The answers that no agent has read.
    LiveAnswersEnvelope("LiveAnswersEnvelope") of LiveAnswersAnswer;
}

operation! {
    /// Lists the live sessions that have not expired, the newest first, with what each of them
    /// waits for.
    pub struct ListLiveSessions("live_sessions", Get at_live!("sessions")) of Agentic {
        path InProject;
        query LiveSessionsQuery;
        needs Need::Read;
        answers 200 "The sessions.", Json<LiveSessionsEnvelope>;
        refuses [OF_LISTS];
    }

    /// Lists what live sessions wait for a person to answer, the oldest first: who asks, for what,
    /// and until when.
    pub struct ListLiveAsks("live_asks", Get at_live!("asks")) of Agentic {
        path InProject;
        query LiveAsksQuery;
        needs Need::Read;
        answers 200 "What they wait for.", Json<LiveAsksEnvelope>;
        refuses [OF_LISTS];
    }

    /// Lists the answers that no agent has read: those of the 200 newest sessions, and those of
    /// sessions that have ended, for `live.unread_days`.
    pub struct ListLiveAnswers("live_answers", Get at_live!("answers")) of Agentic {
        path InProject;
        needs Need::Read;
        answers 200 "The answers.", Json<LiveAnswersEnvelope>;
        refuses [OF_LISTS];
    }

    /// Shows a live session as its subscribers see it: props, contract, and what it waits for.
    pub struct ShowLiveSession("live_session", Get at_session!("")) of Agentic {
        path OfSession;
        needs Need::Read;
        answers 200 "The session.", Json<LiveSessionEnvelope>;
        refuses [&[Code::AccessDenied, Code::GguiSessionNotFound]];
    }
}

impl LiveUnreadAnswer {
    pub fn of(session: &SessionId, intent: Option<&str>, row: LedgerRow) -> Self {
        Self {
            session_id: session.clone(),
            intent: intent.map(str::to_owned),
            sequence: row.seq,
            at: Timestamp::emit(row.at),
            data: row.data,
            until: None,
            extra: Object::new(),
        }
    }

    /// The action, and its data.
    pub fn action(&self) -> (&str, &Value) {
        let payload = &self.data["payload"];
        (payload["action"].as_str().unwrap_or_default(), &payload["data"])
    }

    pub fn by(&self) -> Option<Actor> {
        Actor::from_answer(self.data.get("x-by")?.clone()).ok()
    }
}

impl LiveAsk {
    pub fn of(pending: &PendingAsk) -> Self {
        let (session, ask) = (&pending.session, &pending.ask);
        Self {
            session_id: session.id.clone(),
            app_id: session.app_id.clone(),
            asked_by: ask.asked_by.as_ref().map(actor_of),
            to: pending.to.as_ref().map(actor_of),
            intent: ask.intent.clone(),
            since: Timestamp::emit(ask.since),
            until: Timestamp::emit(pending.until),
            extra: Object::new(),
        }
    }
}

pub fn actor_of(key: &ActorKey) -> Actor {
    Actor::new(key.id.clone(), key.kind)
}

#[derive(Clone, Debug)]
pub struct OfferedAction {
    pub name: String,
    pub label: String,
    pub about: Option<String>,
    /// What the person is asked before the action is sent.
    pub confirm: Option<String>,
    pub question: Option<Question>,
}

impl SessionDocument {
    pub fn prompt(&self) -> Option<&str> {
        self.extra.get("prompt")?.as_str()
    }

    /// What the page shows: names and texts.
    pub fn props(&self) -> Vec<(&str, String)> {
        let props = self.extra.get("props").and_then(Value::as_object).into_iter().flatten();
        props.map(|(name, value)| (name.as_str(), written(value))).collect()
    }

    /// What a person can do, in the order of the contract.
    pub fn actions(&self) -> Vec<OfferedAction> {
        let actions = self.extra.get("actionSpec").and_then(Value::as_object);
        let action = |(name, spec): (&String, &Value)| {
            let text = |member: &str| spec[member].as_str().map(str::to_owned);
            let label = text("label").unwrap_or_else(|| name.clone());
            let confirm = match &spec["confirm"] {
                Value::String(text) => Some(text.clone()),
                Value::Bool(true) => Some(format!("{label}?")),
                Value::Object(confirm) => {
                    let text = confirm.get("message").or_else(|| confirm.get("title"));
                    Some(text.and_then(Value::as_str).unwrap_or(&label).to_owned())
                }
                _ => None,
            };
            let schema = Some(&spec["schema"]).filter(|schema| schema.is_object());
            OfferedAction {
                name: name.clone(),
                about: text("description"),
                confirm,
                question: schema.map(Question::new),
                label,
            }
        };
        actions.into_iter().flatten().map(action).collect()
    }
}
