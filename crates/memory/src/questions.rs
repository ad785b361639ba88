//! The questions of a project, and the marks of superseded packages.

use std::collections::BTreeMap;

use accord_base::{Caller, Cursor as _, Page, ProjectId};
use accord_contract::{Failure, Object, Timestamp, Wire as _};
use accord_memory_core::PackageId;
use accord_memory_core::operations::Question;
use accord_memory_core::query::{QuestionPosition, QuestionQuery};
use accord_store::{QuestionRow, ReadUnit, Table};

use super::load::unreadable;
use super::page::Writing;
use super::served::Served;
use super::{Memory, UnitResult, load};

/// How many packages are listed for each question.
pub(crate) const SOURCES: usize = 10;

/// The superseded packages of a list, each with those that supersede it, newest first. It stands
/// beside the list, because the text of a package never changes.
pub type Superseded = BTreeMap<PackageId, Vec<PackageId>>;

impl Memory {
    /// A page of the questions of a project.
    pub async fn questions(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: QuestionQuery,
    ) -> Result<Page, Failure> {
        let (access, project) = (caller.access().clone(), project.clone());
        self.read(move |unit| {
            load::readable(unit, &access, &project)?;
            let query = |after, limit, sources| accord_store::QuestionQuery {
                since: None,
                drafts: load::drafts(&access),
                answered: asked.all,
                after,
                limit,
                sources,
            };
            let writing = Writing {
                max_tokens: asked.max_tokens,
                text: String::as_str,
                head: &["package_id", "question"],
                cursor: &|place: &QuestionPosition| place.encode(&project),
            };
            writing.page(
                (asked.limit, asked.after),
                |after, most| Ok(unit.questions(&project, &query(after.copied(), most, SOURCES))?),
                |row: &QuestionRow| row.position,
                |row| Ok(question(row).map(|question| question.encode().to_string()).ok_or(None)),
                || unreadable(unit, Table::Question),
                |after| {
                    let rest = query(Some(*after), usize::MAX, 1);
                    Ok(unit.questions(&project, &rest)?.len() as u64)
                },
            )
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
