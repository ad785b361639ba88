//! Reading facts.

use accord_base::{Caller, Cursor as _, Page, ProjectId, Verb, fill_page};
use accord_contract::{Code, Failure};
use accord_memory_core::query::{FactPosition, FactQuery, FactTime};
use accord_memory_core::{FactId, fact};
use accord_store::{Table, When};

use super::load::unreadable;
use super::page::{Listed, Writing};
use super::{Memory, UnitError, load};

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
            let (mut items, mut damaged) = (Vec::new(), Vec::new());
            let next = fill_page::<_, _, UnitError>(
                asked.limit as usize,
                asked.after.clone(),
                |after, limit| {
                    let query = accord_store::FactQuery {
                        subject: asked.subject.as_deref(),
                        predicate: asked.predicate.as_deref(),
                        when,
                        after,
                        limit,
                    };
                    Ok(unit.facts(&project, &query)?)
                },
                |row| row.position(),
                |row| {
                    if load::fact_of(&row).is_err() {
                        damaged.push(row.fact_id.as_str().to_owned());
                        return Ok(None);
                    }
                    let (bytes, place) = (row.text.len(), row.position());
                    items.push((row.text, place));
                    Ok(Some(bytes))
                },
            )?;
            damaged.extend(unreadable(unit, Table::Fact));
            let writing = Writing {
                max_tokens: asked.max_tokens,
                text: String::as_str,
                head: &["fact_id", "subject", "predicate"],
                cursor: &|place: &FactPosition| place.encode(&project),
                named: &damaged,
            };
            let listed = Listed { items, next };
            let (items, next_cursor, budgeted) = listed.within(&writing, |after| {
                let query = accord_store::FactQuery {
                    subject: asked.subject.as_deref(),
                    predicate: asked.predicate.as_deref(),
                    when,
                    after: Some(after),
                    limit: usize::MAX,
                };
                Ok(unit.fact_total(&project, &query)?)
            })?;
            Ok(Page { items, next_cursor, damaged, budgeted })
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
            let mut rows = match &within {
                Some(project) => {
                    access.may(Verb::Read, project)?;
                    unit.fact(project, &id)?.into_iter().collect()
                }
                None => {
                    access.may_anywhere(Verb::Read)?;
                    unit.facts_named(&id)?
                }
            };
            rows.retain(|row| access.covers(&row.project_id));
            let projects: Vec<_> = rows.iter().map(|row| row.project_id.clone()).collect();
            match rows.pop() {
                None => {
                    load::must_be_sound(unit, &access, Table::Fact, id.as_str())?;
                    Err(fact::not_found(&id).into())
                }
                Some(row) if projects.len() == 1 => {
                    load::fact_of(&row)?;
                    Ok(row.text)
                }
                Some(_) => Err(load::ambiguous(
                    Code::AgenticAmbiguousFactId,
                    "fact",
                    id.as_str(),
                    &projects,
                )
                .into()),
            }
        })
        .await
    }
}
