//! The operations that a worker needs while its agent runs.

use accord_contract::Value;
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::{
    EndRunAnswer, EndRunRequest, HeartbeatRequest, RunView, ShowQuery,
};

use crate::operations::worker;
use crate::{Result, Tree};

/// What a worker needs while its agent runs: carried out by a [`Tree`], or called at a host.
pub trait RunOperations {
    /// Extends the lease and the heartbeat of a run, if it still holds the task.
    fn heartbeat(&self, task: TaskId, request: &HeartbeatRequest) -> Result<()>;

    /// Carries out a message of the agent: a document, or a text that is meant as one.
    fn message(&self, text: &str) -> Result<()>;

    /// The last run of a task.
    fn last_run(&self, task: TaskId) -> Result<Option<RunView>>;

    /// Ends a run.
    fn end_run(&self, task: TaskId, request: &EndRunRequest) -> Result<EndRunAnswer>;
}

impl RunOperations for Tree {
    fn heartbeat(&self, task: TaskId, request: &HeartbeatRequest) -> Result<()> {
        Self::heartbeat(self, &task.to_string(), request, &worker()?).map(drop)
    }

    fn message(&self, text: &str) -> Result<()> {
        let input: Value = accord_canon::read(text.as_bytes()).unwrap_or_else(|_| text.into());
        Self::message(self, &input, &worker()?).map(drop)
    }

    fn last_run(&self, task: TaskId) -> Result<Option<RunView>> {
        let query = ShowQuery { without_body: true };
        Ok(self.show(&task.to_string(), &query, &worker()?)?.task.run)
    }

    fn end_run(&self, task: TaskId, request: &EndRunRequest) -> Result<EndRunAnswer> {
        Self::end_run(self, &task.to_string(), request, &worker()?)
    }
}
