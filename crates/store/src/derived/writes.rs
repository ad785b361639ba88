//! Writes packages with everything that is derived from them.

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use accord_memory_core::lifecycle::Standing;

use super::questions::audience;
use super::{PackageRows, TallyChange, links, questions};
use crate::{
    PackageIndex, PackageRow, PackageState, PackageWrites, Quarantine, Result, RevisionRow,
    StoreError,
};

impl<U: PackageRows> PackageWrites for U {
    fn insert_package(
        &mut self,
        row: &PackageRow,
        index: &PackageIndex,
        log: &[RevisionRow],
    ) -> Result<u64> {
        row.check_log(log)?;
        let package = self.add_package(row, log)?;
        derive(self, package, row, index, Some(log))?;
        u64::try_from(package).map_err(|_| StoreError::unreadable("a number"))
    }

    fn move_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        state: &PackageState,
        revisions: &[RevisionRow],
    ) -> Result<()> {
        let old = find(self, project, package)?;
        old.check_move(state, revisions)?;
        self.set_package_state(number(&old), state, revisions)?;
        let new = PackageRow { state: state.clone(), ..old.clone() };
        follow(self, &old, &new)
    }

    fn quarantine_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        quarantine: Option<&Quarantine>,
    ) -> Result<()> {
        let old = find(self, project, package)?;
        self.set_quarantine(number(&old), quarantine)?;
        let new = PackageRow { quarantine: quarantine.cloned(), ..old.clone() };
        follow(self, &old, &new)
    }

    fn reindex_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        index: &PackageIndex,
    ) -> Result<()> {
        let row = find(self, project, package)?;
        let package = number(&row);
        links::remove(self, project, package)?;
        questions::take(self, project, package)?;
        link(self, package, &row, index, None)?;
        self.put_terms(project, package, index, true)
    }

    fn put_package(&mut self, number: i64, row: &PackageRow, index: &PackageIndex) -> Result<bool> {
        let is_written = self.rewrite_package(number, row)?;
        if is_written {
            derive(self, number, row, index, None)?;
        }
        Ok(is_written)
    }

    fn set_aside(&mut self, package: i64, quarantine: &Quarantine) -> Result<()> {
        self.set_quarantine(package, Some(quarantine))
    }
}

/// From when a package asks, answers and supersedes. Unreadable entries are left to a verification.
pub(super) fn standing(rows: &dyn PackageRows, package: i64, row: &PackageRow) -> Result<Standing> {
    let log = rows.log_texts(package)?;
    Ok(row.standing(log.iter().map(String::as_str)))
}

pub(super) fn number(row: &PackageRow) -> i64 {
    i64::try_from(row.seq).unwrap_or(i64::MAX)
}

fn find(rows: &dyn PackageRows, project: &ProjectId, package: &PackageId) -> Result<PackageRow> {
    let found = rows.package(project, package)?;
    found.ok_or_else(|| StoreError::conflict("no package", package.as_str()))
}

/// Adds what is derived from a package that has no derived rows. Without a log, it is read.
fn derive(
    rows: &mut dyn PackageRows,
    package: i64,
    row: &PackageRow,
    index: &PackageIndex,
    log: Option<&[RevisionRow]>,
) -> Result<()> {
    link(rows, package, row, index, log)?;
    count(rows, row, 1)?;
    rows.put_terms(&row.project_id, package, index, false)
}

fn link(
    rows: &mut dyn PackageRows,
    package: i64,
    row: &PackageRow,
    index: &PackageIndex,
    log: Option<&[RevisionRow]>,
) -> Result<()> {
    if !index.links().is_empty() || !index.open_questions().is_empty() {
        let standing = match log {
            Some(log) => row.standing(log.iter().map(|entry| entry.text.as_str())),
            None => standing(rows, package, row)?,
        };
        links::add(rows, package, row, index.links(), &standing)?;
        questions::ask(rows, package, row, &standing, index.distinct_questions())?;
    }
    // Answers that name this package may have been stored before it.
    links::resolve(rows, row)
}

/// Updates counts, questions and links after the state of a package changed.
fn follow(rows: &mut dyn PackageRows, old: &PackageRow, new: &PackageRow) -> Result<()> {
    count(rows, old, -1)?;
    count(rows, new, 1)?;
    let package = number(old);
    links::update(rows, package, new)?;
    // Questions are stored per audience. They move when the package becomes visible to others.
    if audience(old) == audience(new) {
        return Ok(());
    }
    let questions = questions::take(rows, &new.project_id, package)?;
    let standing = standing(rows, package, new)?;
    questions::ask(rows, package, new, &standing, &questions)
}

fn count(rows: &mut dyn PackageRows, row: &PackageRow, more: i64) -> Result<()> {
    match TallyChange::of(row, more) {
        Some(change) => rows.count_packages(&row.project_id, &change),
        None => Ok(()),
    }
}
