//! Orchestrate: a digest of one project, or of all that the caller covers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use accord_base::{Access, ActorKey, Caller, ProjectId, Verb};
use accord_contract::{Failure, Time};
use accord_memory_core::bundle::{
    ActorCount, DigestRows, Highlight, MAX_DIGEST_FACTS, MAX_HIGHLIGHTS, ProjectCount, Snippet,
    TypeCount, digest, excerpt,
};
use accord_memory_core::package::{PackageType, Status};
use accord_memory_core::query::{DigestQuery, Focus, ProjectQuery};
use accord_memory_core::{Fact, PackageId, Project};
use accord_store::{
    Drafts, HighlightQuery, Hit, PackageQuery, PackageRow, Quarantined, ReadUnit, SearchQuery,
    Table,
};

use super::load::unreadable;
use super::orient::questions;
use super::projects::{unreadable_projects, walk_projects};
use super::pull::names;
use super::relevant::Way;
use super::served::{Damaged, sound_package};
use super::{Memory, UnitResult, load};

/// How many quarantined packages of a project are listed at most.
const MAX_NAMED: usize = 100;

#[derive(Default)]
struct Sum {
    by_type: BTreeMap<PackageType, u64>,
    by_actor: BTreeMap<ActorKey, u64>,
    highlights: Vec<Highlight>,
    facts: Vec<Fact>,
    snippets: Vec<Snippet>,
    projects: Vec<ProjectCount>,
    damaged: Vec<Damaged>,
    /// The ids of other damaged rows.
    left_out: Vec<String>,
}

impl Memory {
    /// The digest, as a JSON text, without drafts.
    pub async fn orchestrate(
        &self,
        caller: &Caller,
        asked: DigestQuery,
    ) -> Result<String, Failure> {
        let access = caller.access().clone();
        let now = self.now();
        // Checked before the focus leaves this process.
        access.may_anywhere(Verb::Read)?;
        let way = match &asked.focus {
            Some(focus) => self.way_of_focus(&focus.text).await,
            None => Way::default(),
        };
        let memory = self.clone();
        let (bundle, damaged) = self
            .read(move |unit| {
                let since = now.days_before(asked.window_days);
                let (project, covered) = covered(unit, &access, &asked)?;
                let mut sum = Sum::default();
                for id in &covered {
                    sum.add(unit, id, since)?;
                    if let Some(focus) = &asked.focus {
                        let query = SearchQuery {
                            text: &focus.text,
                            drafts: Drafts::None,
                            limit: asked.snippets as usize,
                            ..SearchQuery::default()
                        };
                        let hits = memory.search(unit, id, &query, &way)?.hits;
                        sum.add_focus(unit, id, focus, hits)?;
                    }
                }
                sum.order();
                let questions = questions(unit, &covered, since, Drafts::None)?;
                let damaged = sum.names(unit, &access);
                let rows = DigestRows {
                    project: project.as_ref(),
                    by_type: &sum.types(),
                    by_actor: &sum.actors(),
                    highlights: &sum.highlights,
                    facts: &sum.facts,
                    questions: &questions,
                    snippets: &sum.snippets,
                    projects: &sum.projects,
                    damaged: &damaged,
                };
                Ok((digest(&rows, &asked, now), sum.damaged))
            })
            .await?;
        self.set_aside(&damaged);
        Ok(bundle)
    }
}

/// The named project, and the projects that the digest covers.
/// Clauses: AGENTIC-R-106, AGENTIC-A-23.
fn covered(
    unit: &dyn ReadUnit,
    access: &Access,
    asked: &DigestQuery,
) -> UnitResult<(Option<Project>, Vec<ProjectId>)> {
    if let Some(id) = &asked.project {
        let project = load::project(unit, access, Verb::Read, id)?;
        return Ok((Some(project), vec![id.clone()]));
    }
    access.may_anywhere(Verb::Read)?;
    let mut covered = Vec::new();
    let query = ProjectQuery {
        include_archived: asked.include_archived,
        limit: u32::MAX,
        after: None,
        max_tokens: None,
    };
    walk_projects(unit, access, &query, |row| {
        covered.push(row.project_id);
        Ok(Some(0))
    })?;
    Ok((None, covered))
}

fn superseded_by(unit: &dyn ReadUnit, row: &PackageRow) -> UnitResult<Vec<PackageId>> {
    let marks = unit.superseded(&row.project_id, &mut [&row.package_id].into_iter())?;
    Ok(marks.into_values().next().unwrap_or_default())
}

