//! Which questions are open, and which packages ask them. A question is stored once per audience.
//! It is open while a package asks it that no answer covers. Its newest packages are then those
//! that keep it open, otherwise all that ask it.

use accord_base::{ActorKey, ProjectId};
use accord_memory_core::lifecycle::Standing;
use accord_memory_core::package::{QuestionKey, Status};

use super::{PackageRows, QuestionSource, QuestionState, QuestionUse, StoredQuestion};
use crate::time_key::{self, Span};
use crate::{IndexedQuestion, MAX_SOURCES, PackageRow, Result, StoreError};

/// The audience of all readers of the project. Only its open questions are counted.
pub const ALL_READERS: &str = "";
/// The prefix of the audiences of drafts.
pub(super) const DRAFTS: &str = "draft ";
/// Sorts after every audience of drafts.
pub(super) const BEHIND_DRAFTS: &str = "draft!";
/// The audience of quarantined packages: no reader. They may be released later.
const QUARANTINED: &str = "quarantine";

/// The audience of the questions of a package.
pub(super) fn audience(row: &PackageRow) -> String {
    match (&row.quarantine, row.state.status) {
        (Some(_), _) => QUARANTINED.to_owned(),
        (None, Status::Draft) => drafts_of(&row.actor),
        (None, _) => ALL_READERS.to_owned(),
    }
}

/// The audience of the drafts of an actor.
pub(super) fn drafts_of(author: &ActorKey) -> String {
    format!("{DRAFTS}{} {}", author.kind, author.id)
}

pub(super) fn ask<'q>(
    rows: &mut dyn PackageRows,
    package: i64,
    row: &PackageRow,
    standing: &Standing,
    questions: impl IntoIterator<Item = &'q IndexedQuestion>,
) -> Result<()> {
    let (project, audience) = (&row.project_id, audience(row));
    let ask_key = time_key::of(standing.asked_at);
    let (key, id) = (time_key::of(row.created_at.time()), row.package_id.as_str().to_owned());
    let source = QuestionSource { key, package, id };
    for IndexedQuestion { index, text } in questions {
        let index = i64::from(*index);
        let through = rows.answered_through(project, &QuestionKey::of(text))?;
        let is_open = ask_key > through;
        let question = match rows.question(project, &audience, text)? {
            None => {
                let (asked_key, sources) = (source.key.clone(), vec![source.clone()]);
                let state = QuestionState { is_open, asked_key, package, index, sources };
                let number = rows.insert_question(project, &audience, text, &state)?;
                if is_open {
                    count(rows, project, &audience, &state.asked_key, 1)?;
                }
                number
            }
            Some(known) => {
                ask_again(rows, project, &known, &source, index, is_open)?;
                known.number
            }
        };
        let (source, ask_key) = (source.clone(), ask_key.clone());
        rows.insert_question_use(&QuestionUse { question, source, index, ask_key })?;
    }
    Ok(())
}

/// Removes the questions of a package. Returns them in their order.
pub(super) fn take(
    rows: &mut dyn PackageRows,
    project: &ProjectId,
    package: i64,
) -> Result<Vec<IndexedQuestion>> {
    let mut taken = Vec::new();
    for found in rows.questions_of(project, package)? {
        let (known, asked) = found.ok_or_else(|| StoreError::unreadable("a question"))?;
        let index = u32::try_from(asked.index).map_err(|_| StoreError::unreadable("an index"))?;
        taken.push((known, index));
    }
    rows.delete_question_uses(package)?;
    let mut questions = Vec::with_capacity(taken.len());
    for (known, index) in taken {
        look_again(rows, project, &known)?;
        questions.push(IndexedQuestion { index, text: known.text });
    }
    Ok(questions)
}

/// Looks again at stored questions whose answers changed.
pub(super) fn review(
    rows: &mut dyn PackageRows,
    project: &ProjectId,
    questions: impl IntoIterator<Item = QuestionKey>,
) -> Result<()> {
    for question in questions {
        for known in rows.questions_with_key(project, &question)? {
            look_again(rows, project, &known)?;
        }
    }
    Ok(())
}

