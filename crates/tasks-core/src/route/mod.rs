//! What a message does. A service loads the task, its run and its parent, calls [`route`], and
//! writes what it answers in one commit. A message that is refused leaves events and nothing else.

mod completion;
mod handoff;
mod paths;
mod status_update;

use accord_base::decision::DecisionRecord;
use accord_contract::{Code, Failure, Time, Value};

use crate::event::{TaskEvent, kind};
use crate::lease::{LeaseTimes, check_holder, unauthorized};
use crate::message::{Detected, Message, Payload, Rejection};
use crate::operations::{ApplyMode, ReviewMode};
use crate::run::{Heartbeat, Run, RunResult};
use crate::task::{Task, TaskFile};
use crate::yaml::Change;
use crate::{Status, TaskId, rule};

pub use completion::{ALREADY_RECORDED, apply_result, completion_path};

#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    pub task: Option<&'a TaskFile>,
    pub parent: Option<&'a TaskFile>,
    pub run: Option<&'a Run>,
    pub result: Option<&'a RunResult>,
    pub parent_run: Option<&'a Run>,
    pub has_summary: bool,
    /// The lease that the sender gets by taking the task; `None` if what the task needs is in use.
    pub grant: Option<&'a Grant>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Grant {
    pub run_id: String,
    pub times: LeaseTimes,
    /// The name under which a recorded result of an earlier run is kept.
    pub old_result: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rules {
    pub apply: ApplyMode,
    pub review: ReviewMode,
}

impl Default for Rules {
    fn default() -> Self {
        Self { apply: ApplyMode::AtOnce, review: ReviewMode::Human }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routed {
    pub changes: Vec<Change>,
    /// The status after the changes, if the task moves.
    pub moved_to: Option<Status>,
    pub body: Option<String>,
    pub artifacts: Vec<Artifact>,
    pub events: Vec<TaskEvent>,
    /// The decision of a person that this is.
    pub decision: Option<DecisionRecord>,
    /// Statuses that people are notified about.
    pub notices: Vec<Notice>,
    /// Why a move that the message asks for was not made.
    pub not_applied: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Artifact {
    /// `run.json`.
    Run(Run),
    /// `run_heartbeat.json`.
    Heartbeat(Heartbeat),
    /// `run_result.json`.
    Result(RunResult),
    /// The result of an earlier run is moved out of the way, under this name.
    OldResult(String),
    /// `inputs/handoff.json`.
    HandoffDocument(Value),
    /// `inputs/handoff.md`.
    HandoffText(String),
}

/// Something that people are notified about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Notice {
    pub task: TaskId,
    pub status: Status,
    pub reason: Option<String>,
}

/// A message that is refused: the failure, and the events that record it.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    pub failure: Failure,
    pub events: Vec<TaskEvent>,
}

/// Decides about an input. `None` if it is not for the protocol.
/// Clauses: AOF-ERR-EVENTS, AOF-ERR-NON-FATAL.
pub fn receive(
    detected: &Detected,
    facts: &Facts<'_>,
    rules: Rules,
    now: Time,
) -> Option<Result<Routed, Refused>> {
    match detected {
        Detected::Other => None,
        Detected::Message(message) => Some(route(message, facts, rules, now)),
        Detected::Unknown { kind: sent, task } => {
            let id = task.as_deref().and_then(|task| TaskId::parse(task).ok());
            let event = TaskEvent::new(kind::UNKNOWN, "system", id, now);
            let event = event.with("type", sent.as_str());
            let message = format!("AOF/1 has no message of the type {sent}");
            let failure = Failure::new(Code::AofUnknownType, message);
            Some(Err(Refused { failure, events: vec![event] }))
        }
        Detected::Rejected(rejection) => Some(Err(rejected_input(rejection, now))),
    }
}

/// Decides about a message. An error is why it is refused, with the events that record that.
/// Clauses: AOF-EV-RECEIVED, AOF-EX-1, AOF-EX-2, AOF-EX-3, AOF-EX-4, AOF-EX-5, AOF-EX-6, AOF-EX-7.
pub fn route(
    message: &Message,
    facts: &Facts<'_>,
    rules: Rules,
    now: Time,
) -> Result<Routed, Refused> {
    let envelope = &message.envelope;
    let call = Call { message, sender: &envelope.from_agent, id: envelope.task_id, now };
    let Some(file) = facts.task else { return Err(call.not_found()) };
    let mut routed = match &message.payload {
        Payload::CompletionReport(report) => completion::report(&call, file, facts, report, rules),
        Payload::StatusUpdate(update) => status_update::update(&call, file, facts, update, rules),
        Payload::HandoffRequest(request) => handoff::request(&call, file, facts, request),
        Payload::HandoffAccepted(_) => handoff::accepted(&call, file, facts),
        Payload::HandoffRejected(answer) => handoff::rejected(&call, file, facts, answer),
    }?;
    let received = call.event(kind::RECEIVED).with("type", envelope.kind.as_str());
    let mut events = rule!(vec![received]; ReceiptUnlogged => Vec::new());
    for problem in &message.problems {
        let event = call.event(kind::WARNING).with("reason", "invalid_acceptance_criteria");
        events.push(event.with("error", problem.as_str()));
    }
    events.append(&mut routed.events);
    routed.events = events;
    Ok(routed)
}

/// A message with what every handler needs.
struct Call<'a> {
    message: &'a Message,
    sender: &'a str,
    id: TaskId,
    now: Time,
}

