//! Projects.

use accord_contract::wire::Value;

use super::page::{LINE, Page, Style, list};
use super::table::table;
use super::text::{member, moment, one_line};

/// Projects, one per line.
pub(crate) fn projects(page: &mut Page, projects: &Value) {
    let rows: Vec<Vec<String>> = list(projects).iter().map(row).collect();
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

fn row(project: &Value) -> Vec<String> {
    vec![
        member(project, "project_id"),
        one_line(project["name"].as_str().unwrap_or_default(), LINE),
        moment(&project["created_at"]),
        moment(&project["archived_at"]),
    ]
}
