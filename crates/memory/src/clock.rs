//! The time of operations.

use accord_base::ProjectId;
use accord_contract::Time;
use accord_store::ReadUnit;

use super::{Memory, UnitResult};

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
