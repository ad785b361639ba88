//! Packages.

use accord_contract::Wire as _;
use accord_memory_core::PackageId;
use accord_memory_core::lifecycle::Revision;
use accord_memory_core::operations::PackageList;
use accord_memory_core::package::{Deliverable, PackageFields, ReviewType, Status};

use super::page::{LINE, Page, Style};
use super::text::{actor_key, clean, line, one_line};
use super::time::Times;

/// How many decisions and questions of a package a list shows.
const FEW: usize = 3;

/// A page of packages, a few lines each, with the marks of superseded ones.
pub(crate) fn packages(page: &mut Page, list: &PackageList) {
    let times = Times::of_times(list.packages.iter().map(|package| Some(&package.created_at)));
    for package in &list.packages {
        page.gap();
        head(page, package, times);
        // Above what it says, which no longer holds.
        let marks = list.superseded.as_ref();
        mark(page, marks.and_then(|marks| marks.get(package.package_id.as_str())));
        let reviews = list.reviews.as_ref();
        if let Some(review) = reviews.and_then(|it| it.get(package.package_id.as_str())) {
            review_note(page, review);
        }
        rest(page, package);
    }
}

/// The review in a header.
pub(crate) fn review_of(json: &str) -> Option<Revision> {
    Revision::from_document(serde_json::from_str(json).ok()?).ok()
}

/// What a reviewer wrote about a package.
pub(crate) fn review_note(page: &mut Page, review: &Revision) {
    page.labelled_whole("review", &review_line(review));
}

pub(crate) fn review_line(review: &Revision) -> String {
    let by = review.actor.as_ref().map(actor_key).unwrap_or_default();
    let note = review.note.as_deref().unwrap_or_default();
    format!("{by}, {}: {note}", review.status)
}

/// Says which packages supersede a package, if any does.
fn mark(page: &mut Page, superseded_by: Option<&Vec<PackageId>>) {
    let by: Vec<_> = superseded_by.into_iter().flatten().map(|id| clean(id.as_str())).collect();
    if !by.is_empty() {
        page.line(page.styled(Style::Bad, &format!("  superseded by {}", by.join(", "))));
    }
}

/// A package in a few lines.
pub(crate) fn brief(page: &mut Page, package: &PackageFields) {
    head(page, package, Times::default());
    rest(page, package);
}

/// What a list shows of a package below its head.
fn rest(page: &mut Page, package: &PackageFields) {
    page.labelled_texts("decided", &texts(package.decisions_made()), FEW);
    page.labelled_texts("asks", &texts(package.open_questions()), FEW);
    if let Some(note) = filled(package.handoff_note()) {
        page.labelled("handoff", note);
    }
}

pub(crate) fn whole(page: &mut Page, package: &PackageFields) {
    head(page, package, Times::default());
    let hash = package.stated_hash().map(|hash| hash.to_string());
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    let next = package.estimated_next_actor.value();
    for (label, text) in [
        ("project", package.project_id.to_string()),
        ("hash", hash.unwrap_or_default()),
        ("parent", text(package.parent_package_id.value())),
        ("next", next.map(|next| next.as_str().to_owned()).unwrap_or_default()),
        ("kind", text(package.artifact_type.value())),
        ("session", package.created_by.session().map(ToString::to_string).unwrap_or_default()),
        ("about", package.description().to_owned()),
    ] {
        if let Some(text) = filled(&text) {
            page.labelled_whole(label, text);
        }
    }
    page.labelled_texts("decided", &texts(package.decisions_made()), usize::MAX);
    page.labelled_texts("asks", &texts(package.open_questions()), usize::MAX);
    if let Some(note) = filled(package.handoff_note()) {
        page.labelled_whole("handoff", note);
    }
    for deliverable in package.deliverables() {
        page.labelled("file", &file(deliverable));
    }
    if let Some(path) = package.storage_path.value() {
        page.line(format!("  storage_path {}", one_line(path, LINE)));
    }
    for (name, value) in package.own_members() {
        page.line(format!("  {} {}", clean(name), one_line(&value.to_string(), LINE)));
    }
    if let Some(body) = filled(package.content_md()) {
        page.gap();
        for line in body.lines() {
            page.line(clean(line));
        }
    }
}

pub(crate) fn revisions(page: &mut Page, revisions: &[Revision]) {
    let times = Times::of_times(revisions.iter().map(|revision| Some(&revision.at)));
    for revision in revisions {
        let line = [
            times.at(Some(&revision.at)),
            status(page, revision.status),
            review(revision.review_type),
            revision.actor.as_ref().map(actor_key).unwrap_or_default(),
        ];
        page.pieces(&line);
        if let Some(note) = revision.note.as_deref().and_then(filled) {
            page.labelled_whole("note", note);
        }
    }
}

fn head(page: &mut Page, package: &PackageFields, times: Times) {
    page.heading(&line(package.title.as_str()));
    let tags = package.tags().iter().map(|tag| format!("#{}", one_line(tag, LINE)));
    let tags: Vec<_> = tags.collect();
    let first = [
        line(package.package_id.as_str()),
        times.at(Some(&package.created_at)),
        actor_key(&package.created_by),
    ];
    page.pieces(&first);
    let significance = package.significance.value();
    let second = [
        status(page, package.status),
        review(package.review_type),
        line(package.package_type.as_str()),
        significance.map_or(String::new(), |given| format!("significance {}", given.number())),
        package.topic().map(line).unwrap_or_default(),
        tags.join(" "),
    ];
    page.pieces(&second);
}

fn review(by: ReviewType) -> String {
    match by {
        ReviewType::None => String::new(),
        by => format!("review by {by}"),
    }
}

fn file(deliverable: &Deliverable) -> String {
    let size = deliverable.size_bytes.value();
    let pieces = [
        line(&deliverable.path),
        line(&deliverable.kind),
        size.map_or(String::new(), |bytes| format!("{bytes} bytes")),
        deliverable.hash.value().map(|hash| line(hash)).unwrap_or_default(),
    ];
    let pieces: Vec<_> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
    pieces.join("  ")
}

fn status(page: &Page, status: Status) -> String {
    let style = match status {
        Status::Complete => Style::Good,
        Status::AwaitingReview => Style::Waiting,
        Status::RevisionRequested => Style::Bad,
        Status::Draft => Style::Faint,
    };
    page.styled(style, status.as_str())
}

fn texts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// A text that is not blank.
fn filled(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.trim().is_empty())
}
