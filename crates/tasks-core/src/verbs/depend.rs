//! What a task waits for.

use accord_contract::{Code, Failure};

use super::Subject;
use crate::board::Board;
use crate::event::{TaskEvent, kind};
use crate::route::Routed;
use crate::yaml::Change;
use crate::{Status, TaskId};

/// Makes a task wait for another one. A dependency that exists changes nothing.
pub fn add_dependency(subject: &Subject<'_>, board: &Board, on: TaskId) -> Result<Routed, Failure> {
    check(subject)?;
    let mut needed = subject.task.dependencies().to_vec();
    if needed.contains(&on) {
        return Ok(Routed::default());
    }
    needed.push(on);
    board.check_dependencies(subject.task.id, &needed)?;
    Ok(changed(subject, &needed, kind::DEPENDENCY_ADDED, on))
}

/// Makes a task wait no more for another one. An agent ends a wait for unfinished work only in a
/// task that it created: the wait may be one for the approval of its own work.
pub fn remove_dependency(
    subject: &Subject<'_>,
    board: &Board,
    blocker: TaskId,
) -> Result<Routed, Failure> {
    check(subject)?;
    let is_met = board.status(blocker) == Some(Status::Done);
    if subject.by.is_agent() && subject.task.created_by != subject.by.name() && !is_met {
        subject.by.check_person("end a wait for a task that is not done")?;
    }
    let mut needed = subject.task.dependencies().to_vec();
    if !needed.contains(&blocker) {
        let message = format!("{} does not wait for {blocker}", subject.task.id);
        return Err(Failure::new(Code::AofDependencyNotFound, message));
    }
    needed.retain(|id| *id != blocker);
    Ok(changed(subject, &needed, kind::DEPENDENCY_REMOVED, blocker))
}

fn check(subject: &Subject<'_>) -> Result<(), Failure> {
    subject.check_may_change()?;
    subject.check_open()
}

fn changed(subject: &Subject<'_>, needs: &[TaskId], kind: &'static str, blocker: TaskId) -> Routed {
    let needs: Vec<String> = needs.iter().map(ToString::to_string).collect();
    let id = subject.task.id;
    let event = TaskEvent::new(kind, subject.by.name(), Some(id), subject.now)
        .with("taskId", id.to_string())
        .with("blockerId", blocker.to_string());
    Routed {
        changes: vec![
            Change::set(&["dependsOn"], needs),
            Change::set(&["updatedAt"], subject.now.to_string()),
        ],
        events: vec![event],
        ..Routed::default()
    }
}
