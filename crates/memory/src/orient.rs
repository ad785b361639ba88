//! Orient: the bundle with which an actor starts its work.

use accord_base::{Caller, ProjectId, Verb};
use accord_contract::{Failure, Time};
use accord_memory_core::bundle::{MAX_QUESTIONS, Mark, OpenQuestions, OrientRows, orient};
use accord_memory_core::query::OrientQuery;
use accord_store::{Drafts, PackageQuery, QuestionQuery, ReadUnit, Table};

use super::load::unreadable;
use super::pull::{names, take};
use super::questions::{SOURCES, superseded};
use super::served::Served;
use super::{Memory, UnitResult, load};

impl Memory {
    /// The orientation of a project, as a JSON text.
    /// Clauses: AGENTIC-R-101, AGENTIC-R-102.
    pub async fn orient(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: OrientQuery,
    ) -> Result<String, Failure> {
        let (access, project_id) = (caller.access().clone(), project.clone());
        let now = self.now();
        let (bundle, damaged) = self
            .read(move |unit| {
                let project = load::project(unit, &access, Verb::Read, &project_id)?;
                let (since, drafts) = (now.days_before(asked.window_days), load::drafts(&access));
                let query = PackageQuery {
                    since: Some(since),
                    drafts,
                    limit: asked.limit as usize,
                    ..PackageQuery::default()
                };
                let taken = take(unit, &project_id, &query)?;
                let packages: Vec<&str> = taken.sound.iter().map(|one| one.text.as_str()).collect();
                let superseded = superseded(unit, &project_id, &taken.sound)?;
                let mark = |package: &Served| {
                    let (package_id, by) = superseded.get_key_value(&package.package_id)?;
                    Some(Mark { package_id, by })
                };
                let marks: Vec<_> = taken.sound.iter().map(mark).collect();
                let mut damaged = names(&taken.damaged, taken.unreadable);
                let rows = unit.newest_facts(&project_id, usize::MAX)?;
                let mut facts = Vec::with_capacity(rows.len());
                for row in &rows {
                    match load::fact_text(row) {
                        Ok(fact) => facts.push(fact),
                        Err(_) => damaged.push(row.fact_id.as_str().to_owned()),
                    }
                }
                damaged.extend(unreadable(unit, Table::Fact));
                let rows = OrientRows {
                    project: &project,
                    packages: &packages,
                    marks: &marks,
                    more_packages: taken.next.is_some(),
                    damaged: &damaged,
                    facts: &facts,
                    questions: &questions(unit, [&project_id], since, drafts)?,
                };
                Ok((orient(&rows, &asked, now), taken.damaged))
            })
            .await?;
        self.set_aside(&damaged);
        Ok(bundle)
    }
}

/// The open questions of projects in a window, each once: from each project in turn, so that no
/// project fills the list alone.
/// Clauses: AGENTIC-R-103.
pub(crate) fn questions<'a>(
    unit: &dyn ReadUnit,
    projects: impl IntoIterator<Item = &'a ProjectId>,
    since: Time,
    drafts: Drafts<'_>,
) -> UnitResult<OpenQuestions> {
    let query = QuestionQuery {
        since: Some(since),
        drafts,
        // One more than the limit, to know whether there are more.
        limit: MAX_QUESTIONS + 1,
        sources: SOURCES,
        ..QuestionQuery::default()
    };
    let mut asked = Vec::new();
    for project in projects {
        asked.push(unit.questions(project, &query)?.into_iter());
    }
    let mut questions = OpenQuestions::default();
    while !asked.is_empty() {
        asked.retain_mut(|rest| {
            let Some(next) = rest.next() else { return false };
            next.sources.iter().all(|source| questions.offer(&next.text, source))
        });
    }
    Ok(questions)
}
