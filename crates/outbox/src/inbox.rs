//! What waits at an edge, as the inbox of its hub shows it.
//!
//! The title has facts of the hub alone: what kind of thing waits, and at which edge. What the edge
//! says about it is a claim.

use accord_api::operations::edge_decisions::EdgeDecision;
use accord_api::operations::edges::EdgeEntry;
use accord_base::excerpt::one_line;
use accord_base::inbox::{Urgency, Waiting, kind, words};
use accord_contract::{Time, Value, Wire as _};

use crate::evidence::digest;
use crate::{EdgeRecord, decision};

/// The member of a request that says that its deadline is over.
pub const OVERDUE: &str = "overdue";
/// The most characters of an actor in a title.
const ACTOR: usize = 80;

/// Something that an edge sent, as the hub has it.
#[derive(Clone, Copy, Debug)]
pub struct SentItem<'a> {
    pub edge: &'a str,
    pub item: &'a str,
    /// When it came first.
    pub received_at: Time,
    /// The entry, a JSON text.
    pub text: &'a str,
    /// The record of the edge, a JSON text.
    pub record: &'a str,
    /// The decisions of this hub about it, JSON texts.
    pub decisions: &'a [String],
}

/// What a request of an edge means for a person: the kind of its item, a title, how urgent it is.
fn meaning(type_name: &str) -> (&'static str, &'static str, Urgency) {
    match type_name {
        "run.gate" => (kind::RUN_GATE, "A gate waits", Urgency::Chain),
        "run.completion" => (kind::RUN_COMPLETION, "The completion of a run waits", Urgency::Chain),
        "run.block" => (kind::RUN_BLOCKED, "A run is blocked", Urgency::Chain),
        "run.merge" => (kind::RUN_MERGE, "The files of two turns conflict", Urgency::Chain),
        "run.proposal" => (kind::RUN_PROPOSAL, "Proposed changes wait", Urgency::Should),
        "run.turn" => (kind::RUN_TURN, "A turn waits for a person", Urgency::Piece),
        "run.refused" => (kind::RUN_REFUSED, "The result of a turn was refused", Urgency::Piece),
        "run.duty" => (kind::RUN_DUTY, "A run needs its operator", Urgency::Piece),
        "task.review" => (kind::TASK_REVIEW, "A task waits for its review", Urgency::Piece),
        "task.blocked" => (kind::TASK_BLOCKED, "A task is blocked", Urgency::Piece),
        "task.handoff" => (kind::TASK_HANDOFF, "A task is handed to a person", Urgency::Piece),
        "task.deadletter" => (kind::TASK_FAILED, "A task failed too often", Urgency::Loss),
        _ => (kind::EDGE_REQUEST, "Something waits", Urgency::Piece),
    }
}

/// The item of a request; `None` if it cannot be read.
pub fn waiting(sent: &SentItem<'_>) -> Option<Waiting> {
    let document: Value = serde_json::from_str(sent.text).ok()?;
    let entry = EdgeEntry::from_document(document).ok()?;
    let (name, actor) = named(sent.record)?;
    let (kind, what, urgency) = meaning(&entry.type_name);
    let text = |name: &str| entry.body.get(name).and_then(Value::as_str);
    let subject = subject(sent.edge, sent.item);
    let title = format!("{what} at the edge {name:?}");
    let mut waiting = Waiting::new(kind, &subject, 0, title, sent.received_at);
    waiting.words = text("title").and_then(words);
    waiting.version = digest(&entry.body).or_else(|| text("digest").map(str::to_owned));
    waiting.asked_by = actor;
    let is_overdue = entry.body.get(OVERDUE).and_then(Value::as_bool) == Some(true);
    waiting.urgency = if is_overdue { urgency.min(Urgency::Chain) } else { urgency };
    if let Some(decided) = sent.decisions.iter().find_map(|text| open_decision(text)) {
        // It waits for its edge, and for a person again if the edge does not apply it in time.
        waiting.rises = Some((decided.expires_at.time(), waiting.urgency));
        waiting.urgency = Urgency::Notice;
        let verb = decided.verb.as_str().replace('_', "-");
        let by = one_line(&decided.actor, ACTOR);
        waiting.title = format!("Decided, not delivered: {verb} by {by}. {}", waiting.title);
    }
    Some(waiting)
}

/// A decision that the edge may still apply.
fn open_decision(text: &str) -> Option<EdgeDecision> {
    let document: Value = serde_json::from_str(text).ok()?;
    let decided = EdgeDecision::from_document(document).ok()?;
    decision::is_open(decided.state).then_some(decided)
}

/// The name and the actor of an edge, of its record.
pub fn named(record: &str) -> Option<(String, Option<String>)> {
    let document: Value = serde_json::from_str(record).ok()?;
    let edge = EdgeRecord::from_document(document).ok()?;
    Some((edge.name, edge.actor))
}

/// What an item of an edge is about: the edge, and the id that the source gave it.
fn subject(edge: &str, item: &str) -> String {
    format!("{edge}/{item}")
}

/// The edge and the id at its source, of the subject of an item of an edge.
pub fn place(subject: &str) -> Option<(&str, &str)> {
    subject.split_once('/').filter(|(edge, _)| edge.starts_with("edge_"))
}
