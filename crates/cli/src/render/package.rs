//! Packages.

use accord_contract::wire::Value;

use super::page::{LINE, Page, Style, list};
use super::text::{actor, clean, member, one_line};
use super::time::Times;

/// How many decisions and questions of a package a list shows.
const FEW: usize = 3;

/// Members that are printed elsewhere, or that are not for people.
const PLACED: [&str; 22] = [
    "package_id",
    "project_id",
    "relay_version",
    "title",
    "status",
    "package_type",
    "review_type",
    "created_at",
    "created_by",
    "description",
    "tags",
    "decisions_made",
    "open_questions",
    "handoff_note",
    "estimated_next_actor",
    "deliverables",
    "parent_package_id",
    "significance",
    "content_md",
    "topic",
    "artifact_type",
    "content_hash",
];

/// The packages of a document, a few lines each, with the marks of superseded ones.
pub(crate) fn packages(page: &mut Page, document: &Value) {
    let packages = list(&document["packages"]);
    let times = Times::of(packages, &["created_at"]);
    for package in packages {
        page.gap();
        brief_in(page, package, times);
        mark(page, package, &document["x-superseded"]);
    }
}

/// Says which packages supersede a package, if any does.
pub(super) fn mark(page: &mut Page, package: &Value, superseded: &Value) {
    let id = package["package_id"].as_str().unwrap_or_default();
    let by: Vec<_> = list(&superseded[id]).iter().filter_map(Value::as_str).map(clean).collect();
    if !by.is_empty() {
        page.line(page.styled(Style::Bad, &format!("  superseded by {}", by.join(", "))));
    }
}

/// A package in a few lines.
pub(crate) fn brief(page: &mut Page, package: &Value) {
    brief_in(page, package, Times::default());
}

/// The same in a list with these times.
pub(super) fn brief_in(page: &mut Page, package: &Value, times: Times) {
    head(page, package, times);
    page.labelled_list("decided", &package["decisions_made"], FEW);
    page.labelled_list("asks", &package["open_questions"], FEW);
    if let Some(note) = text(package, "handoff_note") {
        page.labelled("handoff", note);
    }
}

/// A package with everything in it.
pub(crate) fn whole(page: &mut Page, package: &Value) {
    head(page, package, Times::default());
    for (label, name) in [
        ("project", "project_id"),
        ("hash", "content_hash"),
        ("parent", "parent_package_id"),
        ("next", "estimated_next_actor"),
        ("kind", "artifact_type"),
    ] {
        if let Some(text) = text(package, name) {
            page.labelled_whole(label, text);
        }
    }
    if let Some(session) = text(&package["created_by"], "session_id") {
        page.labelled_whole("session", session);
    }
    if let Some(description) = text(package, "description") {
        page.labelled_whole("about", description);
    }
    page.labelled_list("decided", &package["decisions_made"], usize::MAX);
    page.labelled_list("asks", &package["open_questions"], usize::MAX);
    if let Some(note) = text(package, "handoff_note") {
        page.labelled_whole("handoff", note);
    }
    for deliverable in list(&package["deliverables"]) {
        page.labelled("file", &file(deliverable));
    }
    let others = package.as_object().into_iter().flatten();
    for (name, value) in others.filter(|(name, _)| !PLACED.contains(&name.as_str())) {
        page.line(format!("  {} {}", clean(name), one_line(&value.to_string(), LINE)));
    }
    if let Some(body) = text(package, "content_md") {
        page.gap();
        for line in body.lines() {
            page.line(clean(line));
        }
    }
}

/// The revisions of a package.
pub(crate) fn revisions(page: &mut Page, revisions: &Value) {
    let times = Times::of(list(revisions), &["at"]);
    for revision in list(revisions) {
        let status = member(revision, "status");
        let by = actor(&revision["actor"]);
        let line = [
            times.show(&revision["at"]),
            page.styled(style_of(&status), &status),
            review(revision),
            by,
        ];
        page.pieces(&line);
        if let Some(note) = text(revision, "note") {
            page.labelled_whole("note", note);
        }
    }
}

fn head(page: &mut Page, package: &Value, times: Times) {
    page.heading(&member(package, "title"));
    let status = member(package, "status");
    let tags = list(&package["tags"]).iter().filter_map(Value::as_str);
    let tags: Vec<_> = tags.map(|tag| format!("#{}", one_line(tag, LINE))).collect();
    let significance = package["significance"].as_u64();
    let first = [
        member(package, "package_id"),
        times.show(&package["created_at"]),
        actor(&package["created_by"]),
    ];
    page.pieces(&first);
    let second = [
        page.styled(style_of(&status), &status),
        review(package),
        member(package, "package_type"),
        significance.map_or(String::new(), |number| format!("significance {number}")),
        member(package, "topic"),
        tags.join(" "),
    ];
    page.pieces(&second);
}

fn review(document: &Value) -> String {
    match document["review_type"].as_str() {
        Some("none") | None => String::new(),
        Some(by) => format!("review by {}", clean(by)),
    }
}

fn file(deliverable: &Value) -> String {
    let size = deliverable["size_bytes"].as_u64();
    let pieces = [
        member(deliverable, "path"),
        member(deliverable, "type"),
        size.map_or(String::new(), |bytes| format!("{bytes} bytes")),
        member(deliverable, "hash"),
    ];
    let pieces: Vec<_> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
    pieces.join("  ")
}

fn style_of(status: &str) -> Style {
    match status {
        "complete" => Style::Good,
        "awaiting_review" => Style::Waiting,
        "revision_requested" => Style::Bad,
        _ => Style::Faint,
    }
}

/// A text member that is not blank.
fn text<'a>(document: &'a Value, name: &str) -> Option<&'a str> {
    document[name].as_str().filter(|text| !text.trim().is_empty())
}
