//! Units of work.

use accord_contract::Failure;
use accord_store::{ReadUnit, StoreError, StoreErrorKind, UnitResult, Units, WriteUnit};
use accord_system::spawn_blocking;

use super::Memory;

/// Up to this size, hashing is faster than handing the bytes to another thread.
const QUICK_BYTES: usize = 32 * 1024;

impl Memory {
    /// The store, for jobs of other services.
    pub fn units(&self) -> &Units {
        &self.inner.units
    }

    /// Runs a job on one snapshot, on a blocking thread. The job may run twice. Damaged rows that
    /// it meets are noted by a separate write.
    pub async fn read<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&dyn ReadUnit) -> UnitResult<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let memory = self.clone();
        let noting = move |unit: &dyn ReadUnit| {
            let outcome = job(unit);
            memory.note_met(unit);
            outcome
        };
        self.inner.units.read(noting).await
    }

    /// Runs a job in one transaction and waits until its outcome is durable. The job may run twice.
    /// When it fails, nothing of it is kept.
    pub async fn write<T: Send + 'static>(
        &self,
        job: impl FnMut(&mut dyn WriteUnit) -> UnitResult<T> + Send + 'static,
    ) -> Result<T, Failure> {
        self.inner.units.write(job).await
    }

    /// Runs a computation whose time depends on the number of bytes. A long one runs on a blocking
    /// thread.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        bytes: usize,
        job: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        if bytes <= QUICK_BYTES { job() } else { blocking(job).await }
    }
}

/// Runs a job on a blocking thread. It also fails when it panics, and when the runtime shuts down.
pub(crate) async fn blocking<T: Send + 'static, E: From<StoreError> + Send + 'static>(
    job: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    spawn_blocking(job).await.unwrap_or_else(|error| {
        tracing::error!("a computation panicked: {error}");
        Err(StoreError::new(StoreErrorKind::Broken, error.to_string()).into())
    })
}
