//! What a digest shows: questions, facts, and what was left out.

use accord_memory_core::Fact;
use accord_memory_core::operations::DigestBundle;

use super::page::{LINE, Page, Style};
use super::text::{clean, one_line};

pub(super) fn questions(page: &mut Page, questions: &[String]) {
    if questions.is_empty() {
        return;
    }
    section(page, "Open questions");
    for question in questions {
        page.line(format!("- {}", one_line(question, LINE)));
    }
}

pub(super) fn facts(page: &mut Page, facts: &[Fact]) {
    if !facts.is_empty() {
        section(page, "Facts");
        super::facts(page, facts);
    }
}

/// A part with its heading.
pub(super) fn section(page: &mut Page, heading: &str) {
    page.gap();
    page.heading(heading);
}

pub(super) fn left_out(page: &mut Page, bundle: &DigestBundle) {
    let left_out = bundle.left_out().into_iter().map(|items| {
        let what = clean(&items.member).replace('_', " ");
        let count = items.count.map(|count| format!("{count} ")).unwrap_or_default();
        format!("{count}{what} ({})", clean(&items.reason))
    });
    let left_out: Vec<String> = left_out.collect();
    if !left_out.is_empty() {
        page.gap();
        let more = format!("Left out: {}.", left_out.join(", "));
        page.line(page.styled(Style::Faint, &more));
    }
    for id in bundle.damaged() {
        let warning = format!("damaged and left out: {}", clean(&id));
        page.line(page.styled(Style::Bad, &warning));
    }
}
