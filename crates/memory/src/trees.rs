//! What the store keeps about file trees beside it: the folder that is linked to a project, and how
//! far the events of a tree were taken over into the project's stream.
//!
//! Invariants:
//! - an event of a source, and the decision that it reports, are recorded once: the events and the
//!   position after them are committed together, and events up to the position are left out;
//! - the times of a stream never go back, so that an event whose own time is earlier than the
//!   newest of the stream gets that time.

use accord_base::decision::DecisionRecord;
use accord_base::{Caller, EventKind, NewEvent, ProjectId, Verb};
use accord_contract::{Failure, Time, Timestamp, Value};
use accord_memory_core::Project;
use accord_store::{ReadUnit, Scope, StoreExt as _, WriteUnit, record_decision};

use super::record::{create_project, record};
use super::{Memory, UnitError, UnitResult, load};

/// The settings of the store with the folders that are linked to projects.
const LINK: &str = "task_tree:";
/// The settings of a project with the positions in its sources.
const TAKEN: &str = "taken_over:";

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EventSource {
    /// The project to whose stream they belong. It is created if the store does not have it.
    pub project: ProjectId,
    /// The id of the source, which stays the same wherever the source is moved.
    pub id: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SourceEvent {
    pub number: u64,
    /// Its kind in the stream of the project.
    pub kind: EventKind,
    pub at: Time,
    /// Its data in the stream of the project.
    pub data: Value,
    /// The record of the decision that it reports.
    pub decision: Option<DecisionRecord>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TakenOver {
    pub number: u64,
    /// Where the next event is looked for, in the source's own words.
    pub place: String,
}

impl Memory {
    pub fn taken_over(&self, source: &EventSource) -> Result<TakenOver, Failure> {
        let read = |unit: &dyn ReadUnit| position(unit, source);
        self.store().read(read).map_err(UnitError::into_failure)
    }

    /// Appends events of a source to the stream of its project. Events that are in the stream
    /// already are left out. Waits until that is durable, and returns how many were appended. Fails
    /// when the store cannot be written. Nothing was appended then.
    pub fn take_over(
        &self,
        source: &EventSource,
        events: Vec<SourceEvent>,
        place: &str,
    ) -> Result<u64, Failure> {
        let (memory, source, place) = (self.clone(), source.clone(), place.to_owned());
        let job = move |unit: &mut dyn WriteUnit| memory.append(unit, &source, &events, &place);
        self.store().write(job).map_err(UnitError::into_failure)
    }

    fn append(
        &self,
        unit: &mut dyn WriteUnit,
        source: &EventSource,
        events: &[SourceEvent],
        place: &str,
    ) -> UnitResult<u64> {
        let known = position(unit, source)?.number;
        let new: Vec<_> = events.iter().filter(|event| event.number > known).collect();
        let Some(last) = new.last() else { return Ok(0) };
        let project = &source.project;
        if !load::is_there(unit.project(project))? {
            let now = self.now_in(unit, project)?;
            create_project(unit, Some(&Project::bare(project.clone(), now)), now)?;
        }
        let latest = self.now_in(unit, project)?;
        for SourceEvent { at, kind, data, decision, .. } in &new {
            let newest = unit.newest_event_at(project)?.map(|newest| newest.time());
            // A clock that is ahead must not hold up the clock of the stream.
            let at = (*at).min(latest);
            let at = newest.map_or(at, |newest| at.max(newest));
            let event = NewEvent {
                project_id: project.clone(),
                kind: kind.clone(),
                at: Timestamp::emit(at),
                data: data.clone(),
                only_for: None,
            };
            record(unit, &event)?;
            if let Some(decision) = decision {
                record_decision(unit, project, decision, at)?;
            }
        }
        let value = format!("{} {place}", last.number);
        unit.put_setting(Scope::Project(project), &taken(source), Some(&value))?;
        Ok(new.len() as u64)
    }

    pub fn linked_folders(&self) -> Result<Vec<(ProjectId, String)>, Failure> {
        let read = |unit: &dyn ReadUnit| {
            let settings = unit.settings(Scope::Store)?.into_iter();
            let links = settings.filter_map(|(name, folder)| {
                Some((name.strip_prefix(LINK)?.parse().ok()?, folder))
            });
            Ok::<_, UnitError>(links.collect())
        };
        self.store().read(read).map_err(UnitError::into_failure)
    }

    /// Links a folder to a project, or removes the link.
    pub async fn link_folder(
        &self,
        caller: &Caller,
        project: &ProjectId,
        folder: Option<&str>,
    ) -> Result<(), Failure> {
        let (access, project) = (caller.access().clone(), project.clone());
        let folder = folder.map(str::to_owned);
        self.write(move |unit: &mut dyn WriteUnit| {
            load::project(unit, &access, Verb::Admin, &project)?;
            unlink_or(unit, &project, folder.as_deref())
        })
        .await
    }
}

/// Removes the link of a project, or sets it.
pub(crate) fn unlink_or(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    folder: Option<&str>,
) -> UnitResult<()> {
    let name = format!("{LINK}{}", project.as_str());
    Ok(unit.put_setting(Scope::Store, &name, folder)?)
}

fn position(unit: &dyn ReadUnit, source: &EventSource) -> UnitResult<TakenOver> {
    let value = unit.setting(Scope::Project(&source.project), &taken(source))?;
    Ok(place_in(value.as_deref()))
}

/// The position that a setting has.
pub(crate) fn place_in(value: Option<&str>) -> TakenOver {
    let Some((number, place)) = value.and_then(|value| value.split_once(' ')) else {
        return TakenOver::default();
    };
    TakenOver { number: number.parse().unwrap_or(0), place: place.to_owned() }
}

fn taken(source: &EventSource) -> String {
    format!("{TAKEN}{}", source.id)
}
