//! A person moves a task.

use accord_contract::codes::{Code, Failure};
use accord_tasks_core::route::move_task;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};

use super::message::apply;
use crate::Tree;

impl Tree {
    /// Blocks a task.
    ///
    /// # Errors
    /// `task_not_found`, `invalid_transition`.
    pub fn block(&self, id: TaskId, actor: &str, reason: &str) -> Result<TaskFile, Failure> {
        self.move_by(id, None, Status::Blocked, actor, Some(reason))
    }

    /// Makes a blocked task ready again.
    ///
    /// # Errors
    /// `task_not_found`, `invalid_transition`.
    pub fn unblock(&self, id: TaskId, actor: &str) -> Result<TaskFile, Failure> {
        self.move_by(id, Some(Status::Blocked), Status::Ready, actor, None)
    }

    fn move_by(
        &self,
        id: TaskId,
        from: Option<Status>,
        to: Status,
        actor: &str,
        reason: Option<&str>,
    ) -> Result<TaskFile, Failure> {
        let (actor, reason) = (actor.to_owned(), reason.map(str::to_owned));
        self.change(move |work| {
            let file = work.task(id)?;
            let status = file.task().status;
            let routed = move_task(file.task(), to, &actor, reason.as_deref(), work.now());
            if routed.moved_to.is_none() || from.is_some_and(|from| from != status) {
                let message = format!("{id} is {status}, and cannot become {to}");
                return Err(Failure::new(Code::AgenticInvalidTransition, message)
                    .with("task_id", id.to_string())
                    .with("from", status.as_str())
                    .with("to", to.as_str()));
            }
            apply(work, &file, routed)?;
            work.task(id)
        })
    }
}
