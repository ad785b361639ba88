//! A new task.

use accord_contract::codes::Failure;
use accord_contract::wire::{Object, Value};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::task::{Priority, TaskFile, content_hash};
use accord_tasks_core::{Status, TaskId};
use serde_json::json;

use crate::Tree;
use crate::work::object;

/// What a new task says.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NewTask {
    /// What is to be done, in one line.
    pub title: String,
    /// The body.
    pub body: String,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// Who may do it.
    pub routing: Object,
    /// The tasks that must be done first.
    pub depends_on: Vec<TaskId>,
    /// The task that it is a part of.
    pub parent: Option<TaskId>,
    /// Anything else that is known about it.
    pub metadata: Object,
    /// Who creates it.
    pub created_by: String,
    /// Whether it is ready at once, instead of waiting in the backlog.
    pub is_ready: bool,
}

impl NewTask {
    /// A task with a title.
    pub fn new(title: &str, created_by: &str) -> Self {
        Self { title: title.to_owned(), created_by: created_by.to_owned(), ..Self::default() }
    }
}

impl Tree {
    /// Creates a task.
    ///
    /// # Errors
    /// `dependency_not_found`, `dependency_cycle`, `task_ids_exhausted`, or what is wrong with the
    /// task.
    pub fn create(&self, new: NewTask) -> Result<TaskFile, Failure> {
        let project = self.project().to_owned();
        self.change(move |work| {
            let id = work.next_id()?;
            work.board().check_dependencies(id, &new.depends_on)?;
            let now = work.now();
            let status = if new.is_ready { Status::Ready } else { Status::Backlog };
            let priority = new.priority.unwrap_or(Priority::Normal);
            let mut routing = new.routing;
            routing.entry("tags").or_insert_with(|| json!([]));
            let mut members = object(json!({
                "schemaVersion": 1,
                "id": id.to_string(),
                "project": project,
                "title": new.title,
                "status": status.as_str(),
                "priority": priority.as_str(),
                "routing": routing,
                "createdAt": now.to_string(),
                "updatedAt": now.to_string(),
                "lastTransitionAt": now.to_string(),
                "createdBy": new.created_by,
            }));
            if let Some(parent) = new.parent {
                members.insert("parentId".into(), parent.to_string().into());
            }
            let needed: Vec<String> = new.depends_on.iter().map(ToString::to_string).collect();
            members.insert("dependsOn".into(), needed.into());
            members.insert("contentHash".into(), content_hash(new.body.trim()).into());
            members.insert("metadata".into(), Value::Object(new.metadata));
            let file = TaskFile::write(members, &new.body)
                .map_err(|error| super::message::invalid(&error.to_string()))?;
            let event = TaskEvent::new(kind::CREATED, &new.created_by, Some(id), now)
                .with("title", new.title)
                .with("priority", priority.as_str())
                .with("routing", Value::Object(routing));
            work.create(&file)?;
            work.event(event);
            Ok(file)
        })
    }
}
