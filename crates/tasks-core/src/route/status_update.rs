//! `status.update`.

use super::{Artifact, Call, Facts, Grant, Refused, Routed, Rules, is_blocked_by_person, walk};
use crate::event::kind;
use crate::message::StatusUpdate;
use crate::operations::ReviewMode;
use crate::task::{LogEntry, Task, TaskFile, with_entry};
use crate::{Status, lease, rule};

/// Clauses: AOF-SU-STATUS, AOF-SU-WORK-LOG, AOF-SU-INVALID, AOF-SU-REASON.
pub(super) fn update(
    call: &Call<'_>,
    file: &TaskFile,
    facts: &Facts<'_>,
    update: &StatusUpdate,
    rules: Rules,
) -> Result<Routed, Refused> {
    let task = file.task();
    if update.task_id != call.id {
        return Err(call.mismatch(update.task_id));
    }
    call.check_sender(task, facts.run)?;
    let mut routed = Routed::default();
    let blockers = update.blockers.as_deref().unwrap_or_default();
    let joined = blockers.join("; ");
    let said = |text: &&str| !text.is_empty();
    let (blocked, notes) =
        (Some(joined.as_str()).filter(said), update.notes.as_deref().filter(said));
    let reason = rule!(blocked.or(notes); NotesFirst => notes.or(blocked));
    let reason = reason.or(update.progress.as_deref().filter(said));
    let target = update.status.filter(|status| *status != task.status);
    let humans = target.and_then(|target| for_person(task, target, rules));
    match target {
        Some(_) if humans.is_some() => routed.not_applied = humans,
        Some(Status::InProgress) if task.status.can_become(Status::InProgress) => {
            match facts.grant {
                Some(grant) => take(&mut routed, call, task, grant, reason),
                None => routed.not_applied = Some("resource_busy"),
            }
        }
        Some(target) => {
            walk(&mut routed, task, &[target], (call.sender, reason), call.now);
            if routed.moved_to.is_none() {
                routed.not_applied = Some("invalid_transition");
            }
        }
        None => {}
    }
    let is_logged = rule!(true; RefusedMoveUnlogged => routed.not_applied.is_none());
    if routed.moved_to.is_none() && is_logged {
        let progress = update.progress.as_deref();
        let entry = LogEntry { progress, notes: update.notes.as_deref(), blockers };
        // When it was said. A message that waited is not of the time when it arrived.
        let sent_at = call.message.envelope.sent_at.time();
        routed.body = with_entry(file.body(), &entry, sent_at);
    }
    Ok(routed)
}

/// The sender takes the task into progress: with a lease, as every task in progress has one.
fn take(routed: &mut Routed, call: &Call<'_>, task: &Task, grant: &Grant, reason: Option<&str>) {
    walk(routed, task, &[Status::InProgress], (call.sender, reason), call.now);
    let leased = lease::grant(task, call.sender, &grant.run_id, grant.times, call.now);
    routed.changes = leased.changes;
    routed.artifacts.extend(grant.old_result.clone().map(Artifact::OldResult));
    routed.artifacts.push(Artifact::Run(leased.run));
    routed.artifacts.push(Artifact::Heartbeat(leased.heartbeat));
    let event = call.event(kind::LEASE_ACQUIRED).with("runId", grant.run_id.as_str());
    routed.events.push(event);
}

/// Why only a person may move a task there: a review ends by a person's decision, and so does a
/// person's block.
/// Clauses: AOF-SU-REVIEW.
fn for_person(task: &Task, target: Status, rules: Rules) -> Option<&'static str> {
    let by_agent = task.metadata("reviewBy").and_then(|by| by.as_str()) == Some("agent");
    let is_end = matches!(target, Status::Done | Status::Cancelled);
    let ends_review = task.status == Status::Review && is_end;
    if ends_review && !by_agent && rules.review == ReviewMode::Human {
        return Some("review_is_human");
    }
    is_blocked_by_person(task).then_some("block_is_human")
}
