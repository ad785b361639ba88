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
        let answers = ids(&question["answered_by"]);
        let is_open = question["open"] == true;
        let (style, state) = match (is_open, answers.is_empty()) {
            (true, true) => (Style::Waiting, "open".to_owned()),
            (true, false) => (Style::Waiting, format!("open again after {answers}")),
            (false, _) => (Style::Good, format!("answered by {answers}")),
        };
        let asked = format!(
            "asked {} by {}",
            times.show(&question["asked_at"]),
            ids(&question["asked_by"])
        );
        page.pieces(&[page.styled(style, &state), asked]);
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
