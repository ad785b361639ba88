//! One look of the scheduler at a tree: what is due is done, and what can start is started.

use std::sync::Arc;

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_tasks_core::board::Limits;

use crate::executor::{Executor, Started};
use crate::operations::Polled;
use crate::worker::Worker;

/// The scheduler of a tree.
pub struct Scheduler {
    /// The tree, and how its tasks are run.
    pub worker: Worker,
    /// What starts tasks.
    pub executor: Arc<dyn Executor>,
    /// How many tasks may be in progress.
    pub limits: Limits,
}

/// What a look at a tree did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Looked {
    /// What the poll did.
    pub polled: Polled,
    /// How many tasks were started.
    pub started: usize,
    /// When to look again if nothing changes.
    pub next_due: Option<Time>,
}

impl Scheduler {
    /// Does what is due, and starts what can start.
    ///
    /// # Errors
    /// When the tree cannot be read or written.
    pub fn look(&self) -> Result<Looked, Failure> {
        let polled = self.worker.tree.poll(&self.limits)?;
        let mut started = 0;
        for &task in &polled.start {
            match self.executor.start(&self.worker, task) {
                Ok(Started::Yes) => started += 1,
                Ok(Started::Later | Started::ByHand) => break,
                Err(failure) if failure.code == Code::AofTaskTreeUnavailable => {
                    return Err(failure);
                }
                // Another agent was faster, or the task moved. The next poll knows.
                Err(_) => {}
            }
        }
        let next_due = polled.next_due;
        Ok(Looked { polled, started, next_due })
    }
}
