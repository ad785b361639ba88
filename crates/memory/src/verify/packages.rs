//! Checks packages by their number in the store, so that unlisted ones are included.

use accord_base::ProjectId;
use accord_contract::{Failure, Timestamp};
use accord_memory_core::{Package, PackageId};
use accord_store::{
    DamagedRow, PackageIndex, PackageRow, Quarantine, ReadUnit, StoreExt as _, Stored,
};

use super::{MEND, PAGE, Suspect, Verification, advised, rows};
use crate::{UnitError, UnitResult, load};

struct Looked {
    row: PackageRow,
    verdict: Result<(), Failure>,
    derived: Vec<DamagedRow>,
}

impl Verification {
    pub(super) fn packages(&mut self, project: &ProjectId) -> UnitResult<()> {
        let numbers = self.read(|unit| Ok(unit.package_numbers(project)?))?;
        for numbers in numbers.chunks(PAGE) {
            if !self.goes_on() {
                break;
            }
            let page = self.read(|unit| {
                let found = numbers.iter().map(|number| check_package(unit, project, *number));
                found.filter_map(UnitResult::transpose).collect::<UnitResult<Vec<_>>>()
            })?;
            for looked in page {
                self.report.packages += 1;
                match looked {
                    Ok(looked) => self.looked_at(looked)?,
                    Err(damaged) => self.damaged_row(damaged),
                }
            }
        }
        Ok(())
    }

    fn looked_at(&mut self, looked: Looked) -> UnitResult<()> {
        let row = &looked.row;
        if let Err(failure) = &looked.verdict {
            // The quarantine says it.
            let (project, id) = (&row.project_id, row.package_id.as_str());
            self.problem(Suspect::Package, Some(project), id, &advised(failure, MEND));
        }
        looked.derived.into_iter().for_each(|derived| self.damaged_row(derived));
        if self.quarantine && looked.verdict.is_err() != is_damaged(row) {
            self.judge(&row.project_id, &row.package_id)?;
        }
        Ok(())
    }

    /// Checks a package again, and quarantines or releases it in the same transaction.
    fn judge(&mut self, project: &ProjectId, id: &PackageId) -> UnitResult<()> {
        let (project, id) = (project.clone(), id.clone());
        let now = Timestamp::emit(self.memory.now());
        let moved = self.memory.store().write(move |unit| {
            let Some(row) = load::if_sound(unit.package(&project, &id))? else { return Ok(None) };
            // Another write may have changed the package since it was checked.
            let verdict = match verdict(unit, &row)? {
                Err(failure) if !is_damaged(&row) => {
                    Some(Quarantine { at: now.clone(), reason: failure.message })
                }
                Ok(_) if is_damaged(&row) => None,
                _ => return Ok(None),
            };
            unit.quarantine_package(&project, &id, verdict.as_ref())?;
            Ok::<_, UnitError>(Some(verdict.is_some()))
        })?;
        match moved {
            Some(true) => self.report.quarantined += 1,
            Some(false) => self.report.released += 1,
            None => {}
        }
        Ok(())
    }
}

/// Checks a package and its derived data on one snapshot.
fn check_package(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    number: i64,
) -> UnitResult<Option<Stored<Looked>>> {
    let row = match unit.package_numbered(project, number)? {
        None => return Ok(None),
        Some(Err(damaged)) => return Ok(Some(Err(damaged))),
        Some(Ok(row)) => row,
    };
    let (verdict, derived) = match verdict(unit, &row)? {
        Err(failure) => (Err(failure), Vec::new()),
        Ok(package) => {
            let index = PackageIndex::of(package.fields());
            (Ok(()), unit.check_index(&row, &index)?)
        }
    };
    Ok(Some(Ok(Looked { row, verdict, derived })))
}

/// The package in a row, if it and its log are undamaged.
fn verdict(unit: &dyn ReadUnit, row: &PackageRow) -> UnitResult<Result<Package, Failure>> {
    match unit.revisions(&row.project_id, &row.package_id) {
        Ok(log) => Ok(rows::package(row, &log)),
        Err(error) if error.damaged().is_some() => Ok(Err(error.into())),
        Err(error) => Err(error.into()),
    }
}

/// Whether a package is in quarantine because it was damaged.
fn is_damaged(row: &PackageRow) -> bool {
    row.quarantine.as_ref().is_some_and(|quarantine| !quarantine.is_rejected())
}
