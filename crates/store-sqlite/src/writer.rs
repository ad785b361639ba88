//! The writer thread (group commit).
//!
//! It takes the waiting jobs, runs them and those that arrive meanwhile in one transaction,
//! commits, and answers. While a commit is being synced, the next group gathers. So jobs share a
//! commit under load.
//!
//! When a transaction is lost, all of its jobs are run again, each in its own transaction. That
//! includes jobs that were to be refused, because they may have seen writes that no longer exist.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use accord_store::{
    CommonTermLimits, JobOutcome, Listeners, Result, StoreError, StoreErrorKind, WriteJob,
};
use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;

use crate::Options;
use crate::error::IntoStoreError as _;
use crate::readers::{CLOSED, Readers};
use crate::unit::{Advances, Unit};

/// How long the writer waits for running reads when it closes. After that the log file stays.
const LAST_READS: Duration = Duration::from_secs(5);

/// How many jobs may wait, and those that do.
pub(crate) struct Queue {
    limit: usize,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Box<dyn WriteJob>>,
    closed: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) jobs: AtomicU64,
    pub(crate) groups: AtomicU64,
}

pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) readers: Arc<Readers>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) listeners: Arc<Listeners>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) common: CommonTermLimits,
    pub(crate) group: usize,
    pub(crate) pace: GroupWait,
    pub(crate) rest: Duration,
    #[cfg(feature = "testing")]
    pub(crate) delay: Duration,
}

impl Queue {
    pub(crate) fn new(options: &Options) -> Self {
        Self { limit: options.queue.max(1), waiting: Mutex::default(), changed: Condvar::new() }
    }

    /// Enqueues a job, or finishes it with an error when the queue is full or closed.
    pub(crate) fn put(&self, job: Box<dyn WriteJob>) {
        let mut waiting = self.waiting.lock();
        let error = if waiting.closed {
            StoreError::new(StoreErrorKind::Unavailable, CLOSED)
        } else if waiting.jobs.len() >= self.limit {
            StoreError::new(StoreErrorKind::Busy, "too many jobs wait for the writer")
        } else {
            waiting.jobs.push_back(job);
            drop(waiting);
            self.changed.notify_one();
            return;
        };
        drop(waiting);
        // Outside the lock: the callback runs code of the caller, which may submit another job.
        job.finish(Err(error));
    }

    /// Refuses new jobs. Waiting jobs are still run.
    pub(crate) fn close(&self) {
        self.waiting.lock().closed = true;
        self.changed.notify_all();
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.lock().jobs.len()
    }

    /// Waits at most `rest` for jobs, and takes at most `most`. `None` when closed and empty.
    fn take(&self, most: usize, rest: Duration) -> Option<Vec<Box<dyn WriteJob>>> {
        let mut waiting = self.waiting.lock();
        let rest = Instant::now() + rest;
        while waiting.jobs.is_empty() {
            if waiting.closed {
                return None;
            }
            let left = rest.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Some(Vec::new());
            }
            self.changed.wait_for(&mut waiting, left);
        }
        let count = waiting.jobs.len().min(most);
        Some(waiting.jobs.drain(..count).collect())
    }

    /// Adds jobs that arrive, or are expected, to a group, up to `most`. Returns whether any did.
    fn join(&self, group: &mut Vec<Box<dyn WriteJob>>, most: usize, pace: &GroupWait) -> bool {
        let missing = pace.expected.min(most).saturating_sub(group.len());
        let mut waiting = self.waiting.lock();
        if missing > 0 {
            let deadline = Instant::now() + pace.patience;
            while waiting.jobs.is_empty() && !waiting.closed {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                self.changed.wait_for(&mut waiting, left);
            }
        }
        let count = waiting.jobs.len().min(most.saturating_sub(group.len()));
        group.extend(waiting.jobs.drain(..count));
        count > 0
    }
}

/// How long to wait for a group to gather. A client that was just answered sends its next job at
/// once or not at all. Waiting for a fraction of a commit makes one group of all clients. With a
/// single client there is no wait.
#[derive(Debug, Default)]
pub(crate) struct GroupWait {
    expected: usize,
    patience: Duration,
}

