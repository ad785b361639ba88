//! A unit of work on a connection that has a transaction open.

mod audit;
mod blobs;
mod column;
mod damage;
mod derived;
mod events;
mod facts;
mod keys;
mod listing;
mod open_questions;
mod packages;
mod projects;
mod questions;
mod repair;
mod search;
mod select;
mod sessions;
mod settings;
mod sources;
mod tallies;
mod terms;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use accord_base::ProjectId;
use accord_store::{Advance, CommonTermLimits, DamagedRow, Result, StoreError};
use rusqlite::{Connection, Params};

use crate::error::IntoStoreError as _;
use column::Row;
use terms::Pending;

/// What a job is given: a connection, and what it leaves to do at the end of the transaction.
///
/// A reader's unit is one, too; its connection cannot write.
pub(crate) struct Unit<'c> {
    connection: &'c Connection,
    common: CommonTermLimits,
    /// Terms that are to be indexed before the commit.
    pending: RefCell<Pending>,
    /// The streams that the jobs so far made longer, and the one that is running.
    advanced: BTreeMap<ProjectId, u64>,
    advanced_by_job: BTreeMap<ProjectId, u64>,
    /// The project that was asked for last, which is mostly the one that is asked for next.
    last_project: RefCell<Option<(ProjectId, i64)>>,
    /// The damaged rows that were met.
    met: RefCell<BTreeSet<DamagedRow>>,
}

impl<'c> Unit<'c> {
    pub(crate) fn new(connection: &'c Connection, common: CommonTermLimits) -> Self {
        Self {
            connection,
            common,
            pending: RefCell::default(),
            advanced: BTreeMap::new(),
            advanced_by_job: BTreeMap::new(),
            last_project: RefCell::default(),
            met: RefCell::default(),
        }
    }

    /// Begins a job that can be undone alone.
    pub(crate) fn begin_job(&mut self) -> Result<()> {
        self.run("SAVEPOINT job", ())?;
        Ok(())
    }

    /// Keeps what the job did, as far as the transaction is kept.
    pub(crate) fn keep_job(&mut self) {
        self.pending.get_mut().keep_job();
        self.advanced.append(&mut self.advanced_by_job);
    }

    /// Ends a job that was begun as one that can be undone alone.
    pub(crate) fn release_job(&mut self) -> Result<()> {
        self.run("RELEASE job", ())?;
        Ok(())
    }

    /// Undoes what the job did, and ends it.
    pub(crate) fn undo_job(&mut self) -> Result<()> {
        self.forget_job();
        self.run("ROLLBACK TO job", ())?;
        self.release_job()
    }

    /// Forgets a job that has written nothing.
    pub(crate) fn forget_job(&mut self) {
        self.pending.get_mut().undo_job();
        self.advanced_by_job.clear();
        // The project may have been one that the job added.
        self.last_project.take();
    }

    /// How much was written on the connection so far.
    pub(crate) fn written(&self) -> u64 {
        self.connection.total_changes()
    }

    /// Whether SQLite has given the transaction up, as it does where there is no room, no memory,
    /// or a disk that fails.
    pub(crate) fn is_lost(&self) -> bool {
        self.connection.is_autocommit()
    }

    /// Whether the job that runs has left something to do.
    pub(crate) fn is_touched(&self) -> bool {
        self.pending.borrow().is_touched()
    }

    /// Does what was left to the end of the transaction, and says which streams have grown.
    pub(crate) fn settle(mut self) -> Result<Vec<Advance>> {
        self.index_pending()?;
        let advanced = std::mem::take(&mut self.advanced).into_iter();
        Ok(advanced
            .map(|(project_id, through)| Advance {
                project_id,
                through,
            })
            .collect())
    }

    /// The number of a project, where it is there.
    fn find(&self, project: &ProjectId) -> Result<Option<i64>> {
        if let Some((known, pk)) = &*self.last_project.borrow()
            && known == project
        {
            return Ok(Some(*pk));
        }
        let sql = "SELECT pk FROM project WHERE project_id = ?1";
        let pk = self.one(sql, (project.as_str(),), |row| row.integer(0))?;
        if let Some(pk) = pk {
            self.last_project.replace(Some((project.clone(), pk)));
        }
        Ok(pk)
    }

    /// The number of a project that must be there.
    fn must_find(&self, project: &ProjectId) -> Result<i64> {
        let found = self.find(project)?;
        found.ok_or_else(|| StoreError::conflict("no project", project.as_str()))
    }

    /// Runs a statement and gives the number of rows that it changed.
    fn run(&self, sql: &str, values: impl Params) -> Result<usize> {
        let mut statement = self.connection.prepare_cached(sql).store_error()?;
        statement.execute(values).store_error()
    }

    /// Runs a statement that must change one row.
    fn change(&self, what: &str, sql: &str, values: impl Params) -> Result<()> {
        match self.run(sql, values)? {
            1 => Ok(()),
            _ => Err(StoreError::conflict(what, "is not there")),
        }
    }

    /// The first row of a query.
    fn one<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut first = None;
        self.each(sql, values, read, |row| {
            first = Some(row);
            false
        })?;
        Ok(first)
    }

    /// All rows of a query.
    fn many<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.each(sql, values, read, |row| {
            all.push(row);
            true
        })?;
        Ok(all)
    }

    /// The rows of a query, one by one, as long as more are wanted.
    fn each<T>(
        &self,
        sql: &str,
        values: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
        mut wanted: impl FnMut(T) -> bool,
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(sql).store_error()?;
        let mut rows = statement.query(values).store_error()?;
        while let Some(row) = rows.next().store_error()? {
            if !wanted(read(&Row(row))?) {
                break;
            }
        }
        Ok(())
    }
}

/// A limit as SQLite takes it.
fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A number as SQLite takes it; it knows none that is larger.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
