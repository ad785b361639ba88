//! Verbs of a person that end a review, or a task.

use accord_base::By;
use accord_base::decision::{Decided, DecisionId, DecisionProtocol, DecisionRecord};
use accord_base::evidence::{EvidenceDigest, LastDecision};
use accord_contract::{Failure, Time, Value, Wire as _};
use serde_json::json;

use super::moves::forgotten_failures;
use super::{About, Subject};
use crate::Status;
use crate::event::{TaskEvent, kind};
use crate::lease::moved;
use crate::observed::{observed, sandbox_of};
use crate::route::Routed;
use crate::task::{LogEntry, Task, TaskFile, with_entry};
use crate::yaml::Change;

/// The member of the metadata that counts how often a review sent the task back.
pub const REWORKS: &str = "reworks";

/// The member of the event of a decision that names the last run of an agent on the task.
pub const LAST_RUN: &str = "lastRunId";

/// Ends a review: the task is done.
pub fn approve(
    subject: &Subject<'_>,
    note: Option<&str>,
    about: About<'_>,
) -> Result<Routed, Failure> {
    subject.by.check_person("approve a task")?;
    subject.check_shown(about, subject.task.status == Status::Review)?;
    if subject.task.status != Status::Review {
        return Err(subject.impossible(Status::Done));
    }
    let mut routed = subject.walk(&[Status::Done], Some(note.unwrap_or("approved")))?;
    record(&mut routed, subject, Verdict::APPROVED, note, about.0);
    Ok(routed)
}

/// Ends a task as done, from any status, by the moves that the table allows.
pub fn close(
    subject: &Subject<'_>,
    note: Option<&str>,
    about: About<'_>,
) -> Result<Routed, Failure> {
    use Status::{Backlog, Blocked, Cancelled, Deadletter, Done, InProgress, Ready, Review};
    subject.by.check_person("close a task")?;
    subject.check_shown(about, !subject.task.status.is_final())?;
    subject.check_open()?;
    let path: &[Status] = match subject.task.status {
        Backlog | Blocked | Deadletter => &[Ready, InProgress, Review, Done],
        Ready => &[InProgress, Review, Done],
        InProgress => &[Review, Done],
        Review | Done | Cancelled => &[Done],
    };
    let mut routed = subject.walk(path, Some(note.unwrap_or("closed")))?;
    // The steps in between last no time: people are notified about the end alone.
    routed.notices.retain(|notice| notice.status == Done);
    routed.changes.push(Change::remove(&["metadata", "blockReason"]));
    record(&mut routed, subject, Verdict::CLOSED, note, about.0);
    Ok(routed)
}

/// Ends a review: the task is ready again. It passes through progress, where it has a lease; the
/// next agent that claims it reads why it was sent back.
pub fn send_back(
    subject: &Subject<'_>,
    file: &TaskFile,
    reason: &str,
    about: About<'_>,
) -> Result<Routed, Failure> {
    subject.by.check_person("send a task back")?;
    subject.check_shown(about, subject.task.status == Status::Review)?;
    if subject.task.status != Status::Review {
        return Err(subject.impossible(Status::Ready));
    }
    let mut routed = subject.walk(&[Status::InProgress, Status::Ready], Some(reason))?;
    record(&mut routed, subject, Verdict::SENT_BACK, Some(reason), about.0);
    let reworks = subject.task.metadata(REWORKS).and_then(Value::as_u64).unwrap_or(0) + 1;
    routed.changes.push(Change::set(&["metadata", REWORKS], reworks));
    let notes = format!("Sent back by {}: {reason}", subject.by.name());
    let entry = LogEntry { notes: Some(&notes), ..LogEntry::default() };
    routed.body = with_entry(file.body(), &entry, subject.now);
    Ok(routed)
}

/// Opens a finished task again, beyond the table. The record of decisions keeps its approval; its
/// file says only why it is open.
pub fn reopen(
    subject: &Subject<'_>,
    file: &TaskFile,
    waits: bool,
    reason: &str,
    about: About<'_>,
) -> Result<Routed, Failure> {
    let (task, now) = (subject.task, subject.now);
    let to = if waits { Status::Backlog } else { Status::Ready };
    subject.by.check_person("open a finished task again")?;
    subject.check_shown(about, task.status.is_final())?;
    if !task.status.is_final() {
        return Err(subject.impossible(to));
    }
    let mut routed = Routed { moved_to: Some(to), changes: moved(to, now), ..Routed::default() };
    let about_it = Some(task.id);
    let reopened = TaskEvent::new(kind::REOPENED, subject.by.name(), about_it, now);
    routed.events.push(reopened.with("reason", reason));
    let way = (task.status, to);
    routed.events.push(TaskEvent::moved(task.id, subject.by.name(), way, Some(reason), now));
    record(&mut routed, subject, Verdict::REOPENED, Some(reason), about.0);
    let over = ["approval", "cancellation", "cancellationReason", "blockReason"];
    let over = over.into_iter().filter(|name| task.metadata(name).is_some());
    routed.changes.extend(over.map(|name| Change::remove(&["metadata", name])));
    routed.changes.extend(forgotten_failures(task));
    let reworks = task.metadata(REWORKS).and_then(Value::as_u64).unwrap_or(0) + 1;
    routed.changes.push(Change::set(&["metadata", REWORKS], reworks));
    let notes = format!("Opened again by {}: {reason}", subject.by.name());
    let entry = LogEntry { notes: Some(&notes), ..LogEntry::default() };
    routed.body = with_entry(file.body(), &entry, now);
    Ok(routed)
}

