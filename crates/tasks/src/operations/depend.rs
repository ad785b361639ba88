//! What a task waits for.

use accord_contract::codes::{Code, Failure};
use accord_tasks_core::By;
use accord_tasks_core::operations::{DependencyRequest, TaskAnswer};
use accord_tasks_core::verbs;

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
            let blocker = work.board().resolve(&blocker).map_err(dependency)?;
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
                Err(_) => work.board().resolve(&blocker).map_err(dependency)?,
            };
            verbs::remove_dependency(subject, blocker)
        })
    }
}

fn dependency(mut failure: Failure) -> Failure {
    if failure.code == Code::AofTaskNotFound {
        failure.code = Code::AofDependencyNotFound;
    }
    failure
}
