//! The operations that a worker needs while its agent runs.

use std::time::Instant;

use accord_contract::{Code, Failure, Value};
use accord_tasks_core::TaskId;
use accord_tasks_core::event::kind;
use accord_tasks_core::operations::{
    EndRunAnswer, EndRunRequest, EventsAnswer, EventsQuery, HeartbeatRequest, RunView, ShowQuery,
};

use crate::operations::worker;
use crate::tree::is_unavailable;
use crate::{Result, Tree};

/// What a worker needs while its agent runs: carried out by a [`Tree`], or called at a host.
pub trait RunOperations {
    /// Extends the lease and the heartbeat of a run, if it still holds the task.
    fn heartbeat(&self, task: TaskId, request: &HeartbeatRequest) -> Result<()>;

    /// Carries out a message of the agent: a document, or a text that is meant as one.
    fn message(&self, text: &str) -> Result<()>;

    /// The last run of a task.
    fn last_run(&self, task: TaskId) -> Result<Option<RunView>>;

    /// The number of the last event of the tree, and whether one after `after` moved a task.
    fn moved_since(&self, task: TaskId, after: Option<u64>) -> Result<(u64, bool)>;

    /// Ends a run.
    fn end_run(&self, task: TaskId, request: &EndRunRequest) -> Result<EndRunAnswer>;

    /// Until when the run holds its task, if a host that cannot be reached may give the task to
    /// another one after that.
    fn held_until(&self) -> Option<Instant> {
        None
    }
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

    fn moved_since(&self, task: TaskId, after: Option<u64>) -> Result<(u64, bool)> {
        Ok(moved(&self.events(&moves_query(task, after))?))
    }

    fn end_run(&self, task: TaskId, request: &EndRunRequest) -> Result<EndRunAnswer> {
        Self::end_run(self, &task.to_string(), request, &worker()?)
    }
}

/// The query for the events of a task after a number. Without one, only the last number is asked.
pub fn moves_query(task: TaskId, after: Option<u64>) -> EventsQuery {
    EventsQuery {
        after,
        task_id: after.map(|_| task.to_string()),
        limit: after.is_none().then_some(1),
        wait_seconds: None,
        copies: false,
    }
}

/// The number of the last event that was read, and whether one of them moved the task.
pub fn moved(answer: &EventsAnswer) -> (u64, bool) {
    let has_moved = answer.events.iter().any(|event| event.kind == kind::TRANSITIONED);
    (answer.last_event, has_moved)
}

/// Whether an operation failed because of the tree or its host, and not because of the run: it may
/// succeed again.
pub(super) fn is_for_now(failure: &Failure) -> bool {
    is_away(failure.code) || is_unavailable(failure)
}

/// Whether a host could not be reached, or has no time now.
pub fn is_away(code: Code) -> bool {
    use Code::{
        HostClosing, HostTimeout, HostUnreachable, HttpTooManyConnections, RateLimited, StoreBusy,
    };
    let codes =
        [HostClosing, HostTimeout, HostUnreachable, HttpTooManyConnections, RateLimited, StoreBusy];
    codes.contains(&code)
}
