//! Cancelling work that is under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A word from another thread that ends a child early. Clones are one and the same word.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A word that was not given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the word, and says whether this call was the first to do so.
    pub fn cancel(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }

    /// Whether the word was given.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Whether the word was given, where there is one to wait for.
pub(crate) fn given(cancel: Option<&Cancel>) -> bool {
    cancel.is_some_and(Cancel::is_cancelled)
}

/// When to check the flag again: setting it does not wake a sleeper.
pub(crate) fn next_look(cancel: Option<&Cancel>, deadline: Instant) -> Instant {
    match cancel {
        Some(_) => deadline.min(Instant::now() + LOOK_AGAIN),
        None => deadline,
    }
}

const LOOK_AGAIN: Duration = Duration::from_millis(20);
