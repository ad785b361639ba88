//! Questions.

use accord_memory_core::PackageId;
use accord_memory_core::operations::Question;

use super::page::{LINE, Page, Style};
use super::text::{clean, one_line};
use super::time::Times;

/// Questions with the packages that ask and answer them.
pub(crate) fn questions(page: &mut Page, questions: &[Question]) {
    let times = Times::of_times(questions.iter().map(|question| Some(&question.asked_at)));
    for question in questions {
        page.line(one_line(&question.question, LINE));
        let answers = ids(&question.answered_by);
        let (style, state) = match (question.open, answers.is_empty()) {
            (true, true) => (Style::Waiting, "open".to_owned()),
            (true, false) => (Style::Waiting, format!("open again after {answers}")),
            (false, _) => (Style::Good, format!("answered by {answers}")),
        };
        let asked = times.at(Some(&question.asked_at));
        let asked = format!("asked {asked} by {}", ids(&question.asked_by));
        page.pieces(&[page.styled(style, &state), asked]);
    }
}

/// The first of several packages, and how many more there are.
fn ids(packages: &[PackageId]) -> String {
    let first = packages.first().map(|id| clean(id.as_str())).unwrap_or_default();
    match packages.len() {
        0 | 1 => first,
        more => format!("{first} and {} more", more - 1),
    }
}
