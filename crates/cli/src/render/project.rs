//! Projects.

use accord_contract::wire::Value;
use accord_memory_core::operations::RemovedProjectEnvelope;

use super::counted;
use super::page::{LINE, Page, Style, list};
use super::table::table;
use super::text::{clean, member, one_line};
use super::time::{Times, moment};

/// Projects, one per line.
pub(crate) fn projects(page: &mut Page, projects: &Value) {
    let times = Times::of(list(projects), &["created_at", "archived_at"]);
    let rows: Vec<Vec<String>> = list(projects).iter().map(|each| row(each, times)).collect();
    if !rows.is_empty() {
        table(page, &["PROJECT", "NAME", "SINCE", "ARCHIVED"], &rows);
    }
}

/// One project.
pub(crate) fn project(page: &mut Page, project: &Value) {
    page.heading(&member(project, "name"));
    let archived = moment(&project["archived_at"]);
    let pieces = [
        member(project, "project_id"),
        format!("since {}", moment(&project["created_at"])),
        match archived.as_str() {
            "" => archived,
            _ => page.styled(Style::Waiting, &format!("archived {archived}")),
        },
    ];
    page.pieces(&pieces);
    let about = project["description"].as_str().unwrap_or_default();
    if !about.is_empty() {
        page.labelled_whole("about", about);
    }
}

/// A project that was removed, with what it held.
pub(crate) fn removed_project(page: &mut Page, answer: &RemovedProjectEnvelope) {
    let removed = &answer.removed;
    let counts = [
        (removed.packages, "package"),
        (removed.facts, "fact"),
        (removed.sessions, "session"),
        (removed.blobs, "blob"),
        (removed.tasks.unwrap_or(0), "task"),
        (removed.live_sessions.unwrap_or(0), "live session"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, kind)| counted(count, kind)).collect();
    let held = if counts.is_empty() { "empty".to_owned() } else { counts.join(", ") };
    page.line(clean(&format!("removed {}: {held}", answer.project_id.as_str())));
}

fn row(project: &Value, times: Times) -> Vec<String> {
    vec![
        member(project, "project_id"),
        one_line(project["name"].as_str().unwrap_or_default(), LINE),
        times.show(&project["created_at"]),
        times.show(&project["archived_at"]),
    ]
}
