//! Verbs that move a task: block, unblock, cancel, promote, resurrect.

use accord_base::By;
use accord_tasks_core::board::Waits;
use accord_tasks_core::operations::{
    BlockRequest, CancelRequest, PromoteRequest, ResurrectRequest, TaskAnswer, UnblockRequest,
};
use accord_tasks_core::verbs;

use crate::{Result, Tree};

impl Tree {
    pub fn block(&self, task: &str, request: &BlockRequest, by: &By) -> Result<TaskAnswer> {
        let reason = request.reason.clone();
        self.by_verb(task, by, move |_, _, subject| verbs::block(subject, &reason))
    }

    /// Makes a blocked task ready again.
    pub fn unblock(&self, task: &str, request: &UnblockRequest, by: &By) -> Result<TaskAnswer> {
        let reason = request.reason.clone();
        self.by_verb(task, by, move |_, _, subject| verbs::unblock(subject, reason.as_deref()))
    }

    pub fn cancel(&self, task: &str, request: &CancelRequest, by: &By) -> Result<TaskAnswer> {
        let request = request.clone();
        self.by_decision(task, &request.clone(), by, move |work, file, subject| {
            let evidence = work.evidence(file)?.digest;
            let about = (&evidence, request.expect.as_deref());
            verbs::cancel(subject, request.reason.as_deref(), about)
        })
    }

    /// Makes a task of the backlog ready.
    pub fn promote(&self, task: &str, request: &PromoteRequest, by: &By) -> Result<TaskAnswer> {
        let force = request.force == Some(true);
        self.by_verb(task, by, move |work, _, subject| {
            let entry = work.board().entry(subject.task.id);
            let waits = entry.map_or(Waits::Nothing, |entry| work.board().waits(entry));
            verbs::promote(subject, &waits, force)
        })
    }

    /// Makes a dead letter ready again, with a new retry budget.
    pub fn resurrect(&self, task: &str, request: &ResurrectRequest, by: &By) -> Result<TaskAnswer> {
        let request = request.clone();
        self.by_decision(task, &request.clone(), by, move |work, file, subject| {
            let evidence = work.evidence(file)?.digest;
            let about = (&evidence, request.expect.as_deref());
            verbs::resurrect(subject, request.reason.as_deref(), about)
        })
    }
}
