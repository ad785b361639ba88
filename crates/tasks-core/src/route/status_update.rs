//! `status.update`.

use super::{Call, Facts, Refused, Reviewer, Routed, Rules, walk};
use crate::Status;
use crate::message::StatusUpdate;
use crate::task::{LogEntry, Task, TaskFile, with_entry};
use crate::yaml::Change;

/// Clauses: AOF-SU-STATUS, AOF-SU-WORK-LOG, AOF-SU-INVALID.
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
    let reason = Some(joined.as_str()).filter(said);
    let reason = reason.or(update.notes.as_deref().filter(said));
    let reason = reason.or(update.progress.as_deref().filter(said));
    let target = update.status.filter(|status| *status != task.status);
    match target {
        Some(target) if !may_move(task, target, rules) => {
            routed.not_applied = Some("review_is_human");
        }
        Some(target) => {
            walk(&mut routed, task, &[target], (call.sender, reason), call.now);
            match (routed.moved_to, reason) {
                (None, _) => routed.not_applied = Some("invalid_transition"),
                (Some(Status::Blocked), Some(reason)) => {
                    routed.changes.push(Change::set(&["metadata", "blockReason"], reason));
                }
                _ => {}
            }
        }
        None => {}
    }
    if routed.moved_to.is_none() {
        let progress = update.progress.as_deref();
        let entry = LogEntry { progress, notes: update.notes.as_deref(), blockers };
        routed.body = with_entry(file.body(), &entry, call.now);
    }
    Ok(routed)
}

/// Whether an agent may move a task there. A review ends by a person's decision.
fn may_move(task: &Task, target: Status, rules: Rules) -> bool {
    let by_agent = task.metadata("reviewBy").and_then(|by| by.as_str()) == Some("agent");
    let ends_review = task.status == Status::Review && target == Status::Done;
    !ends_review || by_agent || rules.review == Reviewer::Anyone
}
