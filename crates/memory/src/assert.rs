//! Asserting and invalidating facts.

use std::sync::Arc;

use accord_base::{Access, Actor, ActorType, Author, Caller, Need, ProjectId, Verb};
use accord_contract::{Failure, Value};
use accord_memory_core::fact::{self, AssertOptions, AssertState, Asserted, Assertion};
use accord_memory_core::operations::InvalidateParams;
use accord_memory_core::{Fact, PackageId, Warning, event};
use accord_store::{FactKey, FactRow, ReadUnit, WriteUnit};
use accord_system::random;

use super::attempts::{self, Left};
use super::record::{create_project, record};
use super::served::sound_package;
use super::{Memory, UnitResult, load};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AssertedFact {
    /// Whether the fact is new. If not, it existed, or the current fact has the same value.
    pub new: bool,
    pub new_project: bool,
    pub fact: Fact,
    pub warnings: Vec<Warning>,
}

struct Prepared {
    project_id: ProjectId,
    assertion: Assertion,
    options: AssertOptions,
    actor: Option<Actor>,
    caller: Caller,
    random: [u8; 16],
}

impl Memory {
    pub async fn assert_fact(
        &self,
        caller: &Caller,
        project: &ProjectId,
        sent: &[u8],
        options: AssertOptions,
    ) -> Result<AssertedFact, Failure> {
        let access = caller.access();
        access.may(Verb::Write, project)?;
        let assertion = Assertion::parse(sent, project)?;
        let author = Author::claimed(assertion.asserted_by.clone(), "/asserted_by");
        let prepared = Arc::new(Prepared {
            project_id: project.clone(),
            actor: caller.attribute(Need::Write, author)?.actor,
            caller: caller.clone(),
            assertion,
            options,
            // Drawn once per request: the job may run twice, and the second run mints the same id.
            random: random(),
        });
        let memory = self.clone();
        self.write(move |unit| memory.add_fact(unit, &prepared)).await
    }

    /// Ends the current fact of a subject and predicate. Returns the number of ended facts: one or
    /// zero.
    /// Clauses: AGENTIC-R-093.
    pub async fn invalidate_fact(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: InvalidateParams,
    ) -> Result<u64, Failure> {
        let (caller, project_id) = (caller.clone(), project.clone());
        let value = asked.expected()?.map(str::to_owned);
        let author = Author::claimed(asked.author()?, "/actor");
        let actor = caller.attribute(Need::Write, author)?.actor;
        let memory = self.clone();
        self.write(move |unit| {
            let project = load::project(unit, caller.access(), Verb::Write, &project_id)?;
            project.must_take_writes()?;
            let key = FactKey { subject: &asked.subject, predicate: &asked.predicate };
            let current = unit.current_fact(&project_id, key)?;
            let current = current.as_ref().map(load::fact_of).transpose()?;
            let now = memory.now_in(unit, &project_id)?;
            let Some(end) = fact::invalidate(current.as_ref(), value.as_deref(), now) else {
                return Ok(0);
            };
            let mut ended = current.expect("only an existing fact ends");
            check_end(&ended, &caller)?;
            ended.valid_to = Some(end);
            end_fact(unit, &ended)?;
            record(unit, &event::invalidated(&ended, actor.as_ref(), now))?;
            Ok(1)
        })
        .await
    }

