//! Unreadable rows: an error for a query of one row, left out of lists, recorded in both cases.

use accord_base::ProjectId;
use accord_store::{DamagedRow, Result, StoreError, Stored, Table, fill};
use rusqlite::Params;

use super::column::Row;
use super::{Unit, limit};

/// Reads a row of a project, whose first column is its id.
pub(super) fn examine<T>(
    columns: &Row<'_>,
    table: Table,
    project: &ProjectId,
    read: impl FnOnce(&Row<'_>, &ProjectId) -> Result<T>,
) -> Stored<T> {
    let read = read(columns, project);
    read.map_err(|error| damaged(columns, table, Some(project), &error))
}

/// Reads a row of the project that another column names.
pub(super) fn examine_of<T>(
    columns: &Row<'_>,
    table: Table,
    owner: usize,
    read: impl FnOnce(&Row<'_>, &ProjectId) -> Result<T>,
) -> Stored<T> {
    match columns.id(owner) {
        Ok(project) => examine(columns, table, &project, read),
        Err(error) => Err(damaged(columns, table, None, &error)),
    }
}

fn damaged(row: &Row<'_>, table: Table, of: Option<&ProjectId>, error: &StoreError) -> DamagedRow {
    let (project_id, what) = (of.cloned(), error.detail().to_owned());
    DamagedRow { table, project_id, id: row.label(0), what }
}

impl Unit<'_> {
    /// The row, or an error that names it.
    pub(super) fn sound<T>(&self, row: Stored<T>) -> Result<T> {
        row.map_err(|damaged| {
            self.met.borrow_mut().insert(damaged.clone());
            StoreError::damaged_row(damaged)
        })
    }

    /// The first row of a query, or an error that names it.
    pub(super) fn one_sound<T>(
        &self,
        sql: &str,
        values: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Stored<T>,
    ) -> Result<Option<T>> {
        let row = self.one(sql, values, |columns| Ok(read(columns)))?;
        row.map(|row| self.sound(row)).transpose()
    }

    /// The row, if it is readable.
    pub(super) fn keep<T>(&self, row: Stored<T>) -> Option<T> {
        self.sound(row).ok()
    }

    /// The readable rows of a query.
    pub(super) fn many_sound<T>(
        &self,
        sql: &str,
        values: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Stored<T>,
    ) -> Result<Vec<T>> {
        let rows = self.many(sql, values, |columns| Ok(self.keep(read(columns))))?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// As many readable rows as are wanted, if there are. `values` gets the number to read.
    pub(super) fn fill_sound<T, P: Params>(
        &self,
        wanted: usize,
        sql: &str,
        values: impl Fn(i64) -> P,
        read: impl Fn(&Row<'_>) -> Stored<T>,
    ) -> Result<Vec<T>> {
        fill(wanted, |wanted| {
            self.many(sql, values(limit(wanted)), |columns| Ok(self.keep(read(columns))))
        })
    }
}
