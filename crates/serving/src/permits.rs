//! A limit on how many of something there may be at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A limited number of permits. A clone gives out the same permits.
#[derive(Clone, Debug)]
pub struct Permits {
    limit: usize,
    free: Arc<Semaphore>,
}

/// One of a limited number of permits. Dropping it returns it.
pub type Permit = OwnedSemaphorePermit;

impl Permits {
    pub fn new(limit: usize) -> Self {
        let limit = limit.min(Semaphore::MAX_PERMITS);
        Self { limit, free: Arc::new(Semaphore::new(limit)) }
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn try_take(&self) -> Option<Permit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// Waits for a permit. `None` never occurs: the semaphore is never closed.
    pub async fn take(&self) -> Option<Permit> {
        Arc::clone(&self.free).acquire_owned().await.ok()
    }

    pub fn taken(&self) -> usize {
        self.limit - self.free.available_permits()
    }
}
