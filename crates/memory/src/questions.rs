//! The questions of a project, and the marks of superseded packages.

use std::collections::BTreeMap;

use accord_base::{Caller, Cursor as _, Page, ProjectId, fill_page};
use accord_contract::{Failure, Object, Timestamp, Wire as _};
use accord_memory_core::PackageId;
use accord_memory_core::operations::Question;
use accord_memory_core::query::{QuestionPosition, QuestionQuery};
use accord_store::{QuestionRow, ReadUnit, Table};

use super::load::unreadable;
use super::page::{Listed, Writing};
use super::served::Served;
use super::{Memory, UnitError, UnitResult, load};

/// How many packages are listed for each question.
pub(crate) const SOURCES: usize = 10;

/// The superseded packages of a list, each with those that supersede it, newest first. It stands
/// beside the list, because the text of a package never changes.
pub type Superseded = BTreeMap<PackageId, Vec<PackageId>>;

impl Memory {
    /// A page of the questions of a project.
    ///
    /// # Errors
    /// When the caller may not read, or the project does not exist.
    pub async fn questions(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: QuestionQuery,
    ) -> Result<Page, Failure> {
        let (access, project) = (caller.access().clone(), project.clone());
        self.read(move |unit| {
            load::readable(unit, &access, &project)?;
            let mut items = Vec::new();
            let next = fill_page::<_, _, UnitError>(
                asked.limit as usize,
                asked.after,
                |after, limit| {
                    let query = accord_store::QuestionQuery {
                        since: None,
                        drafts: load::drafts(&access),
                        answered: asked.all,
                        after: after.copied(),
                        limit,
                        sources: SOURCES,
                    };
                    Ok(unit.questions(&project, &query)?)
                },
                |row| row.position,
                |row| {
                    let place = row.position;
                    let Some(question) = question(row) else {
                        return Ok(None);
                    };
                    let text = question.encode().to_string();
                    let bytes = text.len();
                    items.push((text, place));
                    Ok(Some(bytes))
                },
            )?;
            let damaged = unreadable(unit, Table::Question);
            let writing = Writing {
                max_tokens: asked.max_tokens,
                text: String::as_str,
                head: &["package_id", "question"],
                cursor: &|place: &QuestionPosition| place.encode(&project),
                named: &damaged,
            };
            let listed = Listed { items, next };
            let (items, next_cursor, budgeted) = listed.within(&writing, |after| {
                let query = accord_store::QuestionQuery {
                    since: None,
                    drafts: load::drafts(&access),
                    answered: asked.all,
                    after: Some(*after),
                    limit: usize::MAX,
                    sources: 1,
                };
                Ok(unit.questions(&project, &query)?.len() as u64)
            })?;
            Ok(Page { items, next_cursor, damaged, budgeted })
        })
        .await
    }
}

/// The superseded ones among packages that are served.
pub(crate) fn superseded(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    packages: &[Served],
) -> UnitResult<Superseded> {
    let mut ids = packages.iter().map(|package| &package.package_id);
    Ok(unit.superseded(project, &mut ids)?)
}

/// The question in a row; `None` if no package asks it.
fn question(row: QuestionRow) -> Option<Question> {
    Some(Question {
        question: row.text,
        open: row.open,
        package_id: row.sources.first()?.clone(),
        index: row.position.index.into(),
        asked_at: Timestamp::emit(row.position.package.created_at),
        asked_by: row.sources,
        answered_by: row.answers,
        extra: Object::new(),
    })
}
