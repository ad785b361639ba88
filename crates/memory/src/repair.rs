//! Rebuilds derived data in a store that is not in use.
//!
//! The text of a package and its log prove each other by their hashes. Columns, counts, open
//! questions and the search index are rebuilt from them. A package whose text and log contradict
//! each other is quarantined. Facts, sessions, projects and events have no such proof and stay
//! unchanged.

use accord_base::ProjectId;
use accord_contract::{Failure, Timestamp};
use accord_memory_core::Package;
use accord_memory_core::lifecycle::check_revisions;
use accord_store::{
    PackageIndex, PackageRow, PackageSource, Quarantine, Store, StoreError, StoreExt as _,
    WriteUnit,
};

use super::load;

/// How many packages are rewritten in one transaction.
const BATCH: usize = 500;

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Repaired {
    /// How many packages are sound after the repair.
    pub sound: u64,
    /// How many packages were quarantined.
    pub set_aside: u64,
}

/// Rebuilds derived data in a store that is not in use. `tell` gets the number of packages that
/// are done, and of all packages.
pub fn repair(store: &dyn Store, tell: &mut dyn FnMut(u64, u64)) -> Result<Repaired, StoreError> {
    let total = store.read(|unit| {
        let projects = unit.project_ids()?;
        let counts = projects.iter().map(|project| Ok(unit.contents(project)?.packages));
        counts.sum::<Result<u64, StoreError>>()
    })?;
    tell(0, total);
    // First everything derived is removed: the packages below are added as if they were new.
    store.write(|unit| unit.forget_derived())?;
    let mut repaired = Repaired::default();
    for project in store.read(|unit| unit.project_ids())? {
        let numbers = store.read(|unit| unit.package_numbers(&project))?;
        for batch in numbers.chunks(BATCH) {
            let (project, batch) = (project.clone(), batch.to_vec());
            let sound = store.write(move |unit| {
                let mut sound = 0;
                for number in &batch {
                    sound += u64::from(give_back(unit, &project, *number)?);
                }
                Ok::<_, StoreError>((sound, batch.len() as u64))
            })?;
            repaired.sound += sound.0;
            repaired.set_aside += sound.1 - sound.0;
            tell(repaired.sound + repaired.set_aside, total);
        }
        store.write(move |unit| unit.recount(&project))?;
    }
    Ok(repaired)
}

/// Rewrites a package or quarantines it. Returns whether it is sound.
fn give_back(unit: &mut dyn WriteUnit, id: &ProjectId, number: i64) -> Result<bool, StoreError> {
    let source = unit.package_source(id, number)?.unwrap_or_default();
    let reason = match restored(id, source) {
        Ok((mut row, index)) => {
            let known = match unit.package(id, &row.package_id) {
                Err(error) if error.damaged().is_some() => None,
                known => known?,
            };
            let held = known.and_then(|known| known.quarantine);
            row.quarantine = held.filter(Quarantine::is_rejected);
            if unit.put_package(number, &row, &index)? {
                return Ok(true);
            }
            "another package has its id".to_owned()
        }
        Err(failure) => failure.message,
    };
    let at = Timestamp::emit(accord_system::now());
    unit.set_aside(number, &Quarantine { at, reason })?;
    Ok(false)
}

/// The row and the search index of a package, rebuilt from its text and its log.
fn restored(id: &ProjectId, source: PackageSource) -> Result<(PackageRow, PackageIndex), Failure> {
    let text = source.text.unwrap_or_default();
    let log = source.log.iter().map(load::read_revision).collect::<Result<Vec<_>, _>>()?;
    let (Some(first), Some(last)) = (log.first(), log.last()) else {
        return Err(load::integrity("it has no log"));
    };
    let package = Package::from_stored(text, &last.content_hash)?;
    package.must_belong_to(id)?;
    check_revisions(&package, &log)?;
    // The first entry of the log is the deposit, so its time is the best substitute.
    let deposited_at = source.deposited_at.as_ref().unwrap_or(&first.at).time();
    let latest = (last.seq, last.note.is_some());
    let row = load::row_of_package(&package, first.content_hash, latest, deposited_at);
    let index = PackageIndex::of(package.fields());
    Ok((row, index))
}