/// Records who decided, when, how and about what: in the metadata, and in the last move's event.
pub(super) fn record(
    routed: &mut Routed,
    subject: &Subject<'_>,
    verdict: Verdict,
    note: Option<&str>,
    digest: &EvidenceDigest,
) {
    let (by, task) = (subject.by, subject.task);
    routed.changes.push(verdict.change(by, note, digest, subject.now));
    let waits = matches!(task.status, Status::Review | Status::Deadletter);
    let decision = DecisionRecord {
        title: Some(task.title.clone()),
        asked_at: waits.then(|| task.last_transition_at.clone()),
        sandbox: observed(task, subject.run).map(|observed| sandbox_of(&observed)),
        ..verdict.record(&task.id.to_string(), by, note, digest, subject.now)
    };
    if let Some(event) = routed.events.pop() {
        let event = event.with("door", by.door.as_str()).with("evidence", digest.as_str());
        let event = event.with("decision", decision.encode());
        let event = match subject.run.and_then(|run| run.run_id.as_deref()) {
            Some(run) => event.with(LAST_RUN, run),
            None => event,
        };
        routed.events.push(match by.presence.recorded() {
            Some(presence) => event.with("presence", presence),
            None => event,
        });
    }
    routed.decision = Some(decision);
}

/// What a person decided: the member of the metadata that says it, and the kind and the outcome in
/// the record of decisions.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    member: &'static str,
    kind: &'static str,
    outcome: &'static str,
}

impl Verdict {
    pub const APPROVED: Self = Self::new("approval", "task.review", "approved");
    pub const CLOSED: Self = Self::new("approval", "task.close", "approved");
    pub const SENT_BACK: Self = Self::new("sentBack", "task.review", "sent_back");
    pub const CANCELLED: Self = Self::new("cancellation", "task.cancel", "cancelled");
    pub const RESURRECTED: Self = Self::new("resurrection", "task.resurrect", "resurrected");
    pub const REOPENED: Self = Self::new("reopening", "task.reopen", "reopened");
    pub const ADOPTED: Self = Self::new("adoption", "task.adopt", "adopted");

    /// Those with members of their own.
    const ALL: [Self; 6] = [
        Self::APPROVED,
        Self::SENT_BACK,
        Self::CANCELLED,
        Self::RESURRECTED,
        Self::REOPENED,
        Self::ADOPTED,
    ];

    const fn new(member: &'static str, kind: &'static str, outcome: &'static str) -> Self {
        Self { member, kind, outcome }
    }

    /// The record of the decision. Its id is made from what it is about.
    pub fn record(
        self,
        subject: &str,
        by: &By,
        note: Option<&str>,
        digest: &EvidenceDigest,
        now: Time,
    ) -> DecisionRecord {
        let Self { kind, outcome, .. } = self;
        let (protocol, at) = (DecisionProtocol::Tasks, now.to_string());
        let id = DecisionId::of(&[protocol.as_str(), kind, subject, outcome, &at, digest.as_str()]);
        let decided = Decided { protocol, kind, subject, outcome };
        DecisionRecord {
            note: note.map(str::to_owned),
            evidence: Some(digest.to_string()),
            ..DecisionRecord::new(id, decided, by, now)
        }
    }

    /// The change of the metadata that says it.
    pub fn change(self, by: &By, note: Option<&str>, digest: &EvidenceDigest, now: Time) -> Change {
        let mut decision = json!({
            "by": by.name(),
            "door": by.door.as_str(),
            "at": now.to_string(),
            "evidence": digest.as_str(),
        });
        if let Some(members) = decision.as_object_mut() {
            let hub = by.presence.hub.as_ref();
            let decided_at = hub.map(|decided| decided.decided_at.to_string());
            let said = [
                ("presence", by.presence.recorded()),
                ("hub", hub.map(|decided| decided.hub.as_str())),
                ("decidedAt", decided_at.as_deref()),
                ("note", note),
            ];
            members
                .extend(said.into_iter().filter_map(|(name, it)| Some((name.into(), it?.into()))));
        }
        Change::set(&["metadata", self.member], decision)
    }

    fn said(self, task: &Task) -> Option<LastDecision> {
        let record = task.metadata(self.member)?;
        let text = |name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(LastDecision {
            by: text("by")?,
            outcome: self.outcome.to_owned(),
            at: text("at")?,
            evidence: text("evidence"),
        })
    }
}

/// Whether a record of decisions has the approval that the metadata of a task says.
pub fn is_approval_recorded<'r>(
    task: &Task,
    mut records: impl Iterator<Item = &'r DecisionRecord>,
) -> bool {
    let Some(said) = Verdict::APPROVED.said(task) else { return true };
    let note = task.metadata("approval").and_then(|it| it.get("note")).and_then(Value::as_str);
    let id = task.id.to_string();
    records.any(|record| {
        record.subject == id
            && record.outcome == said.outcome
            && (&record.actor, record.decided_at.to_string()) == (&said.by, said.at.clone())
            && (record.note.as_deref(), &record.evidence) == (note, &said.evidence)
    })
}

/// The last decision that the metadata of a task has.
pub fn last_decision(task: &Task) -> Option<LastDecision> {
    let said = Verdict::ALL.iter().filter_map(|verdict| verdict.said(task));
    said.max_by(|one, other| one.at.cmp(&other.at))
}
