//! The record of a decision: one form for every protocol.
//!
//! A decision is the answer of a person to something that waited for one. The files and rows of a
//! protocol keep their own form; this record says the same about all of them: who decided, how the
//! person is known, through which door, about what, and when.
//!
//! Invariants:
//! - a record never changes, and its id is unique in its project;
//! - the id of a record that is taken over is made from what it is about, so that taking it over
//!   twice adds nothing.

use accord_canon::sha256;
use accord_contract::{
    Failure, Limits, Object, TextForm, Time, Timestamp, Value, Wire as _, message, wire_enum,
};

use crate::{By, Cursor, Door, EventKind, KnownBy, NewEvent, ProjectId, cursor};

crate::id! {
    /// Names the record of a decision.
    DecisionId, "dec_"
}

wire_enum! {
    /// The protocol of a decision.
    pub enum DecisionProtocol("DecisionProtocol", closed) {
        /// Packages: the Agentic Protocol.
        Memory = "memory",
        /// Governed runs: AgentXchain.
        Runs = "runs",
        /// Tasks: AOF/1.
        Tasks = "tasks",
        /// Live sessions: ggui.
        Live = "live",
    }
}

const NAME: TextForm = TextForm::ANY.chars(1, 1024).without_nul();
const NOTE: TextForm = TextForm::ANY.bytes(64 * 1024);

/// The most characters of a text for people that an event repeats.
const ANNOUNCED_CHARS: usize = 500;

message! {
    /// Who decided what, and how the person is known.
    pub struct DecisionRecord("Decision", open) {
        /// Its id, unique in the project.
        required decision_id: DecisionId = "decision_id", "decision-id";
        /// The protocol of what was decided.
        required protocol: DecisionProtocol = "protocol", "decision-protocol";
        /// What kind of decision it is, such as `package.review`, `task.review`, `run.gate` or
        /// `live.answer`. Later versions add kinds.
        required kind: String = "kind", "decision-kind", Limits::text(NAME);
        /// What was decided, by its id in its protocol.
        required subject: String = "subject", "decision-subject", Limits::text(NAME);
        /// What people call it.
        optional title: String = "title", "text-for-people", Limits::text(NOTE);
        /// What the person was shown, where it does not last by itself, such as the question of a
        /// live session.
        optional shown: String = "shown", "text-for-people", Limits::text(NOTE);
        /// What the answer is, such as `approved`, `rejected` or `sent_back`. Later versions add
        /// outcomes.
        required outcome: String = "outcome", "decision-outcome", Limits::text(NAME);
        /// The action of the contract that a live answer names.
        optional action: String = "action", "action-name", Limits::text(NAME);
        /// The label of that action, which the person chose.
        optional label: String = "label", "text-for-people", Limits::text(NOTE);
        /// The person, such as `human:lead`.
        required actor: String = "actor", "actor", Limits::text(NAME);
        /// How the person is known.
        required known_by: KnownBy = "known_by", "known-by";
        /// The id of the key behind the request or the login.
        optional key_id: String = "key_id", "key-id", Limits::text(NAME);
        /// The user of the operating system, for a process on the machine of the host.
        optional os_user: String = "os_user", "text-for-people", Limits::text(NAME);
        /// The door of the request.
        required door: Door = "door", "door";
        /// The digest of what was decided about, in the form of its protocol.
        optional evidence: String = "evidence", "digest", Limits::text(NAME);
        /// What the person said about it.
        optional note: String = "note", "text-for-people", Limits::text(NOTE);
        /// Since when a person was waited for.
        optional asked_at: Timestamp = "asked_at", "time:rfc-3339";
        /// The hub where the person decided, by the incarnation of its store. The decision was
        /// applied at an edge.
        optional hub: String = "hub", "store-incarnation", Limits::text(NAME);
        /// When the person decided.
        required decided_at: Timestamp = "decided_at", "time:rfc-3339";
        /// The sandbox in which the work was done.
        optional sandbox: String = "sandbox", "text-for-people", Limits::text(NAME);
        /// The processes of workers that still ran, in spite of which the person decided.
        optional left_running: String = "left_running", "text-for-people", Limits::text(NOTE);
        /// Where a record comes from that this host took over and did not make.
        optional taken_over_from: String = "taken_over_from", "text-for-people",
            Limits::text(NAME);
    }
}

/// What was decided, in a protocol.
#[derive(Clone, Copy, Debug)]
pub struct Decided<'a> {
    pub protocol: DecisionProtocol,
    pub kind: &'a str,
    pub subject: &'a str,
    pub outcome: &'a str,
}

/// A decision was recorded.
pub const DECISION_RECORDED: EventKind = EventKind::declared("decision.recorded");

impl DecisionId {
    /// The id of a decision that these texts identify in a project.
    pub fn of(parts: &[&str]) -> Self {
        let digest = sha256(Value::from(parts).to_string().as_bytes()).hex();
        Self(format!("dec_{}", &digest[..32]))
    }
}

