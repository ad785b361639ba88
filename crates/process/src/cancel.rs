//! Cancelling a running child from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A flag that another thread sets to end a child early. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag. Returns whether this call was the first to do so.
    pub fn cancel(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }

    /// Whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Whether the flag is set; `false` without one.
pub(crate) fn is_set(cancel: Option<&Cancel>) -> bool {
    cancel.is_some_and(Cancel::is_cancelled)
}

/// When to check the flag again. Setting it does not wake a sleeping thread, so waits are cut
/// short.
pub(crate) fn next_check(cancel: Option<&Cancel>, deadline: Instant) -> Instant {
    match cancel {
        Some(_) => deadline.min(Instant::now() + POLL_INTERVAL),
        None => deadline,
    }
}

const POLL_INTERVAL: Duration = Duration::from_millis(20);