/// The state of a stored question, from what asks and answers it; `None` if no package asks it.
pub(super) fn state_of(
    rows: &dyn PackageRows,
    project: &ProjectId,
    known: &StoredQuestion,
) -> Result<Option<QuestionState>> {
    let through = rows.answered_through(project, &QuestionKey::of(&known.text))?;
    let mut uses = rows.newest_uses(known.number, &through, MAX_SOURCES)?;
    let is_open = !uses.is_empty();
    if !is_open {
        uses = rows.newest_uses(known.number, "", MAX_SOURCES)?;
    }
    let Some(newest) = uses.first() else { return Ok(None) };
    let QuestionUse { source: QuestionSource { key, package, .. }, index, .. } = newest.clone();
    let sources = uses.into_iter().map(|asked| asked.source).collect();
    Ok(Some(QuestionState { is_open, asked_key: key, package, index, sources }))
}

/// The list with one more package; `None` if it is included already, or older than all others.
pub(super) fn add_source(
    sources: &[QuestionSource],
    new: &QuestionSource,
) -> Option<Vec<QuestionSource>> {
    let place = sources.partition_point(|source| source > new);
    if place >= MAX_SOURCES || sources.iter().any(|source| source.package == new.package) {
        return None;
    }
    let mut sources = sources.to_vec();
    sources.insert(place, new.clone());
    sources.truncate(MAX_SOURCES);
    Some(sources)
}

fn ask_again(
    rows: &mut dyn PackageRows,
    project: &ProjectId,
    known: &StoredQuestion,
    source: &QuestionSource,
    index: i64,
    is_open: bool,
) -> Result<()> {
    let state = &known.state;
    let kept: &[QuestionSource] = match (state.is_open, is_open) {
        // It is answered here, and open elsewhere.
        (true, false) => return Ok(()),
        // It is asked again after its answer, so the earlier packages no longer count.
        (false, true) => &[],
        // Unreadable ones are none, and do not block a deposit. A verification reports them.
        _ => &state.sources,
    };
    let Some(sources) = add_source(kept, source) else { return Ok(()) };
    let newest = (state.asked_key.as_str(), state.package);
    if state.is_open == is_open && newest >= (source.key.as_str(), source.package) {
        return rows.set_question_sources(known.number, &sources);
    }
    let (asked_key, package) = (source.key.clone(), source.package);
    let new = QuestionState { is_open, asked_key, package, index, sources };
    change_state(rows, project, known, &new)
}

/// Updates a question whose packages or answers changed. One that no package asks is deleted.
fn look_again(rows: &mut dyn PackageRows, of: &ProjectId, known: &StoredQuestion) -> Result<()> {
    if let Some(new) = state_of(rows, of, known)? {
        return change_state(rows, of, known, &new);
    }
    rows.delete_question(known.number)?;
    if known.state.is_open {
        count(rows, of, &known.audience, &known.state.asked_key, -1)?;
    }
    Ok(())
}

fn change_state(
    rows: &mut dyn PackageRows,
    project: &ProjectId,
    known: &StoredQuestion,
    new: &QuestionState,
) -> Result<()> {
    rows.set_question_state(known.number, new)?;
    let (old, audience) = (&known.state, &known.audience);
    // An open question that was asked last in another hour is counted there.
    let hour = |state: &QuestionState| Span::Hour.of(&state.asked_key).to_owned();
    if (old.is_open, hour(old)) == (new.is_open, hour(new)) {
        return Ok(());
    }
    if old.is_open {
        count(rows, project, audience, &old.asked_key, -1)?;
    }
    if new.is_open {
        count(rows, project, audience, &new.asked_key, 1)?;
    }
    Ok(())
}

/// Changes the count of open questions, which is that of the audience of all readers.
fn count(
    rows: &mut dyn PackageRows,
    project: &ProjectId,
    audience: &str,
    key: &str,
    more: i64,
) -> Result<()> {
    if audience != ALL_READERS {
        return Ok(());
    }
    rows.count_open_questions(project, Span::Hour.of(key), more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(package: i64) -> QuestionSource {
        QuestionSource { key: "2026-04-18T20:00:00".to_owned(), package, id: "id".to_owned() }
    }

    #[test]
    fn the_newest_are_kept() {
        let mut sources = vec![source(50)];
        for package in [10, 70, 70, 60, 20, 30, 40, 90, 80, 11, 12, 13] {
            sources = add_source(&sources, &source(package)).unwrap_or(sources);
        }
        let numbers: Vec<i64> = sources.iter().map(|source| source.package).collect();
        assert_eq!(numbers, [90, 80, 70, 60, 50, 40, 30, 20, 13, 12]);
        assert_eq!(add_source(&sources, &source(5)), None);
    }
}
