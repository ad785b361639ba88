//! `completion.report`, and what a recorded result does later.

use accord_contract::{Code, Failure, Time};

use super::{Artifact, Call, Facts, Refused, Routed, Rules, walk};
use crate::event::kind;
use crate::message::{CompletionReport, Outcome};
use crate::operations::ApplyMode;
use crate::run::{RunResult, RunStatus};
use crate::task::{Task, TaskFile, is_review_required};
use crate::{Status, rule};

/// The statuses that an outcome moves a task through.
/// Clauses: AOF-CR-TRANSITIONS, AOF-CR-REVIEW-REQUIRED, AOF-CR-DONE, AOF-CR-BLOCKED,
/// AOF-CR-NEEDS-REVIEW, AOF-CR-PARTIAL, AOF-CR-DONE-TASK.
pub fn completion_path(task: &Task, outcome: Outcome) -> &'static [Status] {
    match outcome {
        Outcome::Done if rule!(task.status == Status::Done; DoneAgain => false) => &[],
        Outcome::Done if rule!(is_review_required(task); ReviewNeverRequired => false) => {
            &[Status::Review]
        }
        Outcome::Done => &[Status::Review, Status::Done],
        Outcome::Blocked => rule!(&[Status::Blocked]; BlockedIsReviewed => &[Status::Review]),
        Outcome::NeedsReview => rule!(&[Status::Review]; QuestionBlocks => &[Status::Blocked]),
        Outcome::Partial => {
            rule!(&[Status::Review]; PartialIsDone => &[Status::Review, Status::Done])
        }
    }
}

/// Clauses: AOF-CR-EVENT, AOF-CR-MISSING-SUMMARY.
pub(super) fn report(
    call: &Call<'_>,
    file: &TaskFile,
    facts: &Facts<'_>,
    report: &CompletionReport,
    rules: Rules,
) -> Result<Routed, Refused> {
    let task = file.task();
    call.check_sender(task, facts.run)?;
    check_run(call, task, facts)?;
    call.check_paths("summaryRef", [report.summary_ref.as_str()])?;
    call.check_paths("deliverables", texts(report.deliverables.as_deref()))?;
    let run_id = facts.run.and_then(|run| run.run_id.as_deref());
    let sent_at = call.message.envelope.sent_at.time();
    let completed_at = rule!(sent_at; CompletedOnReceipt => call.now);
    let result = RunResult::of(report, call.id, call.sender, run_id, completed_at);
    let mut routed = Routed::default();
    if !facts.has_summary {
        let event = call.event(kind::WARNING).with("reason", "summary_file_not_found");
        routed.events.push(event.with("summaryRef", report.summary_ref.as_str()));
    }
    if report.outcome == Outcome::Blocked && texts(report.blockers.as_deref()).next().is_none() {
        routed.events.push(call.event(kind::WARNING).with("reason", "blockers_missing"));
    }
    // The same report again changes nothing, but is on record.
    let said =
        |result: &RunResult| (result.outcome, result.run_id.clone(), result.agent_id.clone());
    let is_known = facts.result.is_some_and(|known| said(known) == said(&result));
    // What was approved stays what was approved.
    let is_over = rule!(task.status == Status::Done; DoneAgain => false);
    let is_again = facts.result.is_some_and(|known| is_same(known, &result));
    if is_over && is_known && !is_again {
        let message =
            format!("{} is done, and this report differs from the one of its run", call.id);
        let failure = Failure::new(Code::AofTaskFinished, message);
        return Err(call.refused(failure.with("task_id", call.id.to_string())));
    }
    if !is_over && (!is_known || task.status == Status::InProgress) {
        routed.artifacts.push(Artifact::Result(result.clone()));
    }
    let outcome = report.outcome.as_str();
    if rule!(true; CompletionUnlogged => false) {
        routed.events.push(call.event(kind::COMPLETED).with("outcome", outcome));
    }
    match rules.apply {
        _ if is_over && is_again => routed.not_applied = Some(ALREADY_RECORDED),
        ApplyMode::AtOnce => apply(&mut routed, task, &result, facts, None, call.now),
        ApplyMode::SessionEnd => routed.not_applied = Some("waits_for_session_end"),
    }
    Ok(routed)
}

/// Checks a report of a run that this copy of the tasks does not know any more: another copy did
/// the task meanwhile.
fn check_run(call: &Call<'_>, task: &Task, facts: &Facts<'_>) -> Result<(), Refused> {
    let sent = call.message.envelope.run_id.as_deref();
    let last = facts.result.and_then(|result| result.run_id.as_deref());
    let is_stale = facts.run.is_none() && sent.zip(last).is_some_and(|(sent, last)| sent != last);
    if !is_stale || task.lease.value().is_some() {
        return Ok(());
    }
    let who = facts.result.map_or("another agent", |result| result.agent_id.as_str());
    let message = format!("{} went to {who}, whose report is recorded", call.id);
    Err(call.refused(Failure::new(Code::AofStaleRun, message)))
}

/// Why the report of a task that is done moves nothing, if it is the one that was recorded.
pub const ALREADY_RECORDED: &str = "already_recorded";

/// Whether two reports of one run say the same. When they were sent does not matter.
fn is_same(one: &RunResult, other: &RunResult) -> bool {
    let said = |result: &RunResult| {
        let list = |texts: &Option<Vec<String>>| texts.clone().unwrap_or_default();
        let lists = (list(&result.deliverables), list(&result.blockers));
        let texts = (result.summary_ref.clone(), result.notes.clone(), result.tests.clone());
        (result.agent_id.clone(), result.run_id.clone(), result.outcome, lists, texts)
    };
    said(one) == said(other)
}

fn texts(list: Option<&[String]>) -> impl Iterator<Item = &str> {
    list.unwrap_or_default().iter().map(String::as_str)
}

/// What a recorded result does when the session of its agent ends, or when its run falls silent.
/// `None` if the task already moved, or the result is that of an earlier run.
/// Clauses: AOF-RS-SESSION-END, AOF-RS-OUTCOME, AOF-RS-ALREADY, AOF-RS-REASON.
pub fn apply_result(
    task: &Task,
    facts: &Facts<'_>,
    because: Option<&str>,
    now: Time,
) -> Option<Routed> {
    let result = facts.result?;
    let is_current = facts.run.is_none_or(|run| result.belongs_to(run));
    let is_open = rule!(task.status == Status::InProgress; ResultsForgotten => false);
    if !is_open || !rule!(is_current; OldResultCounts => true) {
        return None;
    }
    let mut routed = Routed::default();
    apply(&mut routed, task, result, facts, because, now);
    Some(routed)
}

fn apply(
    routed: &mut Routed,
    task: &Task,
    result: &RunResult,
    facts: &Facts<'_>,
    because: Option<&str>,
    now: Time,
) {
    let blockers = result.blockers.as_deref().unwrap_or_default().join("; ");
    let reason = match (because, result.outcome) {
        (Some(because), _) => because,
        (None, Outcome::Blocked) if !blockers.is_empty() => &blockers,
        (None, _) => &result.notes,
    };
    let reason = Some(reason).filter(|reason| !reason.is_empty());
    let path = completion_path(task, result.outcome);
    walk(routed, task, path, (&result.agent_id, reason), now);
    if routed.moved_to.is_none() {
        routed.not_applied = Some("no_transition");
        return;
    }
    if let Some(run) = facts.run.filter(|run| run.status == RunStatus::Running) {
        let at = now.to_string();
        let run = run.clone().ended(RunStatus::Completed, &[("completedAt", at.as_str())]);
        routed.artifacts.push(Artifact::Run(run));
    }
}