impl Call<'_> {
    fn event(&self, kind: &'static str) -> TaskEvent {
        TaskEvent::new(kind, self.sender, Some(self.id), self.now)
    }

    fn refused(&self, failure: Failure) -> Refused {
        let event = self.event(kind::REJECTED).with("reason", failure.code.as_str());
        let details = failure.details.as_deref().into_iter().flatten();
        let details = details.filter(|(name, _)| *name != "task_id");
        let event = details.fold(event, |event, (name, value)| event.with(name, value.clone()));
        Refused { failure, events: vec![event] }
    }

    /// Clauses: AOF-CR-NOT-FOUND, AOF-SU-NOT-FOUND, AOF-HO-NOT-FOUND.
    fn not_found(&self) -> Refused {
        let failure = Failure::new(Code::AofTaskNotFound, format!("there is no task {}", self.id));
        let mut refused = self.refused(failure);
        let is_handoff = matches!(self.message.payload, Payload::HandoffRequest(_));
        if rule!(is_handoff; LostChildUnlogged => false) {
            let reason = Code::AofTaskNotFound.as_str();
            let event = self.event(kind::DELEGATION_REJECTED).with("reason", reason);
            refused.events.push(event);
        }
        refused
    }

    /// Checks that the sender has the task: its lease, in the present run; else, while the task
    /// has no lease, that it is routed to the sender or was the sender's last.
    /// Clauses: AOF-AUTH-SENDER.
    fn check_sender(&self, task: &Task, run: Option<&Run>) -> Result<(), Refused> {
        let envelope = &self.message.envelope;
        let (run_id, sent_at) = (envelope.run_id.as_deref(), envelope.sent_at.time());
        if task.lease.value().is_some() {
            let held = check_holder(task, run, self.sender, run_id, sent_at);
            return held.map_err(|failure| self.refused(failure));
        }
        let last = run.map(|run| run.agent_id.as_str());
        let allowed: Vec<&str> = task.agent().into_iter().chain(last).collect();
        let stale = run_id.zip(run.and_then(|run| run.run_id.as_deref()));
        match allowed.first() {
            None => {
                let message = format!("{} has no agent", self.id);
                let failure = Failure::new(Code::AofUnassignedTask, message);
                Err(self.refused(failure.with("sender", self.sender)))
            }
            Some(expected) if rule!(!allowed.contains(&self.sender); AnySender => false) => {
                Err(self.refused(unauthorized(self.id, expected, self.sender)))
            }
            Some(_) if stale.is_some_and(|(sent, last)| sent != last) => {
                let message = format!("{} had a later run", self.id);
                Err(self.refused(Failure::new(Code::AofStaleRun, message)))
            }
            Some(_) => Ok(()),
        }
    }
}

