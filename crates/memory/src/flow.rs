//! Packages that follow from what was recorded elsewhere, such as a task that is done. What joins
//! protocols makes them; here they are stored.
//!
//! Invariants:
//! - the packages of a source and the position after them are committed together, so that a host
//!   that is killed at any moment neither loses nor repeats one;
//! - a package that the project has under its id stays as it is.

use accord_base::ProjectId;
use accord_base::decision::DecisionRecord;
use accord_contract::{Code, Failure, Value};
use accord_memory_core::Project;
use accord_memory_core::{Package, event};
use accord_store::{
    EventEntry, PackageIndex, ReadUnit, Scope, StoreExt as _, WaitingFlow, WriteUnit, take_flow,
    waiting_flows,
};

use super::attempts::EndedWork;
use super::deposit::{Prepared, Rows, Stored};
use super::record::create_project;
use super::trees::{TakenOver, place_in};
use super::{Memory, UnitError, UnitResult, load};

/// The settings of a project with the positions in its sources.
const FLOWED: &str = "flowed:";

/// What the events of all edges of a project are called as a source.
pub const EDGES: &str = "edges";

/// Where packages come from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FlowSource {
    /// The project that gets them. It is created if the store does not have it.
    pub project: ProjectId,
    /// The id of the source, which stays the same wherever the source is moved.
    pub id: String,
}

/// A package that follows from a record.
#[derive(Clone, Debug)]
pub struct FlowPackage {
    package: Package,
    index: PackageIndex,
}

impl FlowPackage {
    /// Fails when the document is not a package.
    pub fn new(document: &Value) -> Result<Self, Failure> {
        let package = Package::parse(document.to_string().as_bytes())?;
        Ok(Self { index: PackageIndex::of(package.fields()), package })
    }
}

impl Memory {
    /// Reads on the thread of the caller.
    pub fn read_now<T>(&self, read: impl Fn(&dyn ReadUnit) -> UnitResult<T>) -> Result<T, Failure> {
        self.store().read(read).map_err(UnitError::into_failure)
    }

    /// How far a source was looked at.
    pub fn flowed(&self, source: &FlowSource) -> Result<TakenOver, Failure> {
        let read = |unit: &dyn ReadUnit| position(unit, source);
        self.store().read(read).map_err(UnitError::into_failure)
    }

    /// Stores the packages of a source, ends work, and stores that the source was looked at up to a
    /// position. Nothing happens if it was looked at so far before. Waits until that is durable.
    /// Returns how many are new.
    pub fn flow(
        &self,
        source: &FlowSource,
        packages: Vec<FlowPackage>,
        ended: Vec<EndedWork>,
        upto: TakenOver,
    ) -> Result<u64, Failure> {
        let (memory, source) = (self.clone(), source.clone());
        let job = move |unit: &mut dyn WriteUnit| {
            if position(unit, &source)?.number >= upto.number {
                return Ok(0);
            }
            let project = &source.project;
            let is_there = load::is_there(unit.project(project))?;
            if !is_there && packages.is_empty() {
                // Looked at again, until there is a project that keeps the position.
                return Ok(0);
            }
            if !is_there {
                let now = memory.now_in(unit, project)?;
                create_project(unit, Some(&Project::bare(project.clone(), now)), now)?;
            }
            let mut new = 0;
            for package in &packages {
                new += u64::from(memory.put_flow(unit, project, package)?);
            }
            for ended in &ended {
                if let Some(document) = memory.end_work(unit, project, ended)? {
                    let package = FlowPackage::new(&document)?;
                    new += u64::from(memory.put_flow(unit, project, &package)?);
                }
            }
            let value = format!("{} {}", upto.number, upto.place);
            unit.put_setting(Scope::Project(project), &flowed(&source), Some(&value))?;
            Ok::<_, UnitError>(new)
        };
        self.store().write(job).map_err(UnitError::into_failure)
    }

    /// The decisions that are recorded and wait to be taken over, with their records. Reads on the
    /// thread of the caller.
    pub fn waiting_flows(&self) -> Result<Vec<(WaitingFlow, Option<DecisionRecord>)>, Failure> {
        let read = |unit: &dyn ReadUnit| {
            let waiting = waiting_flows(unit)?.into_iter().map(|waiting| {
                let row = load::if_sound(unit.decision(&waiting.project, &waiting.decision))?;
                let record = row.and_then(|row| load::decision_of(&row).ok());
                Ok::<_, UnitError>((waiting, record))
            });
            waiting.collect()
        };
        self.store().read(read).map_err(UnitError::into_failure)
    }

    /// Stores the package of a decision that waits, or none, and no longer lets it wait. Returns
    /// whether the package is new. Waits until that is durable.
    pub fn settle_flow(
        &self,
        waiting: &WaitingFlow,
        package: Option<FlowPackage>,
    ) -> Result<bool, Failure> {
        let (memory, waiting) = (self.clone(), waiting.clone());
        let job = move |unit: &mut dyn WriteUnit| {
            let project = &waiting.project;
            let waited = take_flow(unit, project, &waiting.decision)?;
            let is_there = load::is_there(unit.project(project))?;
            match &package {
                Some(package) if waited && is_there => memory.put_flow(unit, project, package),
                _ => Ok(false),
            }
        };
        self.store().write(job).map_err(UnitError::into_failure)
    }

    /// Stores a package. Returns whether it is new: one that is refused is left out, and logged.
    pub(crate) fn put_flow(
        &self,
        unit: &mut dyn WriteUnit,
        project: &ProjectId,
        flow: &FlowPackage,
    ) -> UnitResult<bool> {
        let (package, now) = (&flow.package, self.now());
        let mut rows = Rows {
            package: load::row_of_package(package, *package.content_hash(), (1, false), now),
            event: EventEntry::from(&event::deposited(package, now)),
        };
        let prepared = Prepared {
            project_id: project.clone(),
            package: package.clone(),
            index: flow.index.clone(),
            credentials: package.credentials(),
            is_flow: true,
            actor: None,
            attempt: None,
            drafts: None,
        };
        match self.store_deposit(unit, &prepared, &mut rows) {
            Ok(Stored::New { .. }) => Ok(true),
            Ok(Stored::Replay(_)) => Ok(false),
            Err(UnitError::Refused(failure)) => {
                let (id, code) = (package.package_id().as_str(), failure.code);
                if code != Code::AgenticDuplicatePackageId {
                    let (project, why) = (project.as_str(), failure.message);
                    tracing::warn!(project, id, %code, "a package is left out: {why}");
                }
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

pub(crate) fn position(unit: &dyn ReadUnit, source: &FlowSource) -> UnitResult<TakenOver> {
    Ok(place_in(unit.setting(Scope::Project(&source.project), &flowed(source))?.as_deref()))
}

fn flowed(source: &FlowSource) -> String {
    format!("{FLOWED}{}", source.id)
}
