//! Another text, routing or priority of a task.

use accord_base::By;
use accord_tasks_core::operations::{EditRequest, TaskAnswer};
use accord_tasks_core::verbs;

use super::apply::check_title;
use crate::{Result, Tree};

impl Tree {
    /// Edits a task. An edit that changes nothing writes nothing.
    pub fn edit(&self, task: &str, request: &EditRequest, by: &By) -> Result<TaskAnswer> {
        request.title.as_deref().map_or(Ok(()), check_title)?;
        let edit = request.clone();
        self.by_verb(task, by, move |work, file, subject| {
            if edit.expect.is_some() {
                let evidence = work.evidence(file)?.digest;
                subject.check_shown((&evidence, edit.expect.as_deref()), true)?;
            }
            verbs::edit(subject, file, &edit)
        })
    }
}
