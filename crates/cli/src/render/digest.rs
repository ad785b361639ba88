//! The digest of one project or of all.

use accord_memory_core::operations::{DigestBundle, DigestHighlight, DigestProject, DigestSnippet};

use super::counted;
use super::orient::{facts, left_out, questions, section};
use super::page::{LINE, Page};
use super::project;
use super::table::table;
use super::text::{clean, line, one_line};
use super::time::Times;

pub(crate) fn digest(page: &mut Page, bundle: &DigestBundle) {
    if let Some(about) = &bundle.project {
        project(page, about);
    }
    let summary = &bundle.summary;
    let packages = counted(summary.package_count, "package");
    section(page, &format!("{packages} in the last {}", counted(bundle.window_days, "day")));
    let kinds = summary.by_type.iter().map(|(kind, count)| format!("{count} {}", clean(kind)));
    page.pieces(&[kinds.collect::<Vec<_>>().join(", ")]);
    let actors = summary.by_actor.iter().map(|entry| {
        let actor = line(&format!("{}:{}", entry.kind, entry.id));
        format!("{actor} {}", entry.package_count)
    });
    page.pieces(&[actors.collect::<Vec<_>>().join(", ")]);
    highlights(page, &summary.highlights);
    questions(page, &bundle.open_questions);
    facts(page, &bundle.active_facts);
    snippets(page, &bundle.snippets);
    if bundle.project.is_none() {
        projects(page, &bundle.projects);
    }
    left_out(page, bundle);
}

fn highlights(page: &mut Page, highlights: &[DigestHighlight]) {
    let times = Times::of_times(highlights.iter().map(|entry| Some(&entry.created_at)));
    let rows = highlights.iter().map(|entry| {
        vec![
            entry.significance.to_string(),
            times.at(Some(&entry.created_at)),
            line(entry.package_id.as_str()),
            title(entry),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        section(page, "Highlights");
        table(page, &["WEIGHT", "MADE", "PACKAGE", "TITLE"], &rows);
    }
}

/// The title of a package, and what supersedes it.
fn title(entry: &DigestHighlight) -> String {
    let title = one_line(&entry.title, LINE);
    match entry.superseded_by.iter().flatten().next() {
        Some(by) => format!("{title} (superseded by {})", clean(by.as_str())),
        None => title,
    }
}

fn snippets(page: &mut Page, snippets: &[DigestSnippet]) {
    if snippets.is_empty() {
        return;
    }
    section(page, "In focus");
    for snippet in snippets {
        page.pieces(&[line(snippet.package_id.as_str()), line(&snippet.field)]);
        page.labelled_whole("", &snippet.text);
    }
}

fn projects(page: &mut Page, projects: &[DigestProject]) {
    let rows = projects.iter().map(|entry| {
        vec![
            line(entry.project_id.as_str()),
            entry.package_count.to_string(),
            entry.open_question_count.to_string(),
            entry.awaiting_review_count.to_string(),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        section(page, "Projects");
        table(page, &["PROJECT", "PACKAGES", "QUESTIONS", "TO REVIEW"], &rows);
    }
}
