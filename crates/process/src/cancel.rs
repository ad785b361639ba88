//! Cancelling a running child from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A flag that another thread sets to end a child early. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    /// Flags of others that count as well.
    also: Vec<Arc<AtomicBool>>,
}

impl Cancel {
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that counts as set when this one or another one is set.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let flags = [self, other].into_iter();
        let also = flags.flat_map(|one| one.also.iter().chain([&one.flag]).cloned());
        Self { flag: Arc::default(), also: also.collect() }
    }

    /// Sets the flag. Returns whether this call was the first to do so.
    pub fn cancel(&self) -> bool {
        !self.flag.swap(true, Ordering::SeqCst)
    }

    pub fn is_cancelled(&self) -> bool {
        let mut flags = self.also.iter().chain([&self.flag]);
        flags.any(|flag| flag.load(Ordering::SeqCst))
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

#[cfg(test)]
mod tests {
    use super::Cancel;

    #[test]
    fn one_of_several_flags_is_enough() {
        let (one, other, third) = (Cancel::new(), Cancel::new(), Cancel::new());
        let any = one.or(&other).or(&third);
        assert!(!any.is_cancelled());
        other.cancel();
        assert!(any.is_cancelled());
        assert!(!one.is_cancelled() && !third.is_cancelled());
        // Setting the combined flag sets none of its parts.
        let both = one.or(&third);
        both.cancel();
        assert!(both.is_cancelled() && !one.is_cancelled());
    }
}
