//! What a person can do about an item: one table for the command, HTTP and pages. Every verb is an
//! operation of the protocol that the item comes from; there is no other way to decide.
//!
//! Invariants:
//! - a client runs the command that it makes itself from an item ([`own_verb`]), never one that a
//!   server sent: a server could name any program;
//! - what others wrote is a word of a command, and never an option.

use accord_api::Operation;
use accord_api::operations::edge_decisions::{DecideEdgeItem, EdgeVerb, WithdrawEdgeDecision};
use accord_base::inbox::{InboxItem, InboxVerb, kind};
use accord_contract::Object;
use accord_live_core::operations::answer::AnswerLiveSession;
use accord_memory_core::operations::{
    CompletePackage, Deposit, ResubmitPackage, ReviewPackage, VerifyStore,
};
use accord_outbox::decision::needs_note;
use accord_outbox::inbox::place;
use accord_tasks_core::operations as tasks;

/// What stands for the note of the person in a command.
const NOTE: &str = "{note}";
/// The name of the evidence that has the whole text of an open question.
pub(super) const QUESTION: &str = "question";
/// The name of the evidence that names a decision that waits for its edge.
pub(super) const DECISION_ID: &str = "decision id";
/// The verb that takes a decision back.
const WITHDRAW: &str = "withdraw";

/// The verbs of an item. Those of a live session are its actions; without its evidence they are one
/// verb that asks for the action.
pub(super) fn of(item: &InboxItem) -> Vec<InboxVerb> {
    let table = Table { item };
    if edge_of(item).is_some() {
        // The hub can decide some, as `show` says.
        return Vec::new();
    }
    match item.kind.as_str() {
        kind::PACKAGE_REVIEW | kind::PACKAGE_AGENT_REVIEW => vec![
            table
                .package::<ReviewPackage>("complete", "End the review: it holds", &["review"])
                .then(&["complete", "--note", NOTE]),
            table
                .package::<ReviewPackage>("send-back", "Ask for a revision", &["review"])
                .then(&["revision_requested", "--note", NOTE])
                .with_note(),
        ],
        kind::PACKAGE_REVISION => vec![
            table
                .package::<ResubmitPackage>("resubmit", "Ask for another review", &["resubmit"])
                .then(&["--note", NOTE]),
            table
                .package::<CompletePackage>("complete", "Complete it as it is", &["complete"])
                .then(&["--note", NOTE]),
        ],
        kind::PACKAGE_QUESTION => {
            item.words.as_deref().and_then(|text| question(item, text)).into_iter().collect()
        }
        kind::LIVE_ASK => {
            let command = ["live", "answer", &item.subject];
            vec![table.verb::<AnswerLiveSession>("answer", "Answer it", &command)]
        }
        kind::TASK_REVIEW => vec![
            table
                .task::<tasks::ApproveTask>("approve", "End the review: it is done", "approve")
                .then(&["--note", NOTE]),
            table
                .task::<tasks::SendBackTask>(
                    "send-back",
                    "Send it back, with a reason",
                    "send-back",
                )
                .then(&[NOTE])
                .with_note(),
        ],
        kind::TASK_BLOCKED => vec![
            table
                .task::<tasks::UnblockTask>("unblock", "Make it ready again", "unblock")
                .then(&["--reason", NOTE])
                .undone(),
            table
                .task::<tasks::CancelTask>("cancel", "Give it up", "cancel")
                .then(&["--reason", NOTE]),
        ],
        kind::TASK_FAILED => vec![
            table
                .task::<tasks::ResurrectTask>("resurrect", "Try it again", "resurrect")
                .then(&["--reason", NOTE]),
            table
                .task::<tasks::CancelTask>("cancel", "Give it up", "cancel")
                .then(&["--reason", NOTE]),
        ],
        kind::TASK_UNROUTED | kind::TASK_OVERDUE => vec![
            table
                .task::<tasks::CancelTask>("cancel", "Give it up", "cancel")
                .then(&["--reason", NOTE]),
        ],
        kind::TASK_HANDOFF => vec![
            // A person has no lease. `accord inbox claim` says who works on it.
            table
                .task::<tasks::CloseTask>("done", "End it: it is done", "close")
                .then(&["--note", NOTE]),
            table
                .task::<tasks::BlockTask>("reject", "Say that you do not do it, and why", "block")
                .then(&[NOTE])
                .with_note()
                .undone(),
        ],
        kind::STORE_DAMAGE => {
            let verify = ["context", "verify"];
            let about = "Check the project again";
            vec![table.verb::<VerifyStore>("verify", about, &verify).undone()]
        }
        kind::TASK_UNADOPTED => vec![
            table
                .task::<tasks::AdoptTask>("adopt", "Take over what its file says", "adopt")
                .then(&["--note", NOTE]),
        ],
        _ => Vec::new(),
    }
}

