//! Units of work for asynchronous services.

use accord_base::ProjectId;
use accord_contract::codes::Failure;
use accord_store::{ReadUnit, StoreError, StoreErrorKind, StoreExt as _, WriteUnit};
use accord_system::spawn_blocking;
use tokio::sync::oneshot;

use super::Memory;

/// Why a unit of work failed.
#[derive(Debug)]
pub enum UnitError {
    /// A rule forbids it.
    Refused(Failure),
    /// The store failed.
    Store(StoreError),
}

/// Up to this size, hashing is faster than handing the bytes to another thread.
const QUICK_BYTES: usize = 32 * 1024;

/// The result of a job in a unit.
pub type UnitResult<T> = Result<T, UnitError>;

impl Memory {
    /// Runs a job on one snapshot, on a blocking thread. The job may run twice.
    pub async fn read<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&dyn ReadUnit) -> UnitResult<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let store = self.inner.store.clone();
        let job = move |unit: &dyn ReadUnit| {
            let outcome = job(unit);
            for row in unit.damage() {
                let project = row.project_id.as_ref().map(ProjectId::as_str);
                tracing::error!(project, detail = row.what, "{row}");
            }
            outcome
        };
        let outcome = spawn_blocking(move || store.read(job)).await;
        // The job panicked, or the runtime ends.
        let outcome = outcome.unwrap_or_else(|error| {
            let broken = StoreError::new(StoreErrorKind::Broken, error.to_string());
            Err(UnitError::Store(broken))
        });
        outcome.map_err(UnitError::into_failure)
    }

    /// Runs a job in one transaction and waits until its outcome is durable. The job may run twice.
    /// When it fails, nothing of it is kept.
    pub async fn write<T: Send + 'static>(
        &self,
        job: impl FnMut(&mut dyn WriteUnit) -> UnitResult<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let (sender, receiver) = oneshot::channel();
        // The write goes on when this future is dropped. A client that disconnects cannot leave it
        // half done.
        self.inner.store.enqueue(job, move |outcome: UnitResult<T>| {
            // The caller may have disconnected. The outcome is the same.
            drop(sender.send(outcome));
        });
        let outcome = receiver.await;
        let outcome =
            outcome.unwrap_or_else(|_| Err(UnitError::Store(StoreErrorKind::Unavailable.into())));
        outcome.map_err(UnitError::into_failure)
    }
}

impl Memory {
    /// Runs a computation whose time depends on the number of bytes. A long one runs on a blocking
    /// thread.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        bytes: usize,
        job: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        if bytes <= QUICK_BYTES {
            return job();
        }
        let outcome = spawn_blocking(job).await;
        outcome.unwrap_or_else(|error| {
            tracing::error!("a computation panicked: {error}");
            Err(StoreError::from(StoreErrorKind::Broken).into())
        })
    }
}

impl UnitError {
    /// The failure for the caller. What only the operator should know goes to the log.
    pub fn into_failure(self) -> Failure {
        match self {
            Self::Refused(failure) => failure,
            Self::Store(error) => {
                let (code, detail) = (error.code(), error.detail());
                tracing::error!(%code, detail, "the store: {error}");
                error.into()
            }
        }
    }
}

impl From<Failure> for UnitError {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<StoreError> for UnitError {
    fn from(error: StoreError) -> Self {
        // A single damaged row is not a failure of the store: other rows can still be read.
        if error.damaged().is_some() {
            tracing::error!(detail = error.detail(), "{error}");
            return Self::Refused(error.into());
        }
        Self::Store(error)
    }
}
