//! The thread that writes.
//!
//! It takes what waits, runs it in one transaction, runs whatever came in meanwhile in the same one, commits, and
//! answers. While a commit is on its way to the disk, the next group gathers; so the more there is to
//! do, the more jobs share a commit.
//!
//! A transaction that is lost, for whatever reason, takes all of its jobs with it, also those that
//! were to be refused: what they saw may never have been. They are run again, each on its own.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use accord_store::{
    Advance, Common, Listeners, Result, StoreError, StoreErrorKind, Verdict, WriteJob,
};
use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;

use crate::Options;
use crate::error::Known as _;
use crate::readers::{CLOSED, Readers};
use crate::unit::Unit;

/// How long reads that are under way may keep the writer from its end. After that they leave a log behind, which the
/// next who opens the store takes in.
const LAST_READS: Duration = Duration::from_secs(5);

/// How many jobs may wait, and those that do.
pub(crate) struct Queue {
    limit: usize,
    line: Mutex<Line>,
    changed: Condvar,
}

#[derive(Default)]
struct Line {
    jobs: VecDeque<Box<dyn WriteJob>>,
    closed: bool,
}

/// What the writer has done so far.
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
    pub(crate) common: Common,
    pub(crate) group: usize,
    pub(crate) pace: Pace,
    pub(crate) rest: Duration,
    #[cfg(feature = "testing")]
    pub(crate) delay: Duration,
}

impl Queue {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            limit: options.queue.max(1),
            line: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Puts a job in line, or ends it where it cannot be.
    pub(crate) fn put(&self, job: Box<dyn WriteJob>) {
        let mut line = self.line.lock();
        let trouble = if line.closed {
            StoreError::new(StoreErrorKind::Unavailable, CLOSED)
        } else if line.jobs.len() >= self.limit {
            StoreError::new(StoreErrorKind::Busy, "too many jobs wait for the writer")
        } else {
            line.jobs.push_back(job);
            drop(line);
            self.changed.notify_one();
            return;
        };
        drop(line);
        job.finish(Err(trouble));
    }

    /// Lets nobody in any more; what waits is still done.
    pub(crate) fn close(&self) {
        self.line.lock().closed = true;
        self.changed.notify_all();
    }

    pub(crate) fn waiting(&self) -> usize {
        self.line.lock().jobs.len()
    }

    /// Waits for jobs, for as long as `rest`, and takes at most `most` of them; `None` when the line is
    /// closed and empty.
    fn take(&self, most: usize, rest: Duration) -> Option<Vec<Box<dyn WriteJob>>> {
        let mut line = self.line.lock();
        let rest = Instant::now() + rest;
        while line.jobs.is_empty() {
            if line.closed {
                return None;
            }
            let left = rest.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Some(Vec::new());
            }
            self.changed.wait_for(&mut line, left);
        }
        let count = line.jobs.len().min(most);
        Some(line.jobs.drain(..count).collect())
    }

    /// Adds those who came in meanwhile to a group, up to `most`, and says whether there were any. Where
    /// others are expected, it waits for them for as long as the pace allows.
    fn join(&self, group: &mut Vec<Box<dyn WriteJob>>, most: usize, pace: &Pace) -> bool {
        let missing = pace.expected.min(most).saturating_sub(group.len());
        let mut line = self.line.lock();
        if missing > 0 {
            let deadline = Instant::now() + pace.patience;
            while line.jobs.is_empty() && !line.closed {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                self.changed.wait_for(&mut line, left);
            }
        }
        let count = line.jobs.len().min(most.saturating_sub(group.len()));
        group.extend(line.jobs.drain(..count));
        count > 0
    }
}

/// How long to wait for a group to gather.
///
/// Those who were just answered come back with their next job at once, or not at all. To wait for
/// them for a fraction of a commit makes groups of everybody instead of two halves that take turns.
/// Who is alone is never waited for.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    expected: usize,
    patience: Duration,
}

impl Pace {
    fn learn(&mut self, group: usize, waiting: usize, commit: Duration) {
        self.expected = group + waiting;
        self.patience = commit / 4;
    }
}

impl Writer {
    /// Works until the queue is closed and empty, and is the last to close its connection: whoever does takes the log
    /// away, and only this connection can.
    pub(crate) fn run(mut self) {
        while let Some(jobs) = self.queue.take(self.group, self.rest) {
            match jobs.is_empty() {
                true => self.idle(),
                false => self.serve(jobs, Company::Welcome),
            }
        }
        self.readers.close(LAST_READS);
        // Brings everything into the database; where that fails, the log still has it.
        drop(
            self.connection
                .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"),
        );
    }

    /// Gives memory back that nobody needs for now. Where that fails, it is kept.
    fn idle(&self) {
        drop(self.connection.execute_batch("PRAGMA shrink_memory"));
        self.readers.close_forgotten();
    }

