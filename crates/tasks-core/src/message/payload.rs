//! What each type of message says. The guide sets no limits of length. These are the limits of the
//! reference, so that it can read whatever Accord keeps of a message.

use accord_contract::wire::{DecodeError, DecodeErrorKind, Pointer};
use accord_contract::{Limits, Object, TextForm, Timestamp, Value, Wire as _, message, wire_enum};

use super::MessageType;
use crate::{Status, TaskId, rule};

const SHORT: TextForm = TextForm::ANY.chars(0, 256);
const REASON: TextForm = TextForm::ANY.chars(0, 512);
const PROGRESS: TextForm = TextForm::ANY.chars(0, 1_000);
const NOTES: TextForm = TextForm::ANY.chars(0, 10_000);
/// The most items of a list.
const MANY: usize = 50;
const BLOCKERS: usize = 20;

wire_enum! {
    /// How the work on a task ended.
    pub enum Outcome("AofOutcome", closed) {
        /// It is complete.
        Done = "done",
        /// It cannot go on.
        Blocked = "blocked",
        /// A person must look at it before it goes on.
        NeedsReview = "needs_review",
        /// A part of it is complete.
        Partial = "partial",
    }
}

message! {
    // Clauses: AOF-CR-TEST-REPORT.
    /// How many tests ran.
    pub struct TestReport("AofTestReport", open) {
        /// All.
        required total: u64 = "total", "count";
        /// Those that passed.
        required passed: u64 = "passed", "count";
        /// Those that failed.
        required failed: u64 = "failed", "count";
    }

    // Clauses: AOF-CR-OUTCOME, AOF-CR-SUMMARY-REF, AOF-CR-DELIVERABLES, AOF-CR-BLOCKERS,
    // AOF-CR-NOTES.
    /// The work on a task is over.
    pub struct CompletionReport("AofCompletionReport", open) {
        /// How it ended.
        required outcome: Outcome = "outcome", "outcome";
        /// The summary, as a path within the task's folder.
        required summary_ref: String = "summaryRef", "path", Limits::text(SHORT);
        /// The files that were made.
        optional deliverables: Vec<String> = "deliverables", "paths", Limits::texts(MANY, SHORT);
        /// The tests.
        required tests: TestReport = "tests", "tests";
        /// What stands in the way.
        optional blockers: Vec<String> = "blockers", "texts", Limits::texts(BLOCKERS, SHORT);
        /// Notes for the next reader.
        required notes: String = "notes", "text", Limits::text(NOTES);
    }

    // Clauses: AOF-SU-TASK-ID, AOF-SU-AGENT-ID, AOF-SU-STATUS-VALUE, AOF-SU-PROGRESS,
    // AOF-SU-BLOCKERS, AOF-SU-NOTES.
    /// How the work on a task is going.
    pub struct StatusUpdate("AofStatusUpdate", open) {
        /// The task.
        required task_id: TaskId = "taskId", "task-id";
        /// The agent.
        required agent_id: String = "agentId", "agent-id";
        /// The status that the task should get.
        optional status: Status = "status", "status";
        /// What was done.
        optional progress: String = "progress", "text", Limits::text(PROGRESS);
        /// What stands in the way.
        optional blockers: Vec<String> = "blockers", "texts", Limits::texts(BLOCKERS, SHORT);
        /// Notes for the next reader.
        optional notes: String = "notes", "text", Limits::text(NOTES);
    }

    // Clauses: AOF-HO-TASK-ID, AOF-HO-PARENT-ID, AOF-HO-FROM, AOF-HO-TO, AOF-HO-ACCEPTANCE,
    // AOF-HO-OUTPUTS, AOF-HO-CONTEXT, AOF-HO-CONSTRAINTS, AOF-HO-DUE-BY.
    /// A task is delegated to another agent.
    pub struct HandoffRequest("AofHandoffRequest", open) {
        /// The task that is delegated.
        required task_id: TaskId = "taskId", "task-id";
        /// The task that it is a part of.
        required parent_task_id: TaskId = "parentTaskId", "task-id";
        /// The agent of the parent.
        required from_agent: String = "fromAgent", "agent-id";
        /// The agent that should take it.
        required to_agent: String = "toAgent", "agent-id";
        /// When the work counts as done.
        optional acceptance_criteria: Vec<String> = "acceptanceCriteria", "texts",
            Limits::texts(MANY, SHORT);
        /// The files that are expected.
        optional expected_outputs: Vec<String> = "expectedOutputs", "paths",
            Limits::texts(MANY, SHORT);
        /// Files to read first.
        optional context_refs: Vec<String> = "contextRefs", "paths", Limits::texts(MANY, SHORT);
        /// What must not be done.
        optional constraints: Vec<String> = "constraints", "texts", Limits::texts(MANY, SHORT);
        /// The deadline.
        required due_by: Timestamp = "dueBy", "time:iso-8601";
    }

    // Clauses: AOF-HO-ANSWER.
    /// The other agent takes the task, or does not. The type of the message says which.
    pub struct HandoffAnswer("AofHandoffAnswer", open) {
        /// The task.
        required task_id: TaskId = "taskId", "task-id";
        /// Whether it is taken.
        required accepted: bool = "accepted", "flag";
        /// Why not.
        optional reason: String = "reason", "text", Limits::text(REASON);
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Payload {
    /// The work on a task is over.
    CompletionReport(CompletionReport),
    /// How the work on a task is going.
    StatusUpdate(StatusUpdate),
    /// A task is delegated to another agent.
    HandoffRequest(HandoffRequest),
    /// The other agent takes the task.
    HandoffAccepted(HandoffAnswer),
    /// The other agent does not take the task.
    HandoffRejected(HandoffAnswer),
}

impl Payload {
    pub(super) fn read(
        kind: MessageType,
        members: Object,
        at: &Pointer<'_>,
        problems: &mut Vec<String>,
    ) -> Result<Self, DecodeError> {
        let value = Value::Object(members);
        match kind {
            MessageType::CompletionReport => {
                let report = CompletionReport::decode(value, at)?;
                check_tests(&report.tests, at)?;
                Ok(Self::CompletionReport(report))
            }
            MessageType::StatusUpdate => {
                let update = StatusUpdate::decode(value, at)?;
                check_update(&update, at)?;
                Ok(Self::StatusUpdate(update))
            }
            MessageType::HandoffRequest => {
                HandoffRequest::decode(readable_criteria(value, at, problems), at)
                    .map(Self::HandoffRequest)
            }
            MessageType::HandoffAccepted => {
                HandoffAnswer::decode(value, at).map(Self::HandoffAccepted)
            }
            MessageType::HandoffRejected => {
                HandoffAnswer::decode(value, at).map(Self::HandoffRejected)
            }
        }
    }
}

/// Clauses: AOF-CR-TESTS.
fn check_tests(tests: &TestReport, at: &Pointer<'_>) -> Result<(), DecodeError> {
    let counted = tests.passed.checked_add(tests.failed);
    if counted.is_some_and(|counted| counted <= tests.total) {
        return Ok(());
    }
    let found = format!("{} and {}", tests.passed, tests.failed);
    Err(refused(&at.member("tests"), "passed and failed to be at most total", found))
}

/// Clauses: AOF-SU-NOT-EMPTY.
fn check_update(update: &StatusUpdate, at: &Pointer<'_>) -> Result<(), DecodeError> {
    let says_something = update.status.is_some()
        || update.progress.is_some()
        || update.notes.is_some()
        || update.blockers.is_some();
    if rule!(says_something; EmptyUpdate => true) {
        return Ok(());
    }
    Err(refused(at, "one of status, progress, blockers and notes", "none of them".into()))
}

/// Takes acceptance criteria that are not valid out of a request, and says so. They do not stop
/// the handoff.
/// Clauses: AOF-HO-CRITERIA.
fn readable_criteria(mut value: Value, at: &Pointer<'_>, problems: &mut Vec<String>) -> Value {
    const NAME: &str = "acceptanceCriteria";
    let Some(members) = value.as_object_mut() else { return value };
    let Some(criteria) = members.get_mut(NAME) else { return value };
    let limits = Limits::texts(MANY, SHORT);
    let at = at.member(NAME);
    let checked =
        Vec::<String>::decode(criteria.clone(), &at).and_then(|_| limits.check(criteria, &at));
    let Err(error) = rule!(checked; CriteriaStop => Ok(())) else { return value };
    problems.push(error.to_string());
    let readable = |item: &&mut Value| item.as_str().is_some_and(|text| SHORT.check(text).is_ok());
    let kept = criteria.as_array_mut().map_or_else(Vec::new, |items| {
        items.iter_mut().filter(readable).map(Value::take).take(MANY).collect()
    });
    *criteria = Value::Array(kept);
    value
}

fn refused(at: &Pointer<'_>, expected: &str, found: String) -> DecodeError {
    let shape = accord_contract::wire::Shape::Any;
    let mut error = DecodeError::wrong_value(at, &shape, &Value::Null);
    error.kind = DecodeErrorKind::Value;
    error.expected = expected.to_owned();
    error.found = found;
    error
}
