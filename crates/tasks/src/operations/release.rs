//! An agent gives a task back.

use accord_base::By;
use accord_tasks_core::operations::{ReleaseRequest, TaskAnswer};
use accord_tasks_core::verbs;

use crate::{Result, Tree};

impl Tree {
    /// Gives a task back: it is ready for another claim. The holder can do it, and a person.
    pub fn release(&self, task: &str, request: &ReleaseRequest, by: &By) -> Result<TaskAnswer> {
        let request = request.clone();
        self.by_verb(task, by, move |_, _, subject| {
            let (agent, run_id) = (request.agent.as_deref(), request.run_id.as_deref());
            verbs::release(subject, agent, run_id, request.reason.as_deref())
        })
    }
}
