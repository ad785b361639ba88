//! The store itself: where jobs go, and what comes back.
//!
//! [`Store`] is what an engine implements; it is small and can be a trait object.
//! [`StoreExt`] is what services call.
//!
//! Invariants:
//! - a read sees one snapshot, and never waits for a writer;
//! - a job that fails changes nothing, also when it shares a commit with others;
//! - nobody is told the outcome of a job before everything that the job saw is durable;
//! - listeners hear of events after their commit, in the order of their sequence.

use std::sync::{Weak, mpsc};

use crate::{Listener, ReadUnit, Result, StoreError, StoreErrorKind, WriteUnit};

/// An engine.
pub trait Store: Send + Sync {
    /// Runs `job` on the caller's thread, on one snapshot. An engine that fails in the
    /// middle may call it again, on a new snapshot; the last call counts.
    ///
    /// # Errors
    /// When no snapshot can be had. What the job itself meets, it keeps.
    fn with_snapshot(&self, job: &mut dyn FnMut(&dyn ReadUnit)) -> Result<()>;

    /// Puts `job` in line. Never waits: where the line is too long, the job is finished
    /// at once with [`StoreErrorKind::Busy`].
    fn submit(&self, job: Box<dyn WriteJob>);

    /// Notifies `listener` of every commit from now on, until it is dropped.
    fn subscribe(&self, listener: Weak<dyn Listener>);
}

/// A job that writes.
pub trait WriteJob: Send {
    /// Does the work inside a transaction.
    ///
    /// An engine may have to run a job again, because the transaction was lost or ran into
    /// another; nothing of the earlier run is left then. What a job decides, it decides from
    /// the unit and from what it was given.
    fn run(&mut self, unit: &mut dyn WriteUnit) -> Verdict;

    /// Ends the job, once: `Ok` when the outcome of its last run holds and is durable.
    fn finish(self: Box<Self>, outcome: Result<()>);
}

/// What becomes of what a job wrote.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// It is to be kept.
    Keep,
    /// It is to be undone.
    Undo,
}

/// What every store can do, for whoever uses it.
pub trait StoreExt: Store {
    /// Reads on one snapshot, on this thread.
    ///
    /// # Errors
    /// With what the job returns, and when the store fails.
    fn read<T, E: From<StoreError>>(
        &self,
        mut job: impl FnMut(&dyn ReadUnit) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut outcome = None;
        self.with_snapshot(&mut |unit| outcome = Some(job(unit)))?;
        outcome.unwrap_or_else(|| Err(StoreError::from(StoreErrorKind::Broken).into()))
    }

    /// Writes in one transaction and waits until the outcome is durable. When the job
    /// returns an error, nothing of it is kept.
    ///
    /// # Errors
    /// With what the job returns, and when the store fails.
    fn write<T, E>(
        &self,
        job: impl FnMut(&mut dyn WriteUnit) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.enqueue(job, move |outcome| {
            // Whoever asked may have gone; the outcome holds all the same.
            drop(sender.send(outcome));
        });
        receiver
            .recv()
            .unwrap_or_else(|_| Err(StoreError::from(StoreErrorKind::Unavailable).into()))
    }

    /// Writes in one transaction without waiting: `done` is told the outcome when it is
    /// durable, on the thread that commits, and has to be quick.
    fn enqueue<T, E>(
        &self,
        job: impl FnMut(&mut dyn WriteUnit) -> Result<T, E> + Send + 'static,
        done: impl FnOnce(Result<T, E>) + Send + 'static,
    ) where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.submit(Box::new(Work {
            job,
            done,
            outcome: None,
        }));
    }
}

impl<S: Store + ?Sized> StoreExt for S {}

/// A closure as a job.
struct Work<T, E, J, D> {
    job: J,
    done: D,
    outcome: Option<Result<T, E>>,
}

impl<T, E, J, D> WriteJob for Work<T, E, J, D>
where
    T: Send,
    E: From<StoreError> + Send,
    J: FnMut(&mut dyn WriteUnit) -> Result<T, E> + Send,
    D: FnOnce(Result<T, E>) + Send,
{
    fn run(&mut self, unit: &mut dyn WriteUnit) -> Verdict {
        // Forgotten first: a run that breaks off leaves no outcome of an earlier one.
        self.outcome = None;
        let outcome = (self.job)(unit);
        let verdict = match outcome {
            Ok(_) => Verdict::Keep,
            Err(_) => Verdict::Undo,
        };
        self.outcome = Some(outcome);
        verdict
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