impl DecisionRecord {
    /// The record of what `by` decided now. Other members are added by the protocol. A decision of
    /// a hub keeps its id and its time.
    pub fn new(id: DecisionId, decided: Decided<'_>, by: &By, now: Time) -> Self {
        let Decided { protocol, kind, subject, outcome } = decided;
        let presence = &by.presence;
        let hub = presence.hub.as_ref();
        let id = hub.map_or(id, |decided| decided.decision_id.clone());
        let now = hub.map_or(now, |decided| decided.decided_at);
        Self {
            decision_id: id,
            protocol,
            kind: kind.to_owned(),
            subject: subject.to_owned(),
            title: None,
            shown: None,
            outcome: outcome.to_owned(),
            action: None,
            label: None,
            actor: by.name().to_owned(),
            known_by: presence.known_by(),
            key_id: presence.key_id.clone(),
            os_user: presence.os_user.clone(),
            door: by.door,
            evidence: None,
            note: None,
            asked_at: None,
            hub: hub.map(|decided| decided.hub.clone()),
            decided_at: Timestamp::emit(now),
            sandbox: None,
            left_running: presence.left_running.clone(),
            taken_over_from: None,
            extra: Object::new(),
        }
    }

    /// The event that announces it. Long texts are cut; the row has them whole.
    pub fn event(&self, project: &ProjectId, now: Time) -> NewEvent {
        let short = |text: &Option<String>| {
            let text = text.as_ref()?;
            Some(text.chars().take(ANNOUNCED_CHARS).collect())
        };
        let [title, shown, label, note] =
            [&self.title, &self.shown, &self.label, &self.note].map(short);
        let extra = Object::new();
        let announced = Self { title, shown, label, note, extra, ..self.clone() };
        let data = Object::from_iter([("decision".into(), announced.encode())]);
        NewEvent::new(DECISION_RECORDED, project, data, now)
    }
}

/// A position among the decisions of a project, the newest first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DecisionPosition {
    pub decided_at: Time,
    /// The store's number of the record.
    pub seq: u64,
}

const DECISIONS: &str = "d";

impl Cursor for DecisionPosition {
    fn encode(&self, project: &ProjectId) -> String {
        cursor::encode(DECISIONS, project, [], self.decided_at, self.seq)
    }

    fn decode(text: &str, project: &ProjectId) -> Result<Self, Failure> {
        let ([], decided_at, seq) = cursor::decode::<0>(DECISIONS, project, text)?;
        Ok(Self { decided_at, seq })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Presence, cursor};

    fn record() -> DecisionRecord {
        let presence = Presence {
            known_by: Some(KnownBy::Key),
            key_id: Some("key_1".into()),
            ..Presence::default()
        };
        let by = By::parse("human:lead", Door::Http).expect("an actor").present(presence);
        let decided = Decided {
            protocol: DecisionProtocol::Tasks,
            kind: "task.review",
            subject: "TASK-2026-02-09-001",
            outcome: "approved",
        };
        let now = Time::from_unix(1_800_000_000, 0).expect("a time");
        DecisionRecord::new(DecisionId::of(&["a"]), decided, &by, now)
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut record = record();
        assert_eq!((record.known_by, record.key_id.as_deref()), (KnownBy::Key, Some("key_1")));
        record.extra.insert("x-later".into(), 1.into());
        assert_eq!(DecisionRecord::from_document(record.encode()), Ok(record));
    }

    #[test]
    fn the_same_decision_has_the_same_id() {
        assert_eq!(DecisionId::of(&["a", "b"]), DecisionId::of(&["a", "b"]));
        assert_ne!(DecisionId::of(&["a", "b"]), DecisionId::of(&["ab"]));
        assert_ne!(DecisionId::of(&["a", "b"]), DecisionId::of(&["a\",\"b"]));
    }

    #[test]
    fn an_event_repeats_no_long_note() {
        let note = Some("é".repeat(ANNOUNCED_CHARS + 1));
        let record = DecisionRecord { note, ..record() };
        let project = ProjectId::new("shop").expect("an id");
        let event = record.event(&project, record.decided_at.time());
        let note = event.data["decision"]["note"].as_str().expect("a note");
        assert_eq!(note.chars().count(), ANNOUNCED_CHARS);
        assert_eq!(event.data["decision"]["actor"], "human:lead");
    }

    #[test]
    fn a_cursor_belongs_to_one_list() {
        let (shop, other) = (ProjectId::new("shop").unwrap(), ProjectId::new("other").unwrap());
        let position = DecisionPosition { decided_at: record().decided_at.time(), seq: 7 };
        let text = position.encode(&shop);
        assert_eq!(DecisionPosition::decode(&text, &shop), Ok(position));
        assert!(DecisionPosition::decode(&text, &other).is_err());
        let foreign = cursor::encode("x", &shop, [], position.decided_at, 7);
        assert!(DecisionPosition::decode(&foreign, &shop).is_err());
    }
}
