//! What a task waits for.

use accord_base::By;
use accord_contract::Code;
use accord_tasks_core::operations::{DependencyRequest, TaskAnswer};
use accord_tasks_core::verbs;

use super::apply::resolve_as;
use crate::{Result, Tree};

impl Tree {
    /// Makes a task wait for another one.
    pub fn add_dependency(
        &self,
        task: &str,
        request: &DependencyRequest,
        by: &By,
    ) -> Result<TaskAnswer> {
        let blocker = request.blocker.clone();
        self.by_verb(task, by, move |work, _, subject| {
            let blocker = resolve_as(work, &blocker, Code::AofDependencyNotFound)?;
            verbs::add_dependency(subject, work.board(), blocker)
        })
    }

    /// Makes a task wait no more for another one. That one need not exist.
    pub fn remove_dependency(
        &self,
        task: &str,
        request: &DependencyRequest,
        by: &By,
    ) -> Result<TaskAnswer> {
        let blocker = request.blocker.clone();
        self.by_verb(task, by, move |work, _, subject| {
            let blocker = match accord_tasks_core::TaskId::parse(&blocker) {
                Ok(id) => id,
                Err(_) => resolve_as(work, &blocker, Code::AofDependencyNotFound)?,
            };
            verbs::remove_dependency(subject, work.board(), blocker)
        })
    }
}
