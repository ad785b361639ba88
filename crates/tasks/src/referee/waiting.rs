//! Moves that wait for a person. A file can say that a task was approved, made ready or cancelled,
//! and nothing that this copy trusts says who did that. The file stays as it is, so that git and
//! other tools see what they saw before. Here the task keeps the status that it had: what waits for
//! it goes on waiting, and nobody gets it, until a person adopts the move, or confirms the copy of
//! the tree that signed it.
//!
//! A move waits if
//! - events of a copy that no person confirmed explain it, and it would not count as an edit, or it
//!   [sets something going](is_guarded);
//! - this copy signed it, and it ends a review or the task without a decision in the record;
//! - it takes back a later review;
//! - no event explains it, and it sets something going.

use accord_contract::Value;
use accord_tasks_core::observed::OBSERVED;
use accord_tasks_core::operations::UnadoptedMove;
use accord_tasks_core::referee::{DECISIONS, Difference, is_guarded};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::verbs::last_decision;
use accord_tasks_core::yaml::Change;
use accord_tasks_core::{Status, TaskId};

use super::copies::Found;
use super::verdict::{Case, Verdict};
use crate::committed::LeaseOrigin;
use crate::explained::{Explanation, Source};

/// Why a move waits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Cause {
    /// Another copy of the tree did it, which no person confirmed. A log without a name is that of
    /// an earlier version.
    Unconfirmed(Option<String>),
    /// This copy has no record of the decision.
    Unrecorded,
    /// It is older than the review that it would end.
    Older,
    /// No event explains it.
    ByHand,
}

/// A move that waits for a person.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    cause: Cause,
    /// The folder of the file.
    pub(crate) folder: Status,
    /// The file as it would count.
    pub(crate) wanted: TaskFile,
}

impl Waiting {
    pub(crate) fn cause(&self) -> &Cause {
        &self.cause
    }

    pub(crate) fn problem(&self, id: TaskId) -> String {
        let task = self.wanted.task();
        let said = last_decision(task).filter(|last| {
            // The decision is that of the move.
            last.at == task.last_transition_at.to_string()
        });
        let what = match &said {
            Some(last) => {
                format!("{} by {} at {}", last.outcome.replace('_', " "), last.by, last.at)
            }
            None => format!("moved to {}", task.status),
        };
        match &self.cause {
            Cause::Unconfirmed(writer) => {
                let writer = writer.as_deref().unwrap_or("an earlier version");
                format!("{id}: {what} in another copy of the tasks ({writer}), not verified here")
            }
            Cause::Unrecorded => {
                format!("{id}: {what}, as its file says; this copy did not record it")
            }
            Cause::Older => format!("{id}: {what}, which is older than its present review"),
            Cause::ByHand => format!("{id}: {what} by hand; no event says who did it"),
        }
    }

    pub(crate) fn suggestion(&self, id: TaskId) -> String {
        let adopt = format!("a person looks at it, then: accord task adopt {id}");
        match &self.cause {
            Cause::Unconfirmed(Some(writer)) => format!(
                "{adopt}; or confirm that copy once, for all it does: accord task adopt --writer \
                 {writer}"
            ),
            _ => adopt,
        }
    }

    pub(crate) fn view(&self, id: TaskId) -> UnadoptedMove {
        let task = self.wanted.task();
        let writer = match &self.cause {
            Cause::Unconfirmed(writer) => writer.clone(),
            _ => None,
        };
        UnadoptedMove {
            status: task.status,
            writer,
            by: last_decision(task).map(|last| last.by),
            problem: self.problem(id),
            suggestion: self.suggestion(id),
        }
    }
}

