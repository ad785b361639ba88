use std::sync::atomic::{AtomicI64, Ordering};

use accord_contract::Time;

use crate::now;

/// A wall clock that does not go back: it then shows the earlier reading.
#[derive(Debug, Default)]
pub struct Clock {
    last: AtomicI64,
}

impl Clock {
    /// The time, in milliseconds.
    pub fn now(&self) -> Time {
        let shown = now().unix_millis();
        // `fetch_max`: two threads may get here in another order than they read the clock.
        let last = self.last.fetch_max(shown, Ordering::Relaxed);
        Time::from_unix_millis(shown.max(last))
    }
}
