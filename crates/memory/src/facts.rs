//! Reading facts.

use accord_base::{Caller, Cursor as _, Page, ProjectId, Verb};
use accord_contract::{Code, Failure};
use accord_memory_core::query::{FactPosition, FactQuery, FactTime};
use accord_memory_core::{FactId, fact};
use accord_store::{FactQuery as Rows, FactRow, Table, When};

use super::load::unreadable;
use super::page::Writing;
use super::{Memory, load};

impl Memory {
    pub async fn facts(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: FactQuery,
    ) -> Result<Page, Failure> {
        let (access, project) = (caller.access().clone(), project.clone());
        self.read(move |unit| {
            load::readable(unit, &access, &project)?;
            let when = match asked.time {
                FactTime::Current => When::Current,
                FactTime::AsOf(instant) => When::At(instant),
                FactTime::History => When::Ever,
            };
            let query = Rows {
                subject: asked.subject.as_deref(),
                predicate: asked.predicate.as_deref(),
                when,
                after: None,
                limit: usize::MAX,
            };
            let writing = Writing {
                max_tokens: asked.max_tokens,
                text: String::as_str,
                head: &["fact_id", "subject", "predicate"],
                cursor: &|place: &FactPosition| place.encode(&project),
            };
            writing.page(
                (asked.limit, asked.after.clone()),
                |after, limit| Ok(unit.facts(&project, &Rows { after, limit, ..query })?),
                FactRow::position,
                |row| {
                    let damaged = load::fact_of(&row).is_err();
                    Ok(if damaged { Err(Some(row.fact_id.to_string())) } else { Ok(row.text) })
                },
                || unreadable(unit, Table::Fact),
                |after| Ok(unit.fact_total(&project, &Rows { after: Some(after), ..query })?),
            )
        })
        .await
    }

    /// One fact, as a JSON text: of the named project, or of any of the caller's.
    pub async fn fact(
        &self,
        caller: &Caller,
        within: Option<ProjectId>,
        id: FactId,
    ) -> Result<String, Failure> {
        let access = caller.access().clone();
        self.read(move |unit| {
            load::may_in(&access, Verb::Read, within.as_ref())?;
            let rows = match &within {
                Some(project) => unit.fact(project, &id)?.into_iter().collect(),
                None => unit.facts_named(&id)?,
            };
            let rows = rows.into_iter().map(|row| (row.project_id.clone(), row)).collect();
            let kind = (Table::Fact, id.as_str(), Code::AgenticAmbiguousFactId);
            let row = load::only(unit, &access, kind, rows, || fact::not_found(&id))?;
            load::fact_of(&row)?;
            Ok(row.text)
        })
        .await
    }
}
