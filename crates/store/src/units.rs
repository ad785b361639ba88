//! Units of work for asynchronous services.

use std::sync::Arc;

use accord_base::ProjectId;
use accord_contract::Failure;
use accord_system::spawn_blocking;
use tokio::sync::oneshot;

use crate::{ReadUnit, Store, StoreError, StoreErrorKind, StoreExt as _, WriteUnit};

/// A store, as asynchronous services use it. A clone is the same store.
#[derive(Clone)]
pub struct Units(Arc<dyn Store>);

/// Why a unit of work failed.
#[derive(Debug)]
pub enum UnitError {
    /// A rule forbids it.
    Refused(Failure),
    /// The store failed.
    Store(StoreError),
}

/// The result of a job in a unit.
pub type UnitResult<T> = Result<T, UnitError>;

impl Units {
    /// The units of a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0
    }

    /// Runs a job on one snapshot, on a blocking thread. The job may run twice.
    pub async fn read<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&dyn ReadUnit) -> UnitResult<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let store = self.0.clone();
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

    /// Runs a job, maybe twice, in one transaction, and waits until its outcome is durable.
    pub async fn write<T: Send + 'static>(
        &self,
        job: impl FnMut(&mut dyn WriteUnit) -> UnitResult<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let (sender, receiver) = oneshot::channel();
        // The write goes on when this future is dropped: a client that disconnects cannot leave it
        // half done, and the outcome is the same.
        self.0.enqueue(job, move |outcome: UnitResult<T>| drop(sender.send(outcome)));
        let gone = |_| Err(UnitError::Store(StoreErrorKind::Unavailable.into()));
        receiver.await.unwrap_or_else(gone).map_err(UnitError::into_failure)
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
