//! A page of tasks.

use accord_base::excerpt::one_line;
use accord_base::tokens;
use accord_tasks_core::operations::{ListAnswer, TaskItem};

use super::{Lines, TITLE};

/// A list in Markdown, and how many of its tasks are in it. If that is fewer than all, the caller
/// asks for a shorter page, so that the cursor is right.
pub(crate) fn list(answer: &ListAnswer, budget: usize) -> (String, usize) {
    let mut lines = Lines::new(budget);
    let counts = answer.counts.iter().filter(|(_, count)| **count > 0);
    let counts: Vec<String> = counts.map(|(status, count)| format!("{status} {count}")).collect();
    let head = match answer.tasks.is_empty() {
        true => format!("No task of {} fits.", answer.project_id),
        false => format!("Tasks of {}: {} fit.", answer.project_id, answer.total),
    };
    lines.add(&format!("{head} In the tree: {}.", counts.join(", ")), 0);
    if !answer.damaged.is_empty() {
        let line = format!("{} tasks cannot be read; see aof lint.", answer.damaged.len());
        lines.add(&line, 0);
    }
    let tail = |hidden: u64| match &answer.next_cursor {
        Some(cursor) => format!("{hidden} more follow; pass cursor {cursor}"),
        None => format!("{hidden} more follow"),
    };
    let reserved = tokens(&tail(u64::MAX));
    let mut shown = 0;
    for task in &answer.tasks {
        if !lines.add(&format!("- {}", item(task)), reserved) {
            break;
        }
        shown += 1;
    }
    let hidden = answer.remaining + (answer.tasks.len() - shown) as u64;
    if hidden > 0 {
        lines.add(&tail(hidden), 0);
    }
    (lines.text, shown)
}

/// A task on one line.
pub(super) fn item(task: &TaskItem) -> String {
    let mut line = format!("{} {} {}", task.id, task.status, task.priority);
    line.push_str(&format!(": {}", one_line(&task.title, TITLE)));
    let mut about = Vec::new();
    match (&task.lease, &task.done_by, &task.agent) {
        (Some(lease), ..) => about.push(format!("held by {}", one_line(&lease.agent, 60))),
        (None, Some(agent), _) => about.push(format!("done by {}", one_line(agent, 60))),
        (None, None, Some(agent)) => about.push(format!("for {}", one_line(agent, 60))),
        (None, None, None) => {
            let role = task.role.iter().map(|role| format!("role {}", one_line(role, 60)));
            let team = task.team.iter().map(|team| format!("team {}", one_line(team, 60)));
            about.extend(role.chain(team));
        }
    }
    if let Some(due) = &task.due {
        let late = if task.overdue == Some(true) { "overdue since" } else { "due" };
        about.push(format!("{late} {}", one_line(due, 40)));
    }
    if let Some(waits) = task.waits_for.as_ref().filter(|waits| !waits.is_empty()) {
        let first = waits[0].id;
        about.push(match waits.len() {
            1 => format!("waits for {first}"),
            count => format!("waits for {first} and {} more", count - 1),
        });
    }
    if let Some(reason) = &task.block_reason {
        about.push(format!("blocked: {}", one_line(reason, TITLE)));
        about.extend(task.retry_at.as_ref().map(|at| format!("tried again at {at}")));
    }
    if !about.is_empty() {
        line.push_str(&format!(" ({})", about.join("; ")));
    }
    line
}