/// The verb of an item by its name, with a command that is made here. None if this version knows no
/// such verb, or if a word of the item would be read as something else.
pub fn own_verb(item: &InboxItem, name: &str) -> Option<InboxVerb> {
    let edge = edge_of(item);
    let ids = [Some(name), Some(item.project_id.as_str()), Some(&*item.subject)];
    let more = [item.version.as_deref(), item.to.as_deref(), edge.map(|(_, sent)| sent)];
    if !ids.into_iter().chain(more).flatten().all(is_word) {
        return None;
    }
    match item.kind.as_str() {
        _ if edge.is_some() && name == WITHDRAW => {
            let decision = item.evidence.iter().flatten().find(|fact| fact.name == DECISION_ID)?;
            is_word(&decision.value).then(|| withdraw(item, &decision.value))?
        }
        _ if edge.is_some() => {
            let verb = EdgeVerb::parse(&name.replace('-', "_"))?;
            decisions(item, &[verb]).pop()
        }
        kind::LIVE_ASK => Some(action(item, name, name, false)),
        kind::PACKAGE_QUESTION => {
            let whole = item.evidence.iter().flatten().find(|fact| fact.name == QUESTION);
            let text = whole.map(|fact| fact.value.as_str()).or(item.words.as_deref())?;
            question(item, text).filter(|verb| verb.name == name)
        }
        _ => of(item).into_iter().find(|verb| verb.name == name),
    }
}

/// Whether a text of others is read as a word: not as an option, and not as the place of the note.
fn is_word(text: &str) -> bool {
    !text.starts_with('-') && text != NOTE && !text.chars().any(char::is_control)
}

/// The verb that answers an open question. The command finds a question by a part of its text, so
/// what would make an option of it is left out.
pub(super) fn question(item: &InboxItem, text: &str) -> Option<InboxVerb> {
    let text = text.trim_start_matches(|letter: char| letter == '-' || letter.is_whitespace());
    if text.is_empty() || text == NOTE {
        return None;
    }
    let command = ["context", "answer", text, NOTE];
    let verb = Table { item }.verb::<Deposit>("answer", "Answer it with a decision", &command);
    Some(verb.with_note())
}

/// The edge of an item, and the id that it has there, if it is one of an edge.
pub(super) fn edge_of(item: &InboxItem) -> Option<(&str, &str)> {
    let of_edge = ["run.", "task.", "edge."].iter().any(|start| item.kind.starts_with(start));
    place(&item.subject).filter(|_| of_edge)
}

