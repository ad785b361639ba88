//! Flag, review, resubmit, complete: changes the state of a package.

use accord_base::decision::DecisionId;
use accord_base::{Author, By, Caller, Decision, Door, Need, ProjectId};
use accord_contract::Failure;
use accord_memory_core::deposit::answer;
use accord_memory_core::lifecycle::{
    Change, Move, Transition, decision, is_asked_of_person, oddities, transition,
};
use accord_memory_core::{Package, PackageId, event};
use accord_store::{WriteUnit, record_decision};

use super::load::read_revision;
use super::record::record;
use super::served::{Served, sound_package};
use super::{Memory, UnitResult, load};

impl Memory {
    /// Changes the state of a package, and returns it. The review of a person is recorded as a
    /// decision, with the door.
    pub async fn transition(
        &self,
        caller: &Caller,
        door: Door,
        within: Option<ProjectId>,
        id: PackageId,
        mut asked: Move,
    ) -> Result<Served, Failure> {
        let access = caller.access().clone();
        let need = need(asked.change);
        let author = Author::claimed(asked.actor.take(), "/actor");
        let authorized = caller.attribute(need, author)?;
        asked.actor = authorized.actor.clone();
        let by = authorized.by(door);
        let (memory, caller) = (self.clone(), caller.clone());
        let outcome = self
            .write(move |unit| {
                let verb = need.verb();
                let row = load::package_row(unit, &access, verb, within.as_ref(), &id)?;
                let project = load::project(unit, &access, verb, &row.project_id)?;
                project.must_take_writes()?;
                let mut damaged = Vec::new();
                match sound_package(row, &mut damaged)? {
                    Some(package) => {
                        if is_asked_of_person(&package, &asked) {
                            caller.refuse_worker()?;
                        }
                        memory.store_move(unit, package, &asked, by.as_ref()).map(Ok)
                    }
                    None => Ok(Err(damaged.remove(0))),
                }
            })
            .await?;
        self.sound(outcome)
    }

    /// Clauses: AGENTIC-R-067.
    fn store_move(
        &self,
        unit: &mut dyn WriteUnit,
        package: Package,
        asked: &Move,
        by: Option<&By>,
    ) -> UnitResult<Served> {
        let (project, id) = (package.project_id().clone(), package.package_id().clone());
        let log = unit.revisions(&project, &id)?;
        let last = log.last().map(|entry| load::revision_of(&id, entry));
        let last = last.unwrap_or_else(|| {
            Err(load::integrity(format!("the stored package {:?} has no log", id.as_str())))
        })?;
        let now = self.now_in(unit, &project)?;
        let (package, revision, warnings) = match transition(&package, &last, asked, now)? {
            Transition::Unchanged => (package, last.seq, Vec::new()),
            Transition::Moved { package: moved, revision } => {
                let state = load::state_of(&moved, revision.seq, revision.note.is_some());
                unit.move_package(&project, &id, &state, &[load::row_of_revision(&revision)])?;
                record(unit, &event::transitioned(&moved, &revision, now))?;
                // An earlier entry that is damaged only hides since when the review waited.
                let log: Vec<_> = log.iter().filter_map(|row| read_revision(row).ok()).collect();
                let decided = by.and_then(|by| {
                    let id = DecisionId::mint(accord_system::random());
                    decision(id, &package, &log, asked, by, now)
                });
                if let Some(decided) = decided {
                    record_decision(unit, &project, &decided, now)?;
                }
                (*moved, revision.seq, oddities(&package, asked))
            }
        };
        let hash = *package.content_hash();
        let (text, apart) = answer(&package, warnings);
        Ok(Served { text, apart, package_id: id, content_hash: hash, revision })
    }
}

fn need(change: Change) -> Need {
    match change {
        Change::Review(_) => Need::Decide(Decision::PeerReview),
        Change::Flag(_) | Change::Resubmit | Change::Complete => Need::Write,
    }
}
