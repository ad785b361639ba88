//! Executors: what is done about a task that can be started.
//!
//! * [`Manual`]: nothing; agents and people claim tasks themselves.
//! * [`CommandExecutor`]: starts the command of an agent.

mod command;
mod manual;

use accord_tasks_core::TaskId;

use crate::Result;
use crate::worker::Worker;

pub use command::CommandExecutor;
pub use manual::Manual;

pub trait Executor: Send + Sync {
    /// Starts a ready task of a tree. Fails when it could not be claimed: another agent was faster.
    fn start(&self, worker: &Worker, task: TaskId) -> Result<Started>;

    /// Ends every agent, releases their leases, and waits for that.
    fn shut_down(&self);
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Started {
    Yes,
    /// Not now: as many agents run as may. The scheduler asks again when one ends.
    Later,
    ByHand,
}