impl GroupWait {
    fn learn(&mut self, group: usize, waiting: usize, commit: Duration) {
        self.expected = group + waiting;
        // A quarter of a commit: the wait costs less than the commit that it can save.
        self.patience = commit / 4;
    }
}

impl Writer {
    /// Runs until the queue is closed and empty. Its connection is closed last: only this one can
    /// write, and so remove the log file.
    pub(crate) fn run(mut self) {
        while let Some(jobs) = self.queue.take(self.group, self.rest) {
            if jobs.is_empty() {
                self.idle();
            } else {
                self.serve(jobs, Joining::Allowed);
            }
        }
        self.readers.close(LAST_READS);
        // Merges the log into the database. When that fails, the log still has everything.
        drop(self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"));
    }

    /// Releases unused memory. A failure is harmless.
    fn idle(&self) {
        drop(self.connection.execute_batch("PRAGMA shrink_memory"));
        self.readers.close_forgotten();
        // The allocator gives back what was freed a while ago when a thread ends that used it.
        let use_allocator = || drop(std::hint::black_box(Box::new(0_u8)));
        drop(thread::Builder::new().spawn(use_allocator).map(JoinHandle::join));
    }

    fn serve(&mut self, mut jobs: Vec<Box<dyn WriteJob>>, joining: Joining) {
        let mut done = self.commit(&mut jobs, Isolation::None, joining);
        if matches!(done, Err(Aborted::Dirty(_))) && jobs.len() > 1 {
            done = self.commit(&mut jobs, Isolation::Savepoint, Joining::Refused);
        }
        match done {
            // Only now is the commit durable, so only now may a caller learn its outcome.
            Ok(Group { outcomes, advances }) => {
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    finish(job, outcome);
                }
                // After the answers: a follower reads the store by number, so it misses nothing.
                self.listeners.notify(&advances.events);
                self.listeners.notify_live(&advances.live);
            }
            // No transaction could begin, so running the jobs one by one would fail too.
            Err(Aborted::NotBegun(error)) => {
                jobs.into_iter().for_each(|job| finish(job, Err(error.clone())));
            }
            // One of the jobs may have caused the failure of all.
            Err(_) if jobs.len() > 1 => {
                jobs.into_iter().for_each(|job| self.serve(vec![job], Joining::Refused));
            }
            Err(lost) => jobs.into_iter().for_each(|job| finish(job, lost.clone().outcome())),
        }
    }

    /// Runs jobs in one transaction. Afterwards all of their writes are durable, or none is left.
    fn commit(
        &mut self,
        jobs: &mut Vec<Box<dyn WriteJob>>,
        isolation: Isolation,
        joining: Joining,
    ) -> Result<Group, Aborted> {
        let done = self.try_commit(jobs, isolation, joining);
        if done.is_err() && !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").store_error()?;
        }
        done
    }

    fn try_commit(
        &mut self,
        jobs: &mut Vec<Box<dyn WriteJob>>,
        isolation: Isolation,
        joining: Joining,
    ) -> Result<Group, Aborted> {
        // A deferred transaction could fail with "busy" at its first write, after jobs have run.
        run(&self.connection, "BEGIN IMMEDIATE").map_err(Aborted::NotBegun)?;
        let mut unit = Unit::new(&self.connection, self.common);
        let mut outcomes = Vec::with_capacity(jobs.len());
        loop {
            // Jobs that joined are appended, so this is the first one that has not run yet.
            for job in &mut jobs[outcomes.len()..] {
                outcomes.push(match isolation {
                    Isolation::None => run_unprotected(&mut unit, &mut **job)?,
                    Isolation::Savepoint => run_in_savepoint(&mut unit, &mut **job)?,
                });
            }
            if joining == Joining::Refused || !self.queue.join(jobs, self.group, &self.pace) {
                break;
            }
        }
        // Part of the transaction, so that a package is never committed without its search terms.
        let advances = unit.settle()?;
        let began = Instant::now();
        #[cfg(feature = "testing")]
        thread::sleep(self.delay);
        run(&self.connection, "COMMIT")?;
        self.pace.learn(jobs.len(), self.queue.waiting(), began.elapsed());
        self.counters.jobs.fetch_add(jobs.len() as u64, Ordering::Relaxed);
        self.counters.groups.fetch_add(1, Ordering::Relaxed);
        Ok(Group { outcomes, advances })
    }
}

