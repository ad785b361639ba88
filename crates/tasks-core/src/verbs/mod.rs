//! What people and agents do to a task by a verb of their own, not by a message. A verb answers
//! like a message: with the changes, artifacts, events and notices that a service writes in one
//! commit. One event records each transition.

mod comment;
mod depend;
mod edit;
mod moves;
mod review;

use accord_base::By;
use accord_base::evidence::EvidenceDigest;
use accord_contract::{Code, Failure, Time};

use crate::lease::unauthorized;
use crate::route::{Artifact, Routed, walk};
use crate::run::{Run, RunStatus};
use crate::task::Task;
use crate::{Status, evidence};

pub use comment::comment;
pub use depend::{add_dependency, remove_dependency};
pub use edit::edit;
pub use moves::{block, cancel, promote, release, resurrect, unblock};
pub use review::{
    LAST_RUN, REWORKS, Verdict, approve, close, is_approval_recorded, last_decision, reopen,
    send_back,
};

/// The evidence now, and what the person saw of it: a digest, or the beginning of one.
pub type About<'a> = (&'a EvidenceDigest, Option<&'a str>);

/// A task with what a verb needs to know about it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub task: &'a Task,
    pub run: Option<&'a Run>,
    pub by: &'a By,
    pub now: Time,
}

impl Subject<'_> {
    /// Checks that the actor may change the task: an agent only one that is its own in some way.
    fn check_may_change(&self) -> Result<(), Failure> {
        let (by, task) = (self.by, self.task);
        let is_own = task.agent() == Some(by.name()) || task.created_by == by.name();
        if !by.is_agent() || is_own {
            return Ok(());
        }
        Err(unauthorized(task.id, task.agent().unwrap_or(&task.created_by), by.name()))
    }

    /// Moves the task along a path of possible steps. A run that is under way ends with the lease.
    fn walk(&self, path: &[Status], reason: Option<&str>) -> Result<Routed, Failure> {
        let mut from = self.task.status;
        for &to in path {
            if !from.can_become(to) {
                return Err(self.impossible(to));
            }
            from = to;
        }
        let mut routed = Routed::default();
        walk(&mut routed, self.task, path, (self.by.name(), reason), self.now);
        self.end_run(&mut routed, reason);
        Ok(routed)
    }

    /// Ends the run of a task that loses its lease.
    fn end_run(&self, routed: &mut Routed, reason: Option<&str>) {
        let running = self.run.filter(|run| run.status == RunStatus::Running);
        let Some(run) = running.filter(|_| self.task.status.is_leased()) else { return };
        let at = self.now.to_string();
        let reason = reason.unwrap_or("released");
        let about = [("abandonedAt", at.as_str()), ("abandonedReason", reason)];
        routed.artifacts.push(Artifact::Run(run.clone().ended(RunStatus::Abandoned, &about)));
    }

    /// The refusal of a move that the task's status does not allow.
    fn impossible(&self, to: Status) -> Failure {
        let (id, from) = (self.task.id, self.task.status);
        let message = format!("{id} is {from}, and cannot become {to}");
        Failure::new(Code::AofInvalidTaskTransition, message)
            .with("task_id", id.to_string())
            .with("from", from.as_str())
            .with("to", to.as_str())
    }

    /// Checks that a decision is about what the person saw, if they say what. `waits` is whether
    /// the status allows the decision. Fails with `decision_stale` or `evidence_changed`.
    pub fn check_shown(&self, (digest, expect): About<'_>, waits: bool) -> Result<(), Failure> {
        let last = last_decision(self.task);
        evidence::check((digest, waits), expect, last.as_ref())
    }

    /// Refuses a task that never changes again.
    fn check_open(&self) -> Result<(), Failure> {
        let (id, status) = (self.task.id, self.task.status);
        if !status.is_final() {
            return Ok(());
        }
        let message = format!("{id} is {status}, and is not changed any more");
        Err(Failure::new(Code::AofTaskFinished, message)
            .with("task_id", id.to_string())
            .with("status", status.as_str()))
    }
}
