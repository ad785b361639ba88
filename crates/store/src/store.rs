//! The store: runs jobs that read or write.
//!
//! Engines implement [`Store`], which is small and can be a trait object. Services call
//! [`StoreExt`].
//!
//! Invariants:
//! - a read sees one snapshot, and never waits for a writer;
//! - a job that fails changes nothing, also when it shares a commit with others;
//! - the outcome of a job is reported only after everything that the job saw is durable;
//! - listeners are notified of events after their commit, in the order of their numbers.

use std::sync::{Weak, mpsc};

use crate::{Listener, ReadUnit, Result, StoreError, StoreErrorKind, WriteUnit};

/// An engine.
pub trait Store: Send + Sync {
    /// Runs `job` on the caller's thread, on one snapshot. After a failure the engine may call it
    /// again on a new snapshot; the last call counts. The job handles its own errors.
    fn with_snapshot(&self, job: &mut dyn FnMut(&dyn ReadUnit)) -> Result<()>;

    /// Enqueues `job` without waiting, or finishes it with [`StoreErrorKind::Busy`].
    fn submit(&self, job: Box<dyn WriteJob>);

    /// Notifies `listener` of every commit from now on, until it is dropped.
    fn subscribe(&self, listener: Weak<dyn Listener>);
}

/// A job that writes.
pub trait WriteJob: Send {
    /// Does the work inside a transaction. An engine may run a job again, because its transaction
    /// was lost or conflicted with another. Nothing of the earlier run is left then. A job decides
    /// from the unit and its own input alone.
    fn run(&mut self, unit: &mut dyn WriteUnit) -> JobOutcome;

    /// Ends the job. Called once, with `Ok` when the outcome of its last run is durable.
    fn finish(self: Box<Self>, outcome: Result<()>);
}

/// What happens to the writes of a job.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JobOutcome {
    /// It is committed.
    Commit,
    /// It is rolled back.
    RollBack,
}

/// The methods that services call.
pub trait StoreExt: Store {
    /// Reads on one snapshot, on this thread.
    fn read<T, E: From<StoreError>>(
        &self,
        mut job: impl FnMut(&dyn ReadUnit) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut outcome = None;
        self.with_snapshot(&mut |unit| outcome = Some(job(unit)))?;
        outcome.unwrap_or_else(|| Err(StoreError::from(StoreErrorKind::Broken).into()))
    }

    /// Writes in one transaction and waits until the outcome is durable. An error keeps nothing.
    fn write<T, E>(
        &self,
        job: impl FnMut(&mut dyn WriteUnit) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (sender, receiver) = mpsc::sync_channel(1);
        // The caller may have gone. The outcome is the same.
        self.enqueue(job, move |outcome| drop(sender.send(outcome)));
        let gone = |_| Err(StoreError::from(StoreErrorKind::Unavailable).into());
        receiver.recv().unwrap_or_else(gone)
    }

    /// Writes in one transaction without waiting. `done` gets the outcome when it is durable. It
    /// runs on the thread that commits, so it must be quick.
    fn enqueue<T, E>(
        &self,
        job: impl FnMut(&mut dyn WriteUnit) -> Result<T, E> + Send + 'static,
        done: impl FnOnce(Result<T, E>) + Send + 'static,
    ) where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.submit(Box::new(ClosureJob { job, done, outcome: None }));
    }
}

impl<S: Store + ?Sized> StoreExt for S {}

/// A closure as a job.
struct ClosureJob<T, E, J, D> {
    job: J,
    done: D,
    outcome: Option<Result<T, E>>,
}

impl<T, E, J, D> WriteJob for ClosureJob<T, E, J, D>
where
    T: Send,
    E: From<StoreError> + Send,
    J: FnMut(&mut dyn WriteUnit) -> Result<T, E> + Send,
    D: FnOnce(Result<T, E>) + Send,
{
    fn run(&mut self, unit: &mut dyn WriteUnit) -> JobOutcome {
        // Cleared first, so that a run that panics leaves no outcome of an earlier run.
        self.outcome = None;
        let outcome = (self.job)(unit);
        let decision = if outcome.is_ok() { JobOutcome::Commit } else { JobOutcome::RollBack };
        self.outcome = Some(outcome);
        decision
    }

    fn finish(self: Box<Self>, outcome: Result<()>) {
        let outcome = match (outcome, self.outcome) {
            (Err(error), _) => Err(error.into()),
            (Ok(()), Some(outcome)) => outcome,
            (Ok(()), None) => Err(StoreError::from(StoreErrorKind::Broken).into()),
        };
        (self.done)(outcome);
    }
}