impl Case<'_> {
    /// Why a file waits for a person, if it does.
    pub(super) fn waits(
        &self,
        folder: Status,
        file: &TaskFile,
        explained: Option<&Explanation>,
    ) -> Option<Cause> {
        // While an agent works on it here, or if nothing says who gave out the lease, other rules
        // hold.
        if self.is_here() {
            let explanation = explained.filter(|_| self.is_decided(file))?;
            return match explanation.source {
                Source::Confirmed => None,
                Source::Own => (!(self.before.decisions)(file)).then_some(Cause::Unrecorded),
                Source::Unknown => {
                    let writer = explanation.writer.as_deref().map(str::to_owned);
                    Some(Cause::Unconfirmed(writer))
                }
            };
        }
        let from = self.status();
        let to = self.wanted(folder, file);
        let ends_review = from == Some(Status::Review) && to != Status::Review;
        let Some(explanation) = explained else { return self.waits_by_hand(folder, file) };
        if ends_review && explanation.source != Source::Unknown && self.is_older(file) {
            return Some(Cause::Older);
        }
        match explanation.source {
            Source::Confirmed => None,
            Source::Own => {
                let is_ended = from.is_some_and(|from| from != to) && to == Status::Done;
                let needs_none = self.review_required() == Some(&Value::Bool(false));
                let needs_record = ends_review || (is_ended && !needs_none);
                (needs_record && !(self.before.decisions)(file)).then_some(Cause::Unrecorded)
            }
            Source::Unknown => {
                // A lease of another copy holds nothing here, and keeps others from the task.
                let is_lease = to == Status::InProgress && file.task().lease.value().is_some();
                let is_guarded = from.is_some_and(|from| is_guarded(from, to)) && !is_lease;
                let in_review = from == Some(Status::Review);
                let counts = |one: &Difference| !in_review && is_record(one);
                let is_refused = || self.refused(folder, file).iter().any(|one| !counts(one));
                let writer = explanation.writer.as_deref().map(str::to_owned);
                (is_guarded || is_refused()).then_some(Cause::Unconfirmed(writer))
            }
        }
    }

    /// Whether a person ended or blocked the task in another copy, after an agent got it here.
    pub(super) fn is_decided(&self, file: &TaskFile) -> bool {
        let task = file.task();
        let moved_at = task.last_transition_at.to_string();
        let is_of_person = match task.status {
            Status::Done | Status::Cancelled => {
                last_decision(task).is_some_and(|last| last.at == moved_at)
            }
            Status::Blocked => task.metadata("blockedBy").is_some(),
            _ => false,
        };
        let is_later = self.kept.is_some_and(|kept| {
            task.last_transition_at.time() > kept.task().last_transition_at.time()
        });
        is_of_person && is_later && self.before.intended.is_none()
    }

    /// A move that nothing explains, of a task that nobody has here.
    fn waits_by_hand(&self, folder: Status, file: &TaskFile) -> Option<Cause> {
        let held = self.before.held.filter(|held| held.lease == LeaseOrigin::None)?;
        let to = self.wanted(folder, file);
        let is_logged = self.before.moved_by_others == Some(to);
        let is_refused = || self.refused(folder, file).iter().any(|one| one.member() == "status");
        let waits = is_guarded(held.status, to) && !is_logged && !is_refused();
        waits.then_some(Cause::ByHand)
    }

    fn review_required(&self) -> Option<&Value> {
        self.before.held.and_then(|held| held.review_required.as_ref())
    }

    /// Whether a file was moved last before the review that is held.
    fn is_older(&self, file: &TaskFile) -> bool {
        let moved_at = |file: &TaskFile| file.task().last_transition_at.time();
        self.kept.is_some_and(|kept| moved_at(file) < moved_at(kept))
    }

    /// The task as it counts while its file waits.
    pub(super) fn waiting(
        &self,
        cause: Cause,
        folder: Status,
        content: Option<String>,
        file: TaskFile,
        others: Vec<Found>,
    ) -> Verdict {
        let to = self.wanted(folder, &file);
        let now = self.before.now.to_string();
        let mut wanted = file.clone();
        let mut follows = Vec::new();
        if file.task().status != to {
            // Only the folder changed: the front matter follows.
            follows.push(Change::set(&["status"], to.as_str()));
            follows.push(Change::set(&["updatedAt"], now.as_str()));
            follows.push(Change::set(&["lastTransitionAt"], now.as_str()));
        }
        if !to.is_leased() && file.task().lease.value().is_some() {
            follows.push(Change::remove(&["lease"]));
        }
        let mut shown = self.kept.cloned().unwrap_or_else(|| file.clone());
        let edited = match self.kept {
            Some(_) => {
                shown.set_body(file.body());
                Ok(())
            }
            None => shown.edit(&self.undone(folder, &file)),
        };
        if let Err(error) = wanted.edit(&follows).and(edited) {
            return self.broken(folder, content, error.to_string(), file.text(), others);
        }
        let lease = self.before.held.map_or(LeaseOrigin::None, |held| held.lease);
        Verdict {
            file: Some(shown),
            at: Some((folder, content)),
            others,
            refused_text: Some(file.text()),
            lease,
            waiting: Some(Waiting { cause, folder, wanted }),
            ..Verdict::default()
        }
    }

    /// The changes that take back what does not count of a file.
    fn undone(&self, folder: Status, file: &TaskFile) -> Vec<Change> {
        let refused = self.refused(folder, file);
        let mut changes: Vec<Change> = refused.iter().map(Difference::undo).collect();
        if let Some(status) = self.status() {
            changes.push(Change::set(&["status"], status.as_str()));
            if !status.is_leased() && file.task().lease.value().is_some() {
                changes.push(Change::remove(&["lease"]));
            }
        }
        changes
    }
}

/// Whether a difference is what another copy observed or a person decided there, which is shown as
/// such.
fn is_record(difference: &Difference) -> bool {
    let member = difference.member();
    let name = member.strip_prefix("metadata.");
    name.is_some_and(|name| name == OBSERVED || DECISIONS.contains(&name))
}
