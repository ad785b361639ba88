//! Editing what a task says.

use accord_contract::codes::Failure;
use accord_contract::wire::{Field, Object, Value};
use serde_json::json;

use super::Subject;
use crate::event::{TaskEvent, kind};
use crate::route::Routed;
use crate::task::{OnViolation, Priority, TaskFile, content_hash, with_section};
use crate::yaml::Change;

/// An edit. A member that is absent stays as it is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Edit {
    pub title: Option<String>,
    pub priority: Option<Priority>,
    pub agent: Field<String>,
    pub role: Field<String>,
    pub team: Field<String>,
    pub tags: Option<Vec<String>>,
    /// The whole body.
    pub body: Option<String>,
    pub sections: Vec<(&'static str, String)>,
    /// What it needs exclusively.
    pub resource: Field<String>,
    /// The longest time in progress.
    pub max_in_progress_ms: Field<u64>,
    /// What happens after that.
    pub on_violation: Field<OnViolation>,
    /// Whether finished work waits for a review.
    pub review_required: Field<bool>,
    pub review_by: Field<String>,
}

impl Edit {
    /// Whether it changes who decides about finished work.
    fn changes_review(&self) -> bool {
        self.review_required != Field::Absent || self.review_by != Field::Absent
    }
}

/// Edits a task. One event names every member that changed, with both values. Fails with
/// `unauthorized_agent`, `person_required`, `task_finished`.
pub fn edit(subject: &Subject<'_>, file: &TaskFile, edit: &Edit) -> Result<Routed, Failure> {
    subject.check_may_change()?;
    subject.check_open()?;
    if edit.changes_review() {
        subject.by.check_person("change how a task is reviewed")?;
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
    let action = match &edit.on_violation {
        Field::Value(action) => Field::Value(action.as_str().to_owned()),
        Field::Null => Field::Null,
        Field::Absent => Field::Absent,
    };
    draft.field(&["sla", "onViolation"], &action);
    draft.field(&["metadata", "reviewRequired"], &edit.review_required);
    draft.field(&["metadata", "reviewBy"], &edit.review_by);
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

/// The body after an edit, if it changes.
fn new_body(file: &TaskFile, edit: &Edit) -> Option<String> {
    let mut body = edit.body.clone().unwrap_or_else(|| file.body().to_owned());
    for (heading, text) in &edit.sections {
        body = with_section(&body, heading, text);
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
