//! What packages answer and supersede, and until when a question is answered.

use std::collections::BTreeSet;

use accord_base::ProjectId;
use accord_memory_core::lifecycle::Standing;
use accord_memory_core::package::{AnswerLink, Links, QuestionKey};

use super::questions::review;
use super::writes::standing;
use super::{AnswerRow, PackageRows, SupersessionRow};
use crate::{PackageRow, Result, time_key};

impl AnswerRow {
    /// The same answer, given until a key; empty if it does not hold.
    fn given(self, until: &str) -> Self {
        let through = if until.is_empty() { "" } else { until.max(self.asked_key.as_str()) };
        Self { through: through.to_owned(), until: until.to_owned(), ..self }
    }
}

/// Adds what a package answers and supersedes, when the package itself is stored already.
pub fn add_links(
    rows: &mut dyn PackageRows,
    package: i64,
    row: &PackageRow,
    links: &Links,
) -> Result<()> {
    let standing = standing(rows, package, row)?;
    add(rows, package, row, links, &standing)
}

/// Adds what a package answers and supersedes.
pub(super) fn add(
    rows: &mut dyn PackageRows,
    package: i64,
    row: &PackageRow,
    links: &Links,
    standing: &Standing,
) -> Result<()> {
    let project = &row.project_id;
    let answers = answers(rows, package, row, links, standing)?;
    for answer in &answers {
        rows.put_answer(project, answer)?;
    }
    for superseded in supersessions(package, row, links, standing) {
        rows.put_supersession(project, &superseded)?;
    }
    review(rows, project, questions(&answers))
}

/// Removes what a package answers and supersedes.
pub(super) fn remove(rows: &mut dyn PackageRows, project: &ProjectId, package: i64) -> Result<()> {
    let answers = readable_answers(rows, package)?;
    rows.delete_links(package)?;
    review(rows, project, questions(&answers))
}

/// Updates what a package answers and supersedes after its state changed.
pub(super) fn update(rows: &mut dyn PackageRows, package: i64, row: &PackageRow) -> Result<()> {
    let answers = readable_answers(rows, package)?;
    let superseded = rows.supersessions_of(package)?;
    if answers.is_empty() && superseded.is_empty() {
        return Ok(());
    }
    let standing = standing(rows, package, row)?;
    let (project, until) = (&row.project_id, until(row, &standing));
    let answers: Vec<AnswerRow> = answers.into_iter().map(|it| it.given(&until)).collect();
    for answer in &answers {
        rows.put_answer(project, answer)?;
    }
    for known in superseded {
        rows.put_supersession(project, &supersession(package, row, known.target, &standing))?;
    }
    review(rows, project, questions(&answers))
}

/// Completes the answers that name a package, whose questions have just been stored.
pub(super) fn resolve(rows: &mut dyn PackageRows, row: &PackageRow) -> Result<()> {
    let project = &row.project_id;
    let mut questions = BTreeSet::new();
    for before in rows.answers_naming(project, row.package_id.as_str())? {
        questions.extend(before.question);
        let until = before.until.clone();
        let answer = asked(rows, project, before)?.given(&until);
        questions.extend(answer.question);
        rows.put_answer(project, &answer)?;
    }
    review(rows, project, questions)
}

/// The answers of a package, from its links.
pub(super) fn answers(
    rows: &dyn PackageRows,
    package: i64,
    row: &PackageRow,
    links: &Links,
    standing: &Standing,
) -> Result<Vec<AnswerRow>> {
    let until = until(row, standing);
    let mut answers = Vec::with_capacity(links.answers.len());
    for (link, ordinal) in links.answers.iter().zip(0..) {
        let answer = AnswerRow {
            package,
            ordinal,
            asked: None,
            question: None,
            asked_key: String::new(),
            until: String::new(),
            through: String::new(),
        };
        let answer = match link {
            AnswerLink::Question(key) => AnswerRow { question: Some(*key), ..answer },
            AnswerLink::Asked { package_id, index } => {
                let named = Some((package_id.as_str().to_owned(), i64::from(*index)));
                asked(rows, &row.project_id, AnswerRow { asked: named, ..answer })?
            }
        };
        answers.push(answer.given(&until));
    }
    Ok(answers)
}

/// What a package supersedes, from its links.
pub(super) fn supersessions(
    package: i64,
    row: &PackageRow,
    links: &Links,
    standing: &Standing,
) -> BTreeSet<SupersessionRow> {
    let targets = links.supersedes.iter().map(|target| target.as_str().to_owned());
    targets.map(|target| supersession(package, row, target, standing)).collect()
}

fn supersession(by: i64, row: &PackageRow, target: String, standing: &Standing) -> SupersessionRow {
    let (holds, outranks) = (holds(row, standing), standing.outranks_people);
    SupersessionRow { package: by, target, holds, outranks }
}

/// The answer with the question that its named package asks, as far as that is known.
fn asked(rows: &dyn PackageRows, project: &ProjectId, answer: AnswerRow) -> Result<AnswerRow> {
    let found = match &answer.asked {
        Some((package_id, index)) => rows.asked_question(project, package_id, *index)?,
        None => None,
    };
    let question = found.as_ref().map(|asked| QuestionKey::of(&asked.text));
    let asked_key = found.map(|asked| asked.ask_key).unwrap_or_default();
    Ok(AnswerRow { question, asked_key, ..answer })
}

/// Unreadable answers are left to a verification.
fn readable_answers(rows: &dyn PackageRows, package: i64) -> Result<Vec<AnswerRow>> {
    Ok(rows.answers_of(package)?.into_iter().flatten().collect())
}

/// The questions of answers, as far as they are known.
fn questions(answers: &[AnswerRow]) -> BTreeSet<QuestionKey> {
    answers.iter().filter_map(|answer| answer.question).collect()
}

/// Whether a package answers and supersedes.
fn holds(row: &PackageRow, standing: &Standing) -> bool {
    row.quarantine.is_none() && standing.answers_until.is_some()
}

/// The key until which a package answers; empty if it does not.
fn until(row: &PackageRow, standing: &Standing) -> String {
    let until = standing.answers_until.filter(|_| holds(row, standing));
    until.map(time_key::of).unwrap_or_default()
}
