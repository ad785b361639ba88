//! A unit of work on a connection that has a transaction open.

mod audit;
mod blobs;
mod briefing;
mod column;
mod damage;
mod decisions;
mod derived;
mod edges;
mod embeddings;
mod events;
mod facts;
mod inbox;
mod inbox_list;
mod index;
mod keys;
mod links;
mod listing;
mod live;
mod live_writes;
mod notices;
mod package_rows;
mod packages;
mod people;
mod projects;
mod questions;
mod removal;
mod repair;
mod search;
mod select;
mod sessions;
mod settings;
mod sources;
mod tallies;
mod terms;
mod totals;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use accord_base::ProjectId;
use accord_live_core::SessionId as LiveSessionId;
use accord_store::{Advance, CommonTermLimits, DamagedRow, LiveAdvance, Result, StoreError};
use rusqlite::{Connection, Params};

use crate::error::{IntoStoreError as _, damaged};
use column::Row;
use terms::Pending;

/// The unit of a job: a connection, and work that is deferred to the end of the transaction.
/// Readers have one, too; its connection cannot write.
pub(crate) struct Unit<'c> {
    connection: &'c Connection,
    common: CommonTermLimits,
    /// Terms to index before the commit.
    pending: RefCell<Pending>,
    /// The streams to which finished jobs, and the running one, added events.
    advanced: BTreeMap<ProjectId, u64>,
    advanced_by_job: BTreeMap<ProjectId, u64>,
    /// The live sessions whose rows they wrote.
    live_advanced: BTreeMap<LiveSessionId, LiveAdvance>,
    live_advanced_by_job: BTreeMap<LiveSessionId, LiveAdvance>,
    /// A cache of the last project, because the next query is mostly about the same one.
    last_project: RefCell<Option<(ProjectId, i64)>>,
    /// The same of live sessions.
    last_live: RefCell<Option<(LiveSessionId, (i64, bool))>>,
    met: RefCell<BTreeSet<DamagedRow>>,
    /// What was written and may wait for people.
    touched: RefCell<inbox::Touched>,
}

/// What listeners are notified of after a commit.
pub(crate) struct Advances {
    pub(crate) events: Vec<Advance>,
    /// The live sessions whose rows were written.
    pub(crate) live: Vec<LiveAdvance>,
}

impl<'c> Unit<'c> {
    pub(crate) fn new(connection: &'c Connection, common: CommonTermLimits) -> Self {
        Self {
            connection,
            common,
            pending: RefCell::default(),
            advanced: BTreeMap::new(),
            advanced_by_job: BTreeMap::new(),
            live_advanced: BTreeMap::new(),
            live_advanced_by_job: BTreeMap::new(),
            last_project: RefCell::default(),
            last_live: RefCell::default(),
            met: RefCell::default(),
            touched: RefCell::default(),
        }
    }

    /// Begins a job in a savepoint.
    pub(crate) fn begin_job(&mut self) -> Result<()> {
        self.write("SAVEPOINT job", ())
    }

    pub(crate) fn keep_job(&mut self) {
        self.pending.get_mut().keep_job();
        // `append` keeps the later number of a project that several jobs wrote to.
        self.advanced.append(&mut self.advanced_by_job);
        self.live_advanced.append(&mut self.live_advanced_by_job);
    }

    pub(crate) fn release_job(&mut self) -> Result<()> {
        self.write("RELEASE job", ())
    }

    /// Rolls the job back to its savepoint, and ends it.
    pub(crate) fn undo_job(&mut self) -> Result<()> {
        self.forget_job();
        // ROLLBACK TO keeps the savepoint open, so it is released afterwards.
        self.run("ROLLBACK TO job", ())?;
        self.release_job()
    }

    /// Ends a job that has written nothing.
    pub(crate) fn forget_job(&mut self) {
        self.pending.get_mut().undo_job();
        self.advanced_by_job.clear();
        self.live_advanced_by_job.clear();
        // The cached project and session may have been added by the job.
        self.last_project.take();
        self.last_live.take();
    }

    /// The number of rows that the connection has changed so far.
    pub(crate) fn written(&self) -> u64 {
        self.connection.total_changes()
    }

    /// Whether SQLite has rolled the transaction back, as it does when the disk is full.
    pub(crate) fn is_lost(&self) -> bool {
        self.connection.is_autocommit()
    }

    /// Whether the running job has deferred work.
    pub(crate) fn is_touched(&self) -> bool {
        self.pending.borrow().is_touched()
    }

    /// Does the deferred work. Returns what listeners are notified of.
    pub(crate) fn settle(mut self) -> Result<Advances> {
        self.index_pending()?;
        self.settle_inbox()?;
        let events = std::mem::take(&mut self.advanced).into_iter();
        let events = events.map(|(project_id, through)| Advance { project_id, through }).collect();
        let live = std::mem::take(&mut self.live_advanced).into_values().collect();
        Ok(Advances { events, live })
    }

    fn find(&self, project: &ProjectId) -> Result<Option<i64>> {
        if let Some((known, pk)) = &*self.last_project.borrow()
            && known == project
        {
            return Ok(Some(*pk));
        }
        let sql = "SELECT pk FROM project WHERE project_id = ?1 AND NOT is_removed";
        let pk = self.one(sql, (project.as_str(),), |row| row.integer(0))?;
        // Only a found project is cached: a missing one may be created by the same job.
        if let Some(pk) = pk {
            self.last_project.replace(Some((project.clone(), pk)));
        }
        Ok(pk)
    }

    /// The number of a project to read from; 0, which no project has, if it does not exist.
    fn or_none(&self, project: &ProjectId) -> Result<i64> {
        Ok(self.find(project)?.unwrap_or_default())
    }

    /// The number of a project, which must exist.
    fn must_find(&self, project: &ProjectId) -> Result<i64> {
        let found = self.find(project)?;
        found.ok_or_else(|| StoreError::conflict("no project", project.as_str()))
    }

    /// Runs a statement. Returns the number of changed rows.
    fn run(&self, sql: &str, values: impl Params) -> Result<usize> {
        let mut statement = self.connection.prepare_cached(sql).store_error()?;
        statement.execute(values).store_error()
    }

    /// Runs a statement.
    fn write(&self, sql: &str, values: impl Params) -> Result<()> {
        self.run(sql, values).map(drop)
    }

    /// Runs a statement that adds a row. Returns the number of the row.
    fn insert(&self, sql: &str, values: impl Params) -> Result<u64> {
        self.run(sql, values)?;
        u64::try_from(self.connection.last_insert_rowid()).map_err(|_| damaged("a number"))
    }

    /// Runs a statement that must change one row.
    fn change(&self, what: &str, sql: &str, values: impl Params) -> Result<()> {
        match self.run(sql, values)? {
            1 => Ok(()),
            _ => Err(StoreError::conflict(what, "does not exist")),
        }
    }

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

    /// Reads the rows of a query one by one, as long as more are wanted.
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

fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A number as an SQLite integer, capped at its maximum.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