    /// Clauses: AGENTIC-R-087, AGENTIC-R-095.
    fn add_fact(&self, unit: &mut dyn WriteUnit, asked: &Prepared) -> UnitResult<AssertedFact> {
        let (project_id, assertion) = (&asked.project_id, &asked.assertion);
        let project = load::known_project(unit, project_id)?;
        let writing = self.writing(unit, project_id, project.as_ref(), asked.actor.as_ref())?;
        let now = writing.now;
        let same_id = match &assertion.fact_id {
            Some(id) => unit.fact(project_id, id)?,
            None => None,
        };
        let key = FactKey { subject: &assertion.subject, predicate: &assertion.predicate };
        // In the transaction, so that no other assertion comes between this read and the write.
        // Otherwise two facts of a chain could be current.
        let beside = unit.fact_neighbours(project_id, key, assertion.begins(now).time())?;
        let fact = |row: Option<_>| row.as_ref().map(load::fact_of).transpose();
        let (same_id, before, after) = (fact(same_id)?, fact(beside.before)?, fact(beside.after)?);
        let source = match &assertion.source_package_id {
            Some(id) => author(unit, asked.caller.access(), project_id, id)?,
            None => None,
        };
        let state = AssertState {
            same_id: same_id.as_ref(),
            before: before.as_ref(),
            after: after.as_ref(),
            source: source.as_ref(),
        };
        match fact::assert(assertion, &writing, &state, asked.options, asked.random)? {
            Asserted::Unchanged(fact) => {
                if let Some(attempt) = asked.caller.attempt() {
                    let left = Left::Fact(fact.fact_id.as_str());
                    attempts::note_again(unit, project_id, attempt, left, now)?;
                }
                let warnings = Vec::new();
                Ok(AssertedFact { new: false, new_project: false, fact: *fact, warnings })
            }
            Asserted::Added { create_project: created, cut, fact, warnings } => {
                create_project(unit, created.as_deref(), now)?;
                if cut.is_some() {
                    let mut ended = before.expect("the fact before is the one that is cut");
                    check_end(&ended, &asked.caller)?;
                    // The old fact ends exactly where the new one begins: no gap and no overlap.
                    ended.valid_to = Some(fact.valid_from.clone());
                    end_fact(unit, &ended)?;
                }
                // First the old fact ends: the store allows one current fact of a chain.
                unit.insert_fact(&load::row_of_fact(&fact))?;
                if let Some(attempt) = asked.caller.attempt() {
                    let left = Left::Fact(fact.fact_id.as_str());
                    attempts::note(unit, project_id, attempt, left, now)?;
                }
                record(unit, &event::asserted(&fact, cut.as_ref(), now))?;
                let new_project = created.is_some();
                Ok(AssertedFact { new: true, new_project, fact: *fact, warnings })
            }
        }
    }
}

impl Memory {
    /// Asserts a fact in the name of Accord, in a transaction that does more.
    pub(crate) fn assert_by_itself(
        &self,
        unit: &mut dyn WriteUnit,
        project: &ProjectId,
        document: &Value,
        by: Actor,
    ) -> UnitResult<()> {
        let assertion = Assertion::parse(document.to_string().as_bytes(), project)?;
        let options = AssertOptions { allow_credentials: true, ..AssertOptions::default() };
        let (project_id, caller) = (project.clone(), Caller::owner());
        let prepared =
            Prepared { project_id, assertion, options, actor: Some(by), caller, random: random() };
        self.add_fact(unit, &prepared).map(drop)
    }

    /// Ends a fact in the name of Accord, in a transaction that does more.
    pub(crate) fn invalidate_by_itself(
        &self,
        unit: &mut dyn WriteUnit,
        project: &ProjectId,
        row: &FactRow,
        by: &Actor,
    ) -> UnitResult<()> {
        let now = self.now_in(unit, project)?;
        let mut ended = load::fact_of(row)?;
        let Some(end) = fact::invalidate(Some(&ended), None, now) else { return Ok(()) };
        ended.valid_to = Some(end);
        end_fact(unit, &ended)?;
        record(unit, &event::invalidated(&ended, Some(by), now))?;
        Ok(())
    }
}

/// A worker does not end what a person asserted. Fails with `not_for_workers`.
fn check_end(fact: &Fact, caller: &Caller) -> UnitResult<()> {
    let is_of_person = fact.asserted_by.as_ref().is_some_and(|by| by.kind == ActorType::Human);
    if is_of_person {
        caller.refuse_worker().map_err(|refused| {
            refused.suggesting("a person asserted this fact; ask a person in the report")
        })?;
    }
    Ok(())
}

fn end_fact(unit: &mut dyn WriteUnit, ended: &Fact) -> UnitResult<()> {
    let row = load::row_of_fact(ended);
    let end = ended.valid_to.as_ref().expect("a fact that ended");
    Ok(unit.end_fact(&ended.project_id, &ended.fact_id, end, &row.text)?)
}

/// The author of a package, if it exists, is undamaged and visible to the caller.
/// Clauses: AGENTIC-R-084.
fn author(
    unit: &dyn ReadUnit,
    access: &Access,
    project: &ProjectId,
    id: &PackageId,
) -> UnitResult<Option<Actor>> {
    let Some(row) = load::if_sound(unit.package(project, id))? else { return Ok(None) };
    // A draft of another actor must not reveal its author through the default of `asserted_by`.
    if !row.is_shown(load::drafts(access)) {
        return Ok(None);
    }
    let package = sound_package(row, &mut Vec::new())?;
    Ok(package.map(|package| package.fields().created_by.clone()))
}
