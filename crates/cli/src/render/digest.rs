//! The digest of one project or of all.

use accord_contract::wire::Value;

use super::counted;
use super::orient::{facts, left_out, questions, section};
use super::page::{LINE, Page, list};
use super::project;
use super::table::table;
use super::text::{clean, member, one_line};
use super::time::Times;

/// A digest.
pub(crate) fn digest(page: &mut Page, bundle: &Value) {
    if bundle["project"].is_object() {
        project(page, &bundle["project"]);
    }
    let window = bundle["window_days"].as_u64().unwrap_or_default();
    let summary = &bundle["summary"];
    let packages = summary["package_count"].as_u64().unwrap_or_default();
    let heading =
        format!("{} in the last {}", counted(packages, "package"), counted(window, "day"));
    section(page, &heading);
    let kinds = summary["by_type"].as_object().into_iter().flatten();
    let kinds: Vec<_> = kinds.map(|(kind, count)| format!("{count} {}", clean(kind))).collect();
    page.pieces(&[kinds.join(", ")]);
    let actors = list(&summary["by_actor"]).iter();
    let actors: Vec<_> = actors
        .map(|entry| format!("{} {}", super::text::actor(entry), entry["package_count"]))
        .collect();
    page.pieces(&[actors.join(", ")]);
    highlights(page, &summary["highlights"]);
    questions(page, &bundle["open_questions"]);
    facts(page, &bundle["active_facts"]);
    snippets(page, &bundle["snippets"]);
    if bundle["project"].is_null() {
        projects(page, &bundle["projects"]);
    }
    left_out(page, bundle);
}

fn highlights(page: &mut Page, highlights: &Value) {
    let times = Times::of(list(highlights), &["created_at"]);
    let rows: Vec<Vec<String>> = list(highlights)
        .iter()
        .map(|entry| {
            vec![
                member(entry, "significance"),
                times.show(&entry["created_at"]),
                member(entry, "package_id"),
                title(entry),
            ]
        })
        .collect();
    if !rows.is_empty() {
        section(page, "Highlights");
        table(page, &["WEIGHT", "MADE", "PACKAGE", "TITLE"], &rows);
    }
}

/// The title of a package, and what supersedes it.
fn title(entry: &Value) -> String {
    let title = one_line(entry["title"].as_str().unwrap_or_default(), LINE);
    match list(&entry["superseded_by"]).first().and_then(Value::as_str) {
        Some(by) => format!("{title} (superseded by {})", clean(by)),
        None => title,
    }
}

fn snippets(page: &mut Page, snippets: &Value) {
    if list(snippets).is_empty() {
        return;
    }
    section(page, "In focus");
    for snippet in list(snippets) {
        page.pieces(&[member(snippet, "package_id"), member(snippet, "field")]);
        page.labelled_whole("", snippet["text"].as_str().unwrap_or_default());
    }
}

fn projects(page: &mut Page, projects: &Value) {
    let rows: Vec<Vec<String>> = list(projects)
        .iter()
        .map(|entry| {
            ["project_id", "package_count", "open_question_count", "awaiting_review_count"]
                .map(|name| member(entry, name))
                .to_vec()
        })
        .collect();
    if !rows.is_empty() {
        section(page, "Projects");
        table(page, &["PROJECT", "PACKAGES", "QUESTIONS", "TO REVIEW"], &rows);
    }
}