impl Sum {
    /// Adds the packages of a project in the window, and its current facts.
    /// Clauses: AGENTIC-R-063.
    fn add(&mut self, unit: &dyn ReadUnit, id: &ProjectId, since: Time) -> UnitResult<()> {
        let mut packages = 0;
        for tally in unit.tallies(id, Some(since))? {
            if tally.status != Status::Draft {
                packages += tally.packages;
                *self.by_type.entry(tally.package_type).or_default() += tally.packages;
                *self.by_actor.entry(tally.actor).or_default() += tally.packages;
            }
        }
        self.projects.push(ProjectCount {
            project_id: id.clone(),
            packages,
            open_questions: unit.open_question_count(id, Some(since))?,
            awaiting_review: unit.package_count(id, Status::AwaitingReview)?,
        });
        let (since, limit) = (Some(since), MAX_HIGHLIGHTS);
        let highlights = HighlightQuery { since, limit, ..HighlightQuery::default() };
        for row in unit.highlights(id, &highlights)? {
            let by = superseded_by(unit, &row)?;
            if let Some(package) = sound_package(row, &mut self.damaged)? {
                self.highlights.push(Highlight::of(package.fields(), by));
            }
        }
        // One more than the limit, to know whether there are more.
        for row in unit.newest_facts(id, MAX_DIGEST_FACTS + 1)? {
            match load::fact_of(&row) {
                Ok(fact) => self.facts.push(fact),
                Err(_) => self.left_out.push(row.fact_id.as_str().to_owned()),
            }
        }
        // Packages of the window that were quarantined earlier are named as damaged, too.
        let query = PackageQuery {
            drafts: Drafts::None,
            quarantined: Quarantined::Only,
            since,
            limit: MAX_NAMED,
            ..PackageQuery::default()
        };
        let is_damaged = |row: &PackageRow| {
            row.quarantine.as_ref().is_some_and(|quarantine| !quarantine.is_rejected())
        };
        let quarantined = unit.packages(id, &query)?.into_iter().filter(is_damaged);
        self.left_out.extend(quarantined.map(|row| row.package_id.as_str().to_owned()));
        Ok(())
    }

    /// Adds the snippets of a project about the focus.
    /// Clauses: AGENTIC-R-108.
    fn add_focus(
        &mut self,
        unit: &dyn ReadUnit,
        id: &ProjectId,
        focus: &Focus,
        hits: Vec<Hit>,
    ) -> UnitResult<()> {
        for hit in hits {
            let superseded_by = superseded_by(unit, &hit.package)?;
            if let Some(package) = sound_package(hit.package, &mut self.damaged)? {
                self.snippets.push(Snippet {
                    superseded_by,
                    project_id: id.clone(),
                    package_id: package.package_id().clone(),
                    score: hit.score,
                    excerpt: excerpt(package.fields(), &focus.terms),
                });
            }
        }
        Ok(())
    }

    /// The ids of all damaged rows.
    fn names(&self, unit: &dyn ReadUnit, access: &Access) -> Vec<String> {
        let mut left_out = self.left_out.clone();
        left_out.extend(unreadable(unit, Table::Fact));
        // An unreadable row may be the draft of another actor.
        if load::drafts(access) == Drafts::All {
            left_out.extend(unreadable(unit, Table::Package));
        }
        left_out.extend(unreadable_projects(unit, access));
        names(&self.damaged, left_out)
    }

    /// Sorts what was collected from several projects. The rows of one project are sorted already
    /// and keep their order.
    fn order(&mut self) {
        self.highlights.sort_by_key(|entry| Reverse(entry.rank()));
        self.snippets.sort_by(|one, other| other.score.total_cmp(&one.score));
        self.facts.sort_by_key(|fact| Reverse(fact.valid_from.time()));
    }

    fn types(&self) -> Vec<TypeCount> {
        let counts = self.by_type.iter().map(|(kind, count)| (kind.clone(), *count));
        counts.map(|(package_type, count)| TypeCount { package_type, count }).collect()
    }

    fn actors(&self) -> Vec<ActorCount> {
        let counts = self.by_actor.iter();
        counts.map(|(actor, count)| ActorCount { actor: actor.clone(), count: *count }).collect()
    }
}
