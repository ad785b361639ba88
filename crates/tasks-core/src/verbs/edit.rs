//! Editing what a task says.

use accord_contract::wire::Names;
use accord_contract::{Failure, Field, Object, Value};
use serde_json::json;

use super::Subject;
use crate::Status;
use crate::event::{TaskEvent, kind};
use crate::observed::{CHECKS_OF, check_lists};
use crate::operations::EditRequest;
use crate::route::Routed;
use crate::task::{DUE, TaskFile, check_due, content_hash, with_comments_of, with_section};
use crate::yaml::Change;

/// Edits a task. One event names every member that changed, with both values.
pub fn edit(subject: &Subject<'_>, file: &TaskFile, edit: &EditRequest) -> Result<Routed, Failure> {
    subject.check_may_change()?;
    subject.check_open()?;
    if edit.review_required != Field::Absent || edit.review_by != Field::Absent {
        subject.by.check_person("change how a task is reviewed")?;
    }
    if let Field::Value(lists) = &edit.checks {
        check_lists(lists)?;
    }
    if let Field::Value(due) = &edit.due {
        check_due(due)?;
    }
    if edit.checks != Field::Absent {
        check_may_set_checks(subject)?;
    }
    let mut draft = Draft { members: file.members(), changes: Vec::new(), said: Object::new() };
    draft.set(&["title"], edit.title.as_deref().map(Value::from));
    draft.set(&["priority"], edit.priority.map(|priority| priority.as_str().into()));
    draft.field(&["routing", "agent"], &edit.agent);
    draft.field(&["routing", "role"], &edit.role);
    draft.field(&["routing", "team"], &edit.team);
    draft.set(&["routing", "tags"], edit.tags.clone().map(Value::from));
    draft.field(&["resource"], &edit.resource);
    draft.field(&["sla", "maxInProgressMs"], &edit.max_in_progress_ms);
    draft.name(&["sla", "onViolation"], &edit.on_violation);
    draft.field(&["metadata", "reviewRequired"], &edit.review_required);
    draft.name(&["metadata", "reviewBy"], &edit.review_by);
    draft.field(&["metadata", CHECKS_OF], &edit.checks);
    draft.field(&["metadata", DUE], &edit.due);
    let body = new_body(file, edit);
    let Draft { mut changes, mut said, .. } = draft;
    if let Some(body) = &body {
        let hashes = json!({"from": content_hash(file.body()), "to": content_hash(body.trim())});
        said.insert("body".into(), hashes);
    }
    if said.is_empty() {
        return Ok(Routed::default());
    }
    changes.push(Change::set(&["updatedAt"], subject.now.to_string()));
    let id = Some(subject.task.id);
    let event = TaskEvent::new(kind::UPDATED, subject.by.name(), id, subject.now)
        .with("changes", Value::Object(said));
    Ok(Routed { changes, body, events: vec![event], ..Routed::default() })
}

/// The author of a task sets its checks before an agent has it; a person always can.
fn check_may_set_checks(subject: &Subject<'_>) -> Result<(), Failure> {
    let (by, task) = (subject.by, subject.task);
    let is_author = !by.is_agent() || task.created_by == by.name();
    if is_author && !matches!(task.status, Status::InProgress | Status::Review) {
        return Ok(());
    }
    by.check_person("change the checks of a task that an agent works on or has done")
}

/// The body after an edit, if it changes.
fn new_body(file: &TaskFile, edit: &EditRequest) -> Option<String> {
    let mut body = match &edit.body {
        Some(body) => with_comments_of(body, file.body()),
        None => file.body().to_owned(),
    };
    for (heading, text) in [("Instructions", &edit.instructions), ("Guidance", &edit.guidance)] {
        if let Some(text) = text {
            body = with_section(&body, heading, text);
        }
    }
    (body.trim() != file.body()).then_some(body)
}

/// The changes of an edit, while they are gathered.
struct Draft<'a> {
    members: &'a Object,
    changes: Vec<Change>,
    /// What the event says: each member with both values.
    said: Object,
}

impl Draft<'_> {
    fn set(&mut self, path: &[&str], value: Option<Value>) {
        if let Some(value) = value {
            self.change(path, Some(value));
        }
    }

    fn field<T: Clone + Into<Value>>(&mut self, path: &[&str], field: &Field<T>) {
        match field {
            Field::Absent => {}
            Field::Null => self.change(path, None),
            Field::Value(value) => self.change(path, Some(value.clone().into())),
        }
    }

    fn name<N: Names>(&mut self, path: &[&str], field: &Field<N>) {
        match field {
            Field::Absent => {}
            Field::Null => self.change(path, None),
            Field::Value(name) => self.change(path, Some(name.as_str().into())),
        }
    }

    fn change(&mut self, path: &[&str], value: Option<Value>) {
        let (first, rest) = (path[0], &path[1..]);
        let mut old = self.members.get(first);
        for name in rest {
            old = old.and_then(|members| members.get(name));
        }
        if old == value.as_ref() {
            return;
        }
        let values = json!({"from": old, "to": value});
        self.said.insert(path.join("."), values);
        self.changes.push(match value {
            Some(value) => Change::set(path, value),
            None => Change::remove(path),
        });
    }
}
