//! Another text, routing or priority of a task.

use accord_contract::wire::Field;
use accord_tasks_core::operations::{EditRequest, TaskAnswer};
use accord_tasks_core::verbs::{self, Edit};
use accord_tasks_core::{By, evidence};

use super::apply::check_title;
use crate::{Result, Tree};

impl Tree {
    /// Edits a task. An edit that changes nothing writes nothing.
    pub fn edit(&self, task: &str, request: &EditRequest, by: &By) -> Result<TaskAnswer> {
        request.title.as_deref().map_or(Ok(()), check_title)?;
        let (edit, expect) = (edit_of(request), request.expect.clone());
        self.by_verb(task, by, move |work, file, subject| {
            if expect.is_some() {
                evidence::check(&work.evidence(file)?.digest, expect.as_deref())?;
            }
            verbs::edit(subject, file, &edit)
        })
    }
}

fn edit_of(request: &EditRequest) -> Edit {
    let sections = [("Instructions", &request.instructions), ("Guidance", &request.guidance)];
    let sections =
        sections.into_iter().filter_map(|(heading, text)| Some((heading, text.clone()?)));
    Edit {
        title: request.title.clone(),
        priority: request.priority,
        agent: request.agent.clone(),
        role: request.role.clone(),
        team: request.team.clone(),
        tags: request.tags.clone(),
        body: request.body.clone(),
        sections: sections.collect(),
        resource: request.resource.clone(),
        max_in_progress_ms: request.max_in_progress_ms.clone(),
        on_violation: request.on_violation.clone(),
        review_required: request.review_required.clone(),
        review_by: match &request.review_by {
            Field::Value(reviewer) => Field::Value(reviewer.as_str().to_owned()),
            Field::Null => Field::Null,
            Field::Absent => Field::Absent,
        },
    }
}
