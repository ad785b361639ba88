//! Compares derived rows with what they are derived from.

use std::collections::BTreeSet;

use accord_base::ProjectId;
use accord_memory_core::package::QuestionKey;

use super::questions::{audience, state_of};
use super::writes::{number, standing};
use super::{PackageRows, StoredQuestion, TermSample, links};
use crate::{DamagedRow, PackageIndex, PackageRow, Result, Table, time_key};

/// How many wrong questions are reported. With more, the problem is not single rows.
const NAMED: usize = 1_000;

/// How many terms of a package are looked up in the index. All of them would take too long.
const LOOKED_UP: usize = 8;

/// The `ask_key` of questions that were stored before packages answered questions.
const ASKED_BEFORE_ANSWERS: &str = "0";

/// The answer of [`Audit::check_index`](crate::Audit::check_index).
pub fn check_index(
    rows: &dyn PackageRows,
    row: &PackageRow,
    index: &PackageIndex,
) -> Result<Vec<DamagedRow>> {
    let wrong = |table, what: &str| {
        let (project_id, id) = (Some(row.project_id.clone()), row.package_id.as_str().to_owned());
        DamagedRow { table, project_id, id, what: what.to_owned() }
    };
    let mut found = Vec::new();
    if !has_questions(rows, row, index)? {
        let what = "the stored open questions of the package are not those in its text";
        found.push(wrong(Table::Question, what));
    }
    if !has_links(rows, row, index)? {
        let what = "the stored answers and superseded packages are not those in its text";
        found.push(wrong(Table::Link, what));
    }
    match rows.has_terms(&row.project_id, number(row), &TermSample::of(index))? {
        Some(true) => {}
        Some(false) => {
            let what = "the search index has other words of the package than its text";
            found.push(wrong(Table::Search, what));
        }
        None => found.push(wrong(Table::Search, "the package is not in the search index")),
    }
    Ok(found)
}

/// The questions of a project whose stored newest packages or answers are wrong.
pub fn wrong_questions(rows: &dyn PackageRows, project: &ProjectId) -> Result<Vec<DamagedRow>> {
    let mut found = Vec::new();
    rows.visit_questions(project, &mut |question| {
        let wrong = match question {
            Err(damaged) => Some(damaged),
            Ok(question) => wrong_question(rows, project, &question)?.map(|what| {
                let (project_id, what) = (Some(project.clone()), what.to_owned());
                DamagedRow { table: Table::Question, project_id, id: question.text, what }
            }),
        };
        if found.len() < NAMED {
            found.extend(wrong);
        }
        Ok(())
    })?;
    Ok(found)
}

impl<'a> TermSample<'a> {
    fn of(index: &'a PackageIndex) -> Self {
        let parts = index.terms().each_ref().map(|terms| terms.split_terminator(' '));
        let all: BTreeSet<&str> = parts.iter().flat_map(Clone::clone).collect();
        let lengths = parts.map(|terms| terms.count() as u64);
        let some = all.iter().step_by(all.len() / LOOKED_UP + 1);
        Self { lengths, terms: some.copied().collect() }
    }
}

/// Whether the stored questions of a package are those in its text.
fn has_questions(rows: &dyn PackageRows, row: &PackageRow, index: &PackageIndex) -> Result<bool> {
    let kept = rows.questions_of(&row.project_id, number(row))?;
    let asked: Vec<_> = index.distinct_questions().collect();
    if asked.is_empty() || asked.len() != kept.len() {
        return Ok(asked.len() == kept.len());
    }
    let (audience, asked_key) = (audience(row), time_key::of(row.created_at.time()));
    let ask_key = time_key::of(standing(rows, number(row), row)?.asked_at);
    let is_kept = |(known, used): &(StoredQuestion, super::QuestionUse), text: &str| {
        known.text == text
            && known.audience == audience
            && used.source.key == asked_key
            && used.source.id == row.package_id.as_str()
            && (used.ask_key == ask_key || used.ask_key == ASKED_BEFORE_ANSWERS)
    };
    // An unreadable question is not the expected one.
    let mut pairs = asked.into_iter().zip(&kept);
    Ok(pairs.all(|(asked, kept)| kept.as_ref().is_some_and(|kept| is_kept(kept, &asked.text))))
}

/// Whether the stored links of a package are those of its text.
fn has_links(rows: &dyn PackageRows, row: &PackageRow, index: &PackageIndex) -> Result<bool> {
    let (package, links) = (number(row), index.links());
    let standing = standing(rows, package, row)?;
    let answers = links::answers(rows, package, row, links, &standing)?;
    // An unreadable answer is not the expected one.
    let same = rows.answers_of(package)?.into_iter().eq(answers.into_iter().map(Some));
    let superseded: BTreeSet<_> = rows.supersessions_of(package)?.into_iter().collect();
    Ok(same && superseded == links::supersessions(package, row, links, &standing))
}

fn wrong_question(
    rows: &dyn PackageRows,
    project: &ProjectId,
    known: &StoredQuestion,
) -> Result<Option<&'static str>> {
    let Some(state) = state_of(rows, project, known)? else {
        return Ok(Some("no package asks it"));
    };
    let is_open = state.is_open;
    if known.state.is_open != is_open
        && state == (super::QuestionState { is_open, ..known.state.clone() })
    {
        return Ok(Some(if is_open { "it has no answer" } else { "it has an answer" }));
    }
    if known.state != state {
        return Ok(Some("its newest packages are others"));
    }
    let is_known = |found: &StoredQuestion| found.number == known.number;
    let by_text = rows.question(project, &known.audience, &known.text)?;
    let by_key = rows.questions_with_key(project, &QuestionKey::of(&known.text))?;
    let is_found = by_text.is_some_and(|found| is_known(&found)) && by_key.iter().any(is_known);
    Ok((!is_found).then_some("it cannot be found by its text"))
}
