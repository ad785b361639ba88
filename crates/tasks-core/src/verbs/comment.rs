//! What people and agents say about a task.

use super::Subject;
use crate::event::{TaskEvent, kind};
use crate::route::Routed;
use crate::task::{TaskFile, with_comment};
use crate::yaml::Change;

/// Adds a comment. Everybody can, to every task: it decides nothing.
pub fn comment(subject: &Subject<'_>, file: &TaskFile, text: &str) -> Routed {
    let (by, now) = (subject.by.name(), subject.now);
    let event = TaskEvent::new(kind::COMMENTED, by, Some(subject.task.id), now);
    Routed {
        changes: vec![Change::set(&["updatedAt"], now.to_string())],
        body: Some(with_comment(file.body(), by, text, now)),
        events: vec![event.with("text", text.trim()).with("door", subject.by.door.as_str())],
        ..Routed::default()
    }
}
