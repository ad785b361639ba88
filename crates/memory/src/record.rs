//! Conversion between events and their rows.

use accord_base::{EventKind, NewEvent, ProjectId};
use accord_contract::{Code, Failure, Time};
use accord_memory_core::Project;
use accord_store::{EventEntry, EventRow, WriteUnit};

use super::{UnitResult, load};

/// Appends an event to its project's stream. Returns its number.
pub(crate) fn record(unit: &mut dyn WriteUnit, event: &NewEvent) -> UnitResult<u64> {
    Ok(unit.append_event(&event.project_id, &entry(event))?)
}

pub(crate) fn entry(event: &NewEvent) -> EventEntry {
    EventEntry::from(event)
}

/// Writes the project that a write creates, if it creates one.
pub(crate) fn create_project(
    unit: &mut dyn WriteUnit,
    created: Option<&Project>,
    now: Time,
) -> UnitResult<()> {
    if let Some(created) = created {
        unit.insert_project(&load::row_of_project(created))?;
        record(unit, &accord_memory_core::event::project_created(created, now))?;
    }
    Ok(())
}

/// The event in a row. Its kind may be one that this version does not know. Fails with
/// `integrity_error` when the row is not an event.
pub(crate) fn recorded(project: &ProjectId, row: EventRow) -> Result<NewEvent, Failure> {
    let kind = EventKind::parse(row.entry.kind).ok();
    let data = serde_json::from_str(&row.entry.text).ok();
    let (Some(kind), Some(data)) = (kind, data) else {
        let message = format!("the stored event {} is damaged", row.seq);
        return Err(Failure::new(Code::AgenticIntegrityError, message));
    };
    Ok(NewEvent {
        project_id: project.clone(),
        kind,
        at: row.entry.at,
        data,
        only_for: row.entry.only_for,
    })
}
