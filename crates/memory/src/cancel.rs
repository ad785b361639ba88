//! Cancels a long job on another thread when the future that waits for it is dropped.
//!
//! A future is dropped when its client disconnects or the host shuts down. The job notices at its
//! next check and ends early, so it must be one that can be started again.

use std::sync::{Arc, Weak};

/// Held by the waiting future. Dropping it cancels the job.
#[derive(Debug)]
pub(super) struct CancelOnDrop {
    _alive: Arc<()>,
}

/// Held by the job.
#[derive(Clone, Debug)]
pub(super) struct CancelToken(Weak<()>);

impl CancelOnDrop {
    pub(super) fn new() -> (Self, CancelToken) {
        let alive = Arc::new(());
        let token = CancelToken(Arc::downgrade(&alive));
        (Self { _alive: alive }, token)
    }
}

impl CancelToken {
    pub(super) fn is_cancelled(&self) -> bool {
        self.0.strong_count() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_the_guard_cancels() {
        let (guard, token) = CancelOnDrop::new();
        assert!(!token.is_cancelled());
        drop(guard);
        assert!(token.is_cancelled());
    }
}
