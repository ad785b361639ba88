//! Lists of questions, and what links lead to. Open questions are merged from those that every
//! reader sees and those of drafts.

use std::cmp::Reverse;

use accord_base::{ActorType, ProjectId};
use accord_memory_core::PackageId;
use accord_memory_core::deposit::{LinkTarget, LinkTargets};
use accord_memory_core::package::{AnswerLink, Links, QuestionKey};
use accord_memory_core::query::{PackagePosition, QuestionPosition};

use super::questions::{ALL_READERS, BEHIND_DRAFTS, DRAFTS, add_source, drafts_of};
use super::{ListedQuestion, PackageRows, QuestionState};
use crate::{
    DamagedRow, Drafts, PackageRow, QuestionQuery, QuestionRow, Result, StoreError, Table, fill,
    time_key,
};

/// The questions of a project, as [`Packages::questions`](crate::Packages::questions) returns them.
pub fn list_questions(
    rows: &dyn PackageRows,
    project: &ProjectId,
    query: &QuestionQuery<'_>,
) -> Result<Vec<QuestionRow>> {
    let since = query.since.map(time_key::of).unwrap_or_default();
    let drafts = if query.answered { Drafts::None } else { query.drafts };
    let audiences = audiences(rows, project, drafts)?;
    let questions = fill(query.limit, |limit| {
        let query = QuestionQuery { limit, ..*query };
        let mut questions = Vec::new();
        for audience in &audiences {
            questions.extend(rows.question_page(project, audience, &since, &query)?);
        }
        questions.sort_by(|a, b| order(a).cmp(&order(b)));
        questions.truncate(limit);
        questions.into_iter().map(|it| merge(rows, project, &audiences, it)).collect()
    })?;
    let mut listed = Vec::with_capacity(questions.len());
    for ListedQuestion { question, is_answered } in questions {
        let (state, text) = (&question.state, question.text);
        let sources = sources(state, &since, query.sources);
        match sources.and_then(|sources| Ok((sources, position(state)?))) {
            Ok((sources, position)) => {
                let key = QuestionKey::of(&text);
                let answers = if is_answered { rows.answers_to(project, &key)? } else { vec![] };
                listed.push(QuestionRow { text, sources, open: state.is_open, answers, position });
            }
            Err(error) => {
                let (project_id, what) = (Some(project.clone()), error.detail().to_owned());
                rows.note_damage(DamagedRow { table: Table::Question, project_id, id: text, what });
            }
        }
    }
    Ok(listed)
}

/// What links lead to, as [`Packages::link_targets`](crate::Packages::link_targets) returns it.
pub fn link_targets(
    rows: &dyn PackageRows,
    project: &ProjectId,
    links: &Links,
    drafts: Drafts<'_>,
) -> Result<LinkTargets> {
    let mut targets = LinkTargets::default();
    for link in &links.answers {
        targets.answers.push(match link {
            AnswerLink::Question(key) => asked_anywhere(rows, project, key, drafts)?,
            AnswerLink::Asked { package_id, index } => {
                match named(rows, project, package_id, drafts)? {
                    Named::Missing => LinkTarget::NoPackage,
                    Named::Hidden => LinkTarget::Found,
                    Named::Shown(_) => {
                        let (id, index) = (package_id.as_str(), i64::from(*index));
                        found(rows.asked_question(project, id, index)?.is_some())
                    }
                }
            }
        });
    }
    for target in &links.supersedes {
        targets.supersedes.push(match named(rows, project, target, drafts)? {
            Named::Missing => LinkTarget::NoPackage,
            Named::Shown(row) if row.actor.kind == ActorType::Human => LinkTarget::ByPerson,
            Named::Shown(_) | Named::Hidden => LinkTarget::Found,
        });
    }
    Ok(targets)
}

/// What is known about a named package.
enum Named {
    Missing,
    /// It may not be shown, or cannot be read.
    Hidden,
    Shown(Box<PackageRow>),
}

