//! A monotonic wall clock.

use std::sync::atomic::{AtomicI64, Ordering};

use accord_base::ProjectId;
use accord_contract::time::Time;
use accord_store::ReadUnit;

use super::{Memory, UnitResult};

/// The wall clock. While that is behind an earlier reading, the earlier reading.
#[derive(Debug)]
pub(super) struct Clock {
    last: AtomicI64,
}

impl Clock {
    /// The time, in milliseconds.
    pub(super) fn now(&self) -> Time {
        let shown = accord_system::now().unix_millis();
        // `fetch_max` and not a store: two threads may read the clock in one order and get here in
        // the other.
        let last = self.last.fetch_max(shown, Ordering::Relaxed);
        Time::from_unix_millis(shown.max(last))
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self { last: AtomicI64::new(0) }
    }
}

impl Memory {
    /// The time, for operations that write nothing.
    pub fn now(&self) -> Time {
        self.inner.clock.now()
    }

    /// The time of a write to a project. It is not before the project's newest event, which another
    /// host with another clock may have written. It is read within the unit, so that the times of
    /// successive writes are in order.
    pub(crate) fn now_in(&self, unit: &dyn ReadUnit, project: &ProjectId) -> UnitResult<Time> {
        let last = unit.newest_event_at(project)?;
        Ok(last.map_or(self.now(), |last| last.time().max(self.now())))
    }
}
