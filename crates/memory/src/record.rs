//! Conversion between events and their rows.

use accord_base::{Actor, EventKind, NewEvent, ProjectId};
use accord_contract::{Failure, Time};
use accord_memory_core::{Project, Writing, event};
use accord_store::{EventRow, ReadUnit, WriteUnit};

use super::{Memory, UnitResult, load};

impl Memory {
    /// A write to a project, which `project` is if it exists.
    pub(crate) fn writing<'a>(
        &self,
        unit: &dyn ReadUnit,
        project_id: &'a ProjectId,
        project: Option<&'a Project>,
        actor: Option<&'a Actor>,
    ) -> UnitResult<Writing<'a>> {
        let now = self.now_in(unit, project_id)?;
        Ok(Writing { project_id, project, policy: self.policy(), actor, now })
    }

    /// Checks that a project accepts writes, and creates it if needed. Returns whether it is new.
    pub(crate) fn ensure_in(&self, unit: &mut dyn WriteUnit, id: &ProjectId) -> UnitResult<bool> {
        let known = load::known_project(unit, id)?;
        let writing = self.writing(unit, id, known.as_ref(), None)?;
        let created = writing.admit()?;
        create_project(unit, created.as_ref(), writing.now)?;
        Ok(created.is_some())
    }
}

/// Appends an event to its project's stream. Returns its number.
pub(crate) fn record(unit: &mut dyn WriteUnit, event: &NewEvent) -> UnitResult<u64> {
    Ok(unit.append_event(&event.project_id, &event.into())?)
}

/// Writes the project that a write creates, if it creates one.
pub(crate) fn create_project(
    unit: &mut dyn WriteUnit,
    created: Option<&Project>,
    now: Time,
) -> UnitResult<()> {
    if let Some(created) = created {
        unit.insert_project(&load::row_of_project(created))?;
        record(unit, &event::about_project(event::PROJECT_CREATED, created, now))?;
    }
    Ok(())
}

/// The event in a row. Its kind may be one that this version does not know. Fails with
/// `integrity_error` when the row is not an event.
pub(crate) fn recorded(project: &ProjectId, row: EventRow) -> Result<NewEvent, Failure> {
    let kind = EventKind::parse(row.entry.kind).ok();
    let data = serde_json::from_str(&row.entry.text).ok();
    let (Some(kind), Some(data)) = (kind, data) else {
        return Err(load::integrity(format!("the stored event {} is damaged", row.seq)));
    };
    Ok(NewEvent {
        project_id: project.clone(),
        kind,
        at: row.entry.at,
        data,
        only_for: row.entry.only_for,
    })
}