fn named(
    rows: &dyn PackageRows,
    project: &ProjectId,
    package: &PackageId,
    drafts: Drafts<'_>,
) -> Result<Named> {
    match rows.package(project, package) {
        Ok(None) => Ok(Named::Missing),
        Ok(Some(row)) if row.is_shown(drafts) => Ok(Named::Shown(Box::new(row))),
        Ok(Some(_)) => Ok(Named::Hidden),
        Err(error) if error.damaged().is_some() => Ok(Named::Hidden),
        Err(error) => Err(error),
    }
}

fn asked_anywhere(
    rows: &dyn PackageRows,
    project: &ProjectId,
    question: &QuestionKey,
    drafts: Drafts<'_>,
) -> Result<LinkTarget> {
    let known = rows.questions_with_key(project, question)?;
    if known.is_empty() {
        return Ok(LinkTarget::NoQuestion);
    }
    let audiences = audiences(rows, project, drafts)?;
    Ok(found(known.iter().any(|known| audiences.contains(&known.audience))))
}

fn found(is_there: bool) -> LinkTarget {
    if is_there { LinkTarget::Found } else { LinkTarget::NoQuestion }
}

/// The audiences of a reader; of draft audiences only those that have questions.
fn audiences(rows: &dyn PackageRows, of: &ProjectId, drafts: Drafts<'_>) -> Result<Vec<String>> {
    let mut audiences = vec![ALL_READERS.to_owned()];
    match drafts {
        Drafts::None => {}
        Drafts::Of(author) => {
            let drafts = drafts_of(author);
            if rows.has_questions(of, &drafts)? {
                audiences.push(drafts);
            }
        }
        Drafts::All => audiences.extend(rows.audiences_between(of, DRAFTS, BEHIND_DRAFTS)?),
    }
    Ok(audiences)
}

/// Adds the packages that ask the same question in other audiences; `None` if one of those is
/// newer, because the question then has the position of that one.
fn merge(
    rows: &dyn PackageRows,
    project: &ProjectId,
    audiences: &[String],
    mut listed: ListedQuestion,
) -> Result<Option<ListedQuestion>> {
    let question = &mut listed.question;
    for audience in audiences.iter().filter(|audience| **audience != question.audience) {
        let known = rows.question(project, audience, &question.text)?;
        let Some(known) = known.filter(|known| known.state.is_open) else { continue };
        let (other, own) = (&known.state, &mut question.state);
        if (&other.asked_key, other.package) > (&own.asked_key, own.package) {
            return Ok(None);
        }
        // Its own unreadable sources are reported when it is returned, others when verified.
        for source in &other.sources {
            if !own.sources.is_empty()
                && let Some(more) = add_source(&own.sources, source)
            {
                own.sources = more;
            }
        }
    }
    Ok(Some(listed))
}

/// The newest package first, then the index in it.
fn order(listed: &ListedQuestion) -> (Reverse<(&str, i64)>, i64, &str, &str) {
    let question = &listed.question;
    let state = &question.state;
    let newest = Reverse((state.asked_key.as_str(), state.package));
    (newest, state.index, &question.text, &question.audience)
}

fn position(state: &QuestionState) -> Result<QuestionPosition> {
    let unreadable = StoreError::unreadable;
    let created_at = time_key::time(&state.asked_key).ok_or_else(|| unreadable("a time"))?;
    let seq = u64::try_from(state.package).map_err(|_| unreadable("a number"))?;
    let index = u32::try_from(state.index).map_err(|_| unreadable("an index"))?;
    Ok(QuestionPosition { package: PackagePosition { created_at, seq }, index })
}

/// At most `wanted` packages of a question that were created at a key or later.
fn sources(state: &QuestionState, since: &str, wanted: usize) -> Result<Vec<PackageId>> {
    if state.sources.is_empty() {
        return Err(StoreError::unreadable("a source"));
    }
    let shown = state.sources.iter().take(wanted).filter(|source| source.key.as_str() >= since);
    let ids = shown.map(|source| source.id.parse::<PackageId>());
    ids.map(|id| id.map_err(|_| StoreError::unreadable("an id"))).collect()
}