/// The verbs that the hub has for a request of an edge, at the evidence that was shown.
pub(super) fn decisions(item: &InboxItem, verbs: &[EdgeVerb]) -> Vec<InboxVerb> {
    let Some((edge, sent)) = edge_of(item) else { return Vec::new() };
    let table = Table { item };
    let verb = |verb: &EdgeVerb| {
        let name = verb.as_str().replace('_', "-");
        let about = format!("Decide {name:?}; the edge applies it at its next contact");
        let command = ["project", "edges", edge, sent, "--decide", &name];
        let mut made = table.verb::<DecideEdgeItem>(&name, &about, &command).undone();
        if let Some(version) = &item.version {
            made = made.then(&["--expect", version]);
        }
        made = made.then(&["--note", NOTE]);
        if needs_note(*verb) { made.with_note() } else { made }
    };
    verbs.iter().map(verb).collect()
}

/// The verb that takes back a decision that the edge has not applied.
pub(super) fn withdraw(item: &InboxItem, decision: &str) -> Option<InboxVerb> {
    let (edge, _) = edge_of(item)?;
    let command = ["project", "edges", edge, "--withdraw", decision];
    let about = "Take the decision back; then somebody decides again";
    let mut made = Table { item }.verb::<WithdrawEdgeDecision>(WITHDRAW, about, &command);
    made.request = made.request.map(|line| line.replace("{decision_id}", decision));
    Some(made)
}

/// The verb of an action of a live session.
pub(super) fn action(item: &InboxItem, name: &str, label: &str, has_form: bool) -> InboxVerb {
    let table = Table { item };
    let command = ["live", "answer", &item.subject, name];
    let about = if has_form { format!("{label} (with a form)") } else { label.to_owned() };
    let verb = table.verb::<AnswerLiveSession>(name, &about, &command);
    match &item.version {
        Some(version) => verb.then(&["--expect", version]),
        None => verb,
    }
}

struct Table<'i> {
    item: &'i InboxItem,
}

impl Table<'_> {
    /// A verb whose command names the project.
    fn verb<O: Operation>(&self, name: &str, about: &str, command: &[&str]) -> InboxVerb {
        let item = self.item;
        let mut path = O::PATH.replace("{project_id}", item.project_id.as_str());
        for name in ["{package_id}", "{task_id}", "{live_session_id}"] {
            path = path.replace(name, &item.subject);
        }
        if let Some((edge, _)) = edge_of(item) {
            path = path.replace("{edge_id}", edge);
        }
        let project = ["--project", item.project_id.as_str()];
        let words = ["accord"].iter().chain(command).chain(&project);
        InboxVerb {
            name: name.to_owned(),
            about: about.to_owned(),
            scope: O::NEED.verb(),
            needs_note: false,
            can_be_undone: false,
            command: words.map(|word| (*word).to_owned()).collect(),
            request: Some(format!("{} {path}", O::METHOD)),
            extra: Object::new(),
        }
    }

    /// A verb of a package, at the revision that was shown.
    fn package<O: Operation>(&self, name: &str, about: &str, verb: &[&str]) -> InboxVerb {
        let command: Vec<&str> =
            ["context"].iter().chain(verb).chain(&[self.item.subject.as_str()]).copied().collect();
        let made = self.verb::<O>(name, about, &command);
        let version = self.item.version.as_deref();
        match version.and_then(|version| version.rsplit_once('.')) {
            Some((_, revision)) => made.then(&["--expect", revision]),
            None => made,
        }
    }

    fn task<O: Operation>(&self, name: &str, about: &str, verb: &str) -> InboxVerb {
        let made = self.verb::<O>(name, about, &["task", verb, &self.item.subject]);
        let version = self.item.version.as_deref();
        match (version, O::NEED.is_for_people()) {
            (Some(version), true) => made.then(&["--expect", version]),
            _ => made,
        }
    }
}

trait Build {
    fn then(self, words: &[&str]) -> Self;
    fn with_note(self) -> Self;
    fn undone(self) -> Self;
}

impl Build for InboxVerb {
    fn then(mut self, words: &[&str]) -> Self {
        self.command.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    fn with_note(self) -> Self {
        Self { needs_note: true, ..self }
    }

    fn undone(self) -> Self {
        Self { can_be_undone: true, ..self }
    }
}
