//! Questions.

use accord_contract::wire::Value;

use super::page::{LINE, Page, Style, list};
use super::text::{clean, one_line};
use super::time::Times;

/// Questions with the packages that ask and answer them.
pub(crate) fn questions(page: &mut Page, questions: &Value) {
    let times = Times::of(list(questions), &["asked_at"]);
    for question in list(questions) {
        page.line(one_line(question["question"].as_str().unwrap_or_default(), LINE));
        let state = if question["open"] == true { Style::Waiting } else { Style::Good };
        let word = if question["open"] == true { "open" } else { "answered" };
        let line = [
            page.styled(state, word),
            format!(
                "asked {} by {}",
                times.show(&question["asked_at"]),
                ids(&question["asked_by"])
            ),
            match list(&question["answered_by"]) {
                [] => String::new(),
                _ if question["open"] == true => {
                    format!("again, after {}", ids(&question["answered_by"]))
                }
                _ => format!("by {}", ids(&question["answered_by"])),
            },
        ];
        page.pieces(&line);
    }
}

/// The first of several packages, and how many more there are.
fn ids(packages: &Value) -> String {
    let packages = list(packages);
    let first = clean(packages.first().and_then(Value::as_str).unwrap_or_default());
    match packages.len() {
        0 | 1 => first,
        more => format!("{first} and {} more", more - 1),
    }
}
