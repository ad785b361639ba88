//! What changes of tasks say: new tasks, comments, dependencies, and why none was claimed.

use accord_tasks_core::operations as ops;
use accord_tasks_core::{Status, TaskId};

use super::counted;
use super::page::{LINE, Page, Style};
use super::task::{coloured, holder, titled, warnings};
use super::text::{clean, line, one_line};

/// What became of the tasks of a file.
pub(crate) fn created_tasks(page: &mut Page, answer: &ops::CreateManyAnswer, is_trial: bool) {
    for task in &answer.tasks {
        let (word, style) = match task.outcome {
            ops::NewTaskOutcome::Created => ("created", Style::Good),
            ops::NewTaskOutcome::WouldCreate => ("would create", Style::Title),
            ops::NewTaskOutcome::Exists => ("exists", Style::Faint),
        };
        let id = task.id.map(|id| format!("{id} ")).unwrap_or_default();
        let title = one_line(&task.title, LINE);
        let after = match task.depends_on.as_slice() {
            [] => String::new(),
            needs => format!(", after {}", clean(&needs.join(", "))),
        };
        let (word, status) = (page.styled(style, word), coloured(page, task.status));
        page.line(format!("{word} {id}{title} ({status}{after})"));
    }
    let created = if is_trial { "would be created" } else { "created" };
    page.line(format!("{} {created}, {} existed", answer.created, answer.existing));
}

pub(crate) fn commented_task(page: &mut Page, answer: &ops::TaskAnswer) {
    let id = titled(page, answer.task.id);
    let status = coloured(page, answer.task.status);
    page.line(match &answer.task.lease {
        Some(lease) => {
            format!("{id} has your comment ({status}); {} works on it", line(&lease.agent))
        }
        None => format!("{id} has your comment ({status})"),
    });
    warnings(page, &answer.warnings);
}

/// A task whose file was written again, or did not have to be.
pub(crate) fn undeleted_task(page: &mut Page, answer: &ops::TaskAnswer) {
    let id = titled(page, answer.task.id);
    let status = coloured(page, answer.task.status);
    page.line(match answer.changed.is_empty() {
        true => format!("{id} was not removed ({status})"),
        false => format!("{id} is back ({status})"),
    });
    warnings(page, &answer.warnings);
}

/// A dependency that was added, or was there before.
pub(crate) fn dependency_added(page: &mut Page, answer: &ops::TaskAnswer) {
    let id = titled(page, answer.task.id);
    let how = if answer.changed.is_empty() { "unchanged: it waits for" } else { "now waits for" };
    page.line(format!("{id} {how} {}", waited_for(&answer.task)));
    if answer.task.status == Status::Ready && !open_dependencies(&answer.task).is_empty() {
        let that = match open_dependencies(&answer.task).as_slice() {
            [_] => "that is",
            _ => "those are",
        };
        page.line(format!("it stays ready, and no agent gets it before {that} done"));
    }
    warnings(page, &answer.warnings);
}

pub(crate) fn dependency_removed(page: &mut Page, answer: &ops::TaskAnswer) {
    let id = titled(page, answer.task.id);
    let status = coloured(page, answer.task.status);
    page.line(match answer.task.depends_on.as_slice() {
        [] => format!("{id} now waits for nothing ({status})"),
        _ => format!("{id} now waits for {} ({status})", waited_for(&answer.task)),
    });
    warnings(page, &answer.warnings);
}

fn waited_for(task: &ops::TaskDetails) -> String {
    let shown = |other: &ops::DependencyView| {
        format!("{} ({})", other.id, other.status.map_or("missing", Status::as_str))
    };
    task.depends_on.iter().map(shown).collect::<Vec<_>>().join(", ")
}

fn open_dependencies(task: &ops::TaskDetails) -> Vec<TaskId> {
    let is_open = |other: &&ops::DependencyView| other.status != Some(Status::Done);
    task.depends_on.iter().filter(is_open).map(|other| other.id).collect()
}

pub(crate) fn nothing_claimed(page: &mut Page, answer: &ops::ClaimNextAnswer) {
    let why = match answer.reason.as_deref() {
        Some("none_fits") => "no ready task fits",
        Some("limit_reached") => "as many tasks are in progress as the project allows",
        Some("resource_busy") => "the resource of each ready task is in use",
        Some("left_to_others") => "the ready task is left to another agent first",
        _ => "no task is ready",
    };
    page.line(format!("{why} ({} ready)", answer.ready));
    for unfit in answer.unfit.as_deref().unwrap_or_default() {
        page.line(format!("{}{}", clean(&unfit.text()), option_for(unfit)));
    }
}

/// The ready tasks that a worker leaves, and whom they are for.
pub(crate) fn left_tasks(page: &mut Page, answer: &ops::ListAnswer) {
    for task in &answer.tasks {
        let whose = match holder(task) {
            none if none.is_empty() => String::new(),
            whose => format!(" {whose}"),
        };
        let waits = match task.waits_for.as_deref().unwrap_or_default() {
            [] => String::new(),
            [first, ..] => format!(", waits for {}", first.id),
        };
        let title = one_line(&task.title, LINE);
        page.line(format!("left {}{whose}{waits}: {title}", task.id));
    }
    if answer.remaining > 0 {
        page.line(format!("left {}", counted(answer.remaining, "more ready task")));
    }
}

/// The option with which an agent gets them, after a colon.
fn option_for(unfit: &ops::UnfitTasks) -> String {
    let option = |name: &str, value: &Option<String>| {
        let value = value.as_deref()?;
        Some(format!(" {name} {}", clean(&shell_words::quote(value))))
    };
    let named = match &unfit.agent {
        Some(_) => vec![option("--as", &unfit.agent)],
        None => vec![option("--role", &unfit.role), option("--team", &unfit.team)],
    };
    let named: String = named.into_iter().flatten().collect();
    if named.is_empty() { named } else { format!(":{named}") }
}
