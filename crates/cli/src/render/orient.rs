//! What a digest shows: questions, facts, and what was left out.

use accord_contract::wire::Value;

use super::page::{LINE, Page, Style, list};
use super::text::{clean, member, one_line};

/// Open questions, one per line.
pub(super) fn questions(page: &mut Page, questions: &Value) {
    let questions = list(questions);
    if questions.is_empty() {
        return;
    }
    section(page, "Open questions");
    for question in questions.iter().filter_map(Value::as_str) {
        page.line(format!("- {}", one_line(question, LINE)));
    }
}

/// Current facts, one per line.
pub(super) fn facts(page: &mut Page, facts: &Value) {
    if !list(facts).is_empty() {
        section(page, "Facts");
        super::facts(page, facts);
    }
}

/// A part with its heading.
pub(super) fn section(page: &mut Page, heading: &str) {
    page.gap();
    page.heading(heading);
}

/// What was left out, and why.
pub(super) fn left_out(page: &mut Page, bundle: &Value) {
    let left_out: Vec<_> = list(&bundle["x-left_out"])
        .iter()
        .map(|entry| {
            let what = member(entry, "member").replace('_', " ");
            let why = member(entry, "reason");
            match entry["count"].as_u64() {
                Some(count) => format!("{count} {what} ({why})"),
                None => format!("{what} ({why})"),
            }
        })
        .collect();
    if !left_out.is_empty() {
        page.gap();
        let more = format!("Left out: {}.", left_out.join(", "));
        page.line(page.styled(Style::Faint, &more));
    }
    for damaged in list(&bundle["x-integrity_warnings"]) {
        let id = match damaged.as_str() {
            Some(id) => clean(id),
            None => member(damaged, "package_id"),
        };
        let warning = format!("damaged and left out: {id}");
        page.line(page.styled(Style::Bad, &warning));
    }
}
