//! One look of the scheduler at a tree: what is due is done, and what can start is started.

use std::sync::Arc;

use accord_contract::{Time, Timestamp};
use accord_tasks_core::board::Limits;
use accord_tasks_core::operations::PollAnswer;

use crate::Result;
use crate::executor::{Executor, Started};
use crate::tree::is_unavailable;
use crate::worker::Worker;

pub struct Scheduler {
    /// The tree, and how its tasks are run.
    pub worker: Worker,
    pub executor: Arc<dyn Executor>,
    /// How many tasks may be in progress, where the project does not say so.
    pub limits: Limits,
}

#[derive(Debug)]
pub struct Looked {
    pub polled: PollAnswer,
    pub started: usize,
    /// When to look again if nothing changes.
    pub next_due: Option<Time>,
}

impl Scheduler {
    /// Does what is due, and starts what can start.
    pub fn look(&self) -> Result<Looked> {
        let polled = self.worker.tree.poll_within(self.limits.clone(), None)?;
        let mut started = 0;
        for &task in &polled.start {
            match self.executor.start(&self.worker, task) {
                Ok(Started::Yes) => started += 1,
                Ok(Started::Later | Started::ByHand) => break,
                Err(failure) if is_unavailable(&failure) => return Err(failure),
                // Another agent was faster, or the task moved. The next poll knows.
                Err(_) => {}
            }
        }
        let next_due = polled.next_due.as_ref().map(Timestamp::time);
        Ok(Looked { polled, started, next_due })
    }
}
