//! Projects.

use accord_memory_core::Project;
use accord_memory_core::operations::RemovedProjectEnvelope;

use super::page::{LINE, Page, Style};
use super::table::table;
use super::text::{clean, counts_of, line, one_line};
use super::time::Times;

pub(crate) fn projects(page: &mut Page, projects: &[Project]) {
    let times = projects.iter().flat_map(|it| [Some(&it.created_at), it.archived_at.as_ref()]);
    let times = Times::of_times(times);
    let rows: Vec<Vec<String>> = projects.iter().map(|each| row(each, times)).collect();
    table(page, &["PROJECT", "NAME", "SINCE", "ARCHIVED"], &rows);
}

pub(crate) fn project(page: &mut Page, project: &Project) {
    page.heading(&line(project.name.as_str()));
    let times = Times::default();
    let archived = times.at(project.archived_at.as_ref());
    let pieces = [
        line(project.project_id.as_str()),
        format!("since {}", times.at(Some(&project.created_at))),
        match archived.as_str() {
            "" => archived,
            _ => page.styled(Style::Waiting, &format!("archived {archived}")),
        },
    ];
    page.pieces(&pieces);
    if !project.description.is_empty() {
        page.labelled_whole("about", &project.description);
    }
}

/// A project that was removed, with what it held.
pub(crate) fn removed_project(page: &mut Page, answer: &RemovedProjectEnvelope) {
    let removed = &answer.removed;
    let counts = counts_of([
        (removed.packages, "package"),
        (removed.facts, "fact"),
        (removed.sessions, "session"),
        (removed.blobs, "blob"),
        (removed.tasks.unwrap_or(0), "task"),
        (removed.live_sessions.unwrap_or(0), "live session"),
        (removed.decisions.unwrap_or(0), "decision"),
    ]);
    let held = if counts.is_empty() { "empty" } else { &counts };
    page.line(clean(&format!("removed {}: {held}", answer.project_id.as_str())));
}

fn row(project: &Project, times: Times) -> Vec<String> {
    vec![
        line(project.project_id.as_str()),
        one_line(project.name.as_str(), LINE),
        times.at(Some(&project.created_at)),
        times.at(project.archived_at.as_ref()),
    ]
}
