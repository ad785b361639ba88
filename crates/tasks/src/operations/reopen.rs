//! A person opens a finished task again.

use accord_base::By;
use accord_tasks_core::Status;
use accord_tasks_core::operations::{ReopenRequest, TaskAnswer};
use accord_tasks_core::task::Task;
use accord_tasks_core::verbs;

use crate::work::Work;
use crate::{Result, Tree};

impl Tree {
    /// Opens a task that is done or cancelled again. What waits for it waits again, which is a
    /// warning where it has gone on already.
    pub fn reopen(&self, task: &str, request: &ReopenRequest, by: &By) -> Result<TaskAnswer> {
        let request = request.clone();
        let mut answer =
            self.by_decision(task, &request.clone(), by, move |work, file, subject| {
                let evidence = work.evidence(file)?.digest;
                let about = (&evidence, request.expect.as_deref());
                let waits = waits(work, subject.task);
                verbs::reopen(subject, file, waits, &request.reason, about)
            })?;
        let gone_on = answer.task.dependents.iter().filter(|other| {
            !matches!(other.status, Some(Status::Backlog | Status::Blocked) | None)
        });
        let said: Vec<String> = gone_on
            .map(|other| {
                let status = other.status.map_or("missing", Status::as_str);
                format!("dependent_went_on: {} depends on it and is {status}", other.id)
            })
            .collect();
        answer.warnings.extend(said);
        Ok(answer)
    }
}

/// Whether a task that is open again waits for others.
fn waits(work: &Work<'_>, task: &Task) -> bool {
    task.dependencies().iter().any(|id| work.board().status(*id) != Some(Status::Done))
}