/// Moves a task to a status, if its status allows it.
pub fn move_task(task: &Task, to: Status, actor: &str, reason: Option<&str>, now: Time) -> Routed {
    let mut routed = Routed::default();
    walk(&mut routed, task, &[to], (actor, reason), now);
    if routed.moved_to.is_none() {
        routed.not_applied = Some("invalid_transition");
    }
    routed
}

/// Moves a task along a path, as far as its status allows. A blocked task keeps the reason.
/// Clauses: AOF-CR-IDEMPOTENT, AOF-SU-SAME.
pub(crate) fn walk(
    routed: &mut Routed,
    task: &Task,
    path: &[Status],
    (actor, reason): (&str, Option<&str>),
    now: Time,
) {
    let mut from = task.status;
    for &to in path {
        if from == to || rule!(!from.can_become(to); AnyMove => false) {
            continue;
        }
        routed.events.push(TaskEvent::moved(task.id, actor, (from, to), reason, now));
        if to.is_notified() {
            let reason = reason.map(str::to_owned);
            routed.notices.push(Notice { task: task.id, status: to, reason });
        }
        from = to;
    }
    if from == task.status {
        return;
    }
    routed.changes.extend(crate::lease::moved(from, now));
    routed.moved_to = Some(from);
    let forget = |names: &[&str]| -> Vec<Change> {
        let known = names.iter().filter(|name| task.metadata(name).is_some());
        known.map(|name| Change::remove(&["metadata", name])).collect()
    };
    // What belongs to an earlier block must not decide about a later one.
    routed.changes.extend(forget(&[BLOCKED_BY, "retryAt"]));
    const REASON: &[&str] = &["metadata", "blockReason"];
    match (from, reason) {
        (Status::Blocked, Some(reason)) => routed.changes.push(Change::set(REASON, reason)),
        (Status::Ready, _) => routed.changes.push(Change::remove(REASON)),
        // The run did what it should: the next one, after a review, has the whole budget.
        (Status::Review | Status::Done, _) => {
            routed.changes.extend(forget(&["retryCount", "rateLimitCount", "failedBy"]));
        }
        _ => {}
    }
}

/// The member of the metadata that names the person who blocked a task.
pub(crate) const BLOCKED_BY: &str = "blockedBy";

/// Whether a person blocked a task. Then a person decides when it goes on.
pub(crate) fn is_blocked_by_person(task: &Task) -> bool {
    let by = task.metadata(BLOCKED_BY).and_then(Value::as_str);
    task.status == Status::Blocked && by.is_some()
}

fn rejected_input(rejection: &Rejection, now: Time) -> Refused {
    let id = rejection.task.as_deref().and_then(|task| TaskId::parse(task).ok());
    let actor = rejection.sender.as_deref().unwrap_or("system");
    let mut event = TaskEvent::new(kind::REJECTED, actor, id, now);
    event = event.with("reason", rejection.reason.as_str());
    let mut failure = Failure::new(rejection.reason, what_is_wrong(rejection));
    for (name, value) in &rejection.details {
        event = event.with(name, value.clone());
        failure = failure.with(name, value.clone());
    }
    Refused { failure, events: vec![event] }
}

/// What is wrong with an input that is no message, for people.
fn what_is_wrong(rejection: &Rejection) -> String {
    let errors = rejection.details.get("errors").and_then(Value::as_array);
    let error = rejection.details.get("error");
    let found: Vec<_> =
        errors.into_iter().flatten().chain(error).filter_map(Value::as_str).collect();
    if found.is_empty() { rejection.reason.meaning().to_owned() } else { found.join("; ") }
}