    fn serve(&mut self, mut jobs: Vec<Box<dyn WriteJob>>, company: Company) {
        let mut done = self.commit(&mut jobs, Care::Little, company);
        if matches!(done, Err(Lost::Dirty(_))) && jobs.len() > 1 {
            done = self.commit(&mut jobs, Care::Much, Company::Unwelcome);
        }
        match done {
            Ok(Group { outcomes, advances }) => {
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    finish(job, outcome);
                }
                self.listeners.notify(&advances);
            }
            // Nothing is left of any of them, and none of them alone would get further.
            Err(Lost::Unbegun(error)) => {
                for job in jobs {
                    finish(job, Err(error.clone()));
                }
            }
            // One of them may have been what all of them failed for.
            Err(_) if jobs.len() > 1 => {
                for job in jobs {
                    self.serve(vec![job], Company::Unwelcome);
                }
            }
            Err(lost) => {
                for job in jobs {
                    finish(job, lost.clone().outcome());
                }
            }
        }
    }

    /// Runs jobs in one transaction. Either everything that is to be kept is durable then, or
    /// nothing of any of them is left.
    fn commit(
        &mut self,
        jobs: &mut Vec<Box<dyn WriteJob>>,
        care: Care,
        company: Company,
    ) -> Result<Group, Lost> {
        let done = self.try_commit(jobs, care, company);
        if done.is_err() && !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").known()?;
        }
        done
    }

    fn try_commit(
        &mut self,
        jobs: &mut Vec<Box<dyn WriteJob>>,
        care: Care,
        company: Company,
    ) -> Result<Group, Lost> {
        run(&self.connection, "BEGIN IMMEDIATE").map_err(Lost::Unbegun)?;
        let mut unit = Unit::new(&self.connection, self.common);
        let mut outcomes = Vec::with_capacity(jobs.len());
        loop {
            for job in &mut jobs[outcomes.len()..] {
                outcomes.push(match care {
                    Care::Little => run_lightly(&mut unit, &mut **job)?,
                    Care::Much => run_apart(&mut unit, &mut **job)?,
                });
            }
            if company == Company::Unwelcome || !self.queue.join(jobs, self.group, &self.pace) {
                break;
            }
        }
        let advances = unit.settle()?;
        let began = Instant::now();
        #[cfg(feature = "testing")]
        std::thread::sleep(self.delay);
        run(&self.connection, "COMMIT")?;
        self.pace
            .learn(jobs.len(), self.queue.waiting(), began.elapsed());
        self.counters
            .jobs
            .fetch_add(jobs.len() as u64, Ordering::Relaxed);
        self.counters.groups.fetch_add(1, Ordering::Relaxed);
        Ok(Group { outcomes, advances })
    }
}

/// How jobs of one transaction are kept apart.
#[derive(Clone, Copy)]
enum Care {
    /// Not at all: most jobs that undo what they did have done nothing. Where one has, all of them are
    /// run again with more care.
    Little,
    /// Each in a savepoint, for which every page that it touches is copied.
    Much,
}

/// Whether jobs that come in while a transaction runs may join it.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Company {
    Welcome,
    Unwelcome,
}

/// What became of a transaction that was committed.
struct Group {
    outcomes: Vec<Result<()>>,
    advances: Vec<Advance>,
}

/// A transaction that is gone, and everything in it.
#[derive(Clone)]
enum Lost {
    /// There was none: why it could not begin.
    Unbegun(StoreError),
    /// A job that wrote something is to be undone alone; this is what it is told.
    Dirty(Result<()>),
    /// Its last job met the trouble itself, and wants nothing kept.
    Undone,
    /// The trouble.
    Trouble(StoreError),
}

impl Lost {
    /// What the only job of the transaction is told.
    fn outcome(self) -> Result<()> {
        match self {
            Self::Dirty(outcome) => outcome,
            Self::Undone => Ok(()),
            Self::Unbegun(error) | Self::Trouble(error) => Err(error),
        }
    }
}

impl From<StoreError> for Lost {
    fn from(error: StoreError) -> Self {
        Self::Trouble(error)
    }
}

/// Runs a job that nothing but the end of the transaction can undo.
fn run_lightly(unit: &mut Unit<'_>, job: &mut dyn WriteJob) -> Result<Result<()>, Lost> {
    let before = unit.written();
    let (verdict, outcome) = attempt(unit, job)?;
    match verdict {
        Verdict::Keep => unit.keep_job(),
        Verdict::Undo if unit.written() != before || unit.is_touched() => {
            return Err(Lost::Dirty(outcome));
        }
        Verdict::Undo => unit.forget_job(),
    }
    Ok(outcome)
}

/// Runs a job that can be undone alone.
fn run_apart(unit: &mut Unit<'_>, job: &mut dyn WriteJob) -> Result<Result<()>, Lost> {
    unit.begin_job()?;
    let (verdict, outcome) = attempt(unit, job)?;
    match verdict {
        Verdict::Keep => {
            unit.keep_job();
            unit.release_job()?;
        }
        Verdict::Undo => unit.undo_job()?,
    }
    Ok(outcome)
}

/// Runs a job; one that panics is to be undone.
fn attempt(unit: &mut Unit<'_>, job: &mut dyn WriteJob) -> Result<(Verdict, Result<()>), Lost> {
    let ran = catch_unwind(AssertUnwindSafe(|| job.run(unit)));
    match (ran, unit.is_lost()) {
        (Ok(verdict), false) => Ok((verdict, Ok(()))),
        (Ok(Verdict::Undo), true) => Err(Lost::Undone),
        (Ok(Verdict::Keep), true) => {
            Err(StoreError::new(StoreErrorKind::Unavailable, "SQLite rolled back").into())
        }
        (Err(_), _) => {
            let broken = StoreError::new(StoreErrorKind::Broken, "a job panicked");
            match unit.is_lost() {
                true => Err(broken.into()),
                false => Ok((Verdict::Undo, Err(broken))),
            }
        }
    }
}

fn finish(job: Box<dyn WriteJob>, outcome: Result<()>) {
    // Whoever waits may have trouble of their own; the writer goes on.
    drop(catch_unwind(AssertUnwindSafe(|| job.finish(outcome))));
}

fn run(connection: &Connection, sql: &str) -> Result<()> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(()))
        .known()?;
    Ok(())
}