/// How the jobs of one transaction are isolated from each other.
#[derive(Clone, Copy)]
enum Isolation {
    /// Not at all. When a job that has written rolls back, all are run again with savepoints.
    None,
    /// Each in a savepoint, which costs a copy of every page that the job touches.
    Savepoint,
}

/// Whether jobs that arrive while a transaction runs may join it.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Joining {
    Allowed,
    Refused,
}

struct Group {
    outcomes: Vec<Result<()>>,
    advances: Advances,
}

#[derive(Clone)]
enum Aborted {
    NotBegun(StoreError),
    /// A job that wrote something must be rolled back alone; this is its outcome.
    Dirty(Result<()>),
    /// Its last job met the failure itself and rolled back.
    Undone,
    Failed(StoreError),
}

impl Aborted {
    fn outcome(self) -> Result<()> {
        match self {
            Self::Dirty(outcome) => outcome,
            Self::Undone => Ok(()),
            Self::NotBegun(error) | Self::Failed(error) => Err(error),
        }
    }
}

impl From<StoreError> for Aborted {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// Runs a job that only the end of the transaction can roll back.
fn run_unprotected(unit: &mut Unit<'_>, job: &mut dyn WriteJob) -> Result<Result<()>, Aborted> {
    let before = unit.written();
    let (verdict, outcome) = attempt(unit, job)?;
    match verdict {
        JobOutcome::Commit => unit.keep_job(),
        // It wrote rows, or has terms that wait to be indexed. Either must be undone.
        JobOutcome::RollBack if unit.written() != before || unit.is_touched() => {
            return Err(Aborted::Dirty(outcome));
        }
        JobOutcome::RollBack => unit.forget_job(),
    }
    Ok(outcome)
}

/// Runs a job that can be rolled back alone.
fn run_in_savepoint(unit: &mut Unit<'_>, job: &mut dyn WriteJob) -> Result<Result<()>, Aborted> {
    unit.begin_job()?;
    let (verdict, outcome) = attempt(unit, job)?;
    match verdict {
        JobOutcome::Commit => {
            unit.keep_job();
            unit.release_job()?;
        }
        JobOutcome::RollBack => unit.undo_job()?,
    }
    Ok(outcome)
}

/// Runs a job. A job that panics is rolled back.
fn attempt(
    unit: &mut Unit<'_>,
    job: &mut dyn WriteJob,
) -> Result<(JobOutcome, Result<()>), Aborted> {
    // The unit is discarded or rolled back after a panic, so its state cannot be observed.
    let ran = catch_unwind(AssertUnwindSafe(|| job.run(unit)));
    match (ran, unit.is_lost()) {
        (Ok(verdict), false) => Ok((verdict, Ok(()))),
        (Ok(JobOutcome::RollBack), true) => Err(Aborted::Undone),
        // The job believes that its writes are in the transaction, but SQLite has ended that.
        (Ok(JobOutcome::Commit), true) => {
            Err(StoreError::new(StoreErrorKind::Unavailable, "SQLite rolled back").into())
        }
        (Err(_), is_lost) => {
            let broken = StoreError::new(StoreErrorKind::Broken, "a job panicked");
            if is_lost { Err(broken.into()) } else { Ok((JobOutcome::RollBack, Err(broken))) }
        }
    }
}

fn finish(job: Box<dyn WriteJob>, outcome: Result<()>) {
    // A callback that panics must not stop the writer.
    drop(catch_unwind(AssertUnwindSafe(|| job.finish(outcome))));
}

fn run(connection: &Connection, sql: &str) -> Result<()> {
    let mut statement = connection.prepare_cached(sql).store_error()?;
    statement.execute(()).map(drop).store_error()
}
