//! Notes of damage: what people are told of a damaged row.
//!
//! A reader that meets a damaged row has it noted by a separate write. A verification writes the
//! notes of the projects that it looked at again: they go when it does not find the damage any
//! more. A damaged package needs no note where it can be quarantined.

use std::collections::BTreeMap;

use accord_base::ProjectId;
use accord_contract::Time;
use accord_memory_core::damage::{NOTES, note_name, note_text};
use accord_memory_core::operations::Suspect;
use accord_store::{DamagedRow, ReadUnit, Scope, StoreExt as _, Table, WriteUnit};

use super::{Memory, UnitError, UnitResult, load};

/// The most notes of a project. Who has so many restores a backup.
const MOST: usize = 100;

/// What a verification found in each project that it looked at, by the name of the note.
pub(crate) type Found = BTreeMap<ProjectId, BTreeMap<String, String>>;

/// The kind of object in a table.
pub(crate) fn suspect_in(table: Table) -> Suspect {
    match table {
        Table::Project => Suspect::Project,
        Table::Fact => Suspect::Fact,
        Table::Session => Suspect::Session,
        Table::Decision => Suspect::Decision,
        Table::Event => Suspect::Event,
        Table::Blob => Suspect::Blob,
        Table::Tally => Suspect::Tally,
        Table::Question | Table::Link => Suspect::Question,
        Table::Search | Table::Embedding => Suspect::Search,
        Table::Counter => Suspect::Counter,
        _ => Suspect::Package,
    }
}

/// Whether people are told of a damaged row that a reader met. A verification looks at these
/// tables, so that each note ends.
fn is_told(table: Table) -> bool {
    use Table::{Decision, Event, Fact, Package, Project, Session};
    matches!(table, Decision | Event | Fact | Package | Project | Session)
}

impl Memory {
    /// Has the damaged rows noted that a unit has met. A note that is there is not written again.
    pub(crate) fn note_met(&self, unit: &dyn ReadUnit) {
        for row in unit.damage().into_iter().filter(|row| is_told(row.table)) {
            let DamagedRow { table, project_id, id, what, .. } = row;
            let Some(project) = project_id else { continue };
            let name = note_name(suspect_in(table), &id);
            if !matches!(unit.setting(Scope::Project(&project), &name), Ok(None)) {
                continue;
            }
            let now = self.now();
            let job = move |unit: &mut dyn WriteUnit| {
                let notes = BTreeMap::from([(name.clone(), what.clone())]);
                add(unit, &project, &notes, now)
            };
            self.store().enqueue(job, |outcome: UnitResult<()>| {
                if let Err(failure) = outcome.map_err(UnitError::into_failure) {
                    tracing::error!("cannot note a damaged row: {failure}");
                }
            });
        }
    }
}

/// Makes the notes of projects those that a verification found.
pub(crate) fn renew(unit: &mut dyn WriteUnit, found: &Found, now: Time) -> UnitResult<()> {
    for (project, notes) in found {
        let scope = Scope::Project(project);
        for (name, _) in unit.settings(scope)? {
            if name.starts_with(NOTES) && !notes.contains_key(&name) {
                unit.put_setting(scope, &name, None)?;
            }
        }
        add(unit, project, notes, now)?;
    }
    Ok(())
}

/// Adds the notes that are not there yet.
fn add(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    notes: &BTreeMap<String, String>,
    now: Time,
) -> UnitResult<()> {
    // It may have been removed since.
    if notes.is_empty() || !load::is_there(unit.project(project))? {
        return Ok(());
    }
    let scope = Scope::Project(project);
    let settings = unit.settings(scope)?;
    let mut kept = settings.iter().filter(|(name, _)| name.starts_with(NOTES)).count();
    for (name, cause) in notes {
        if kept < MOST && unit.setting(scope, name)?.is_none() {
            unit.put_setting(scope, name, Some(&note_text(now, cause)))?;
            kept += 1;
        }
    }
    Ok(())
}
