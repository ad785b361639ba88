//! The clock of the machine jumps. The times in files stay as they were written, so the board
//! remembers by how much each of them is off. It forgets that once a new time is written.

use std::collections::BTreeSet;

use accord_contract::Time;

use super::{Board, Entry};
use crate::{TaskId, rule};

/// By how many seconds the clock has jumped since times of a task were written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Shifts {
    expiry: i64,
    overdue: i64,
}

impl Board {
    /// The clock jumped by some seconds, after a last reading. Runs that were alive then have as
    /// much time left as before: an agent that goes on with its heartbeats is never taken for
    /// dead, and one that is silent is still found.
    /// Clauses: AOF-RS-STALE.
    pub fn shift_clock(&mut self, before: Time, seconds: i64) {
        let is_later = |(at, _): &&(Time, TaskId)| *at > before;
        let due = self.expiries.iter().chain(&self.overdue).filter(is_later);
        let ids: BTreeSet<TaskId> = due.map(|(_, id)| *id).collect();
        for id in ids {
            let Some(entry) = self.open.get_mut(&id) else { continue };
            let is_later = |at: &Time| *at > before;
            if let Some(at) = entry.expires_at().filter(is_later)
                && self.expiries.remove(&(at, id))
            {
                entry.shifts.expiry += seconds;
                self.expiries.insert((at.add_seconds(seconds), id));
            }
            if let Some(at) = entry.overdue_at().filter(is_later)
                && self.overdue.remove(&(at, id))
            {
                entry.shifts.overdue += seconds;
                self.overdue.insert((at.add_seconds(seconds), id));
            }
        }
    }
}

impl Entry {
    /// Takes over what is known about the clock, for times that did not change.
    pub(super) fn keep_shifts(&mut self, last: &Self) {
        if (self.alive_until, self.lease_until) == (last.alive_until, last.lease_until) {
            self.shifts.expiry = last.shifts.expiry;
        }
        if self.overdue_at == last.overdue_at {
            self.shifts.overdue = last.shifts.overdue;
        }
    }

    /// When the run counts as dead: when its heartbeat ends, whatever is left of the lease. Where
    /// there is no heartbeat, the lease decides.
    /// Clauses: AOF-RS-STALE, AOF-RS-NO-HEARTBEAT, AOF-CLOCK.
    pub(super) fn expires_at(&self) -> Option<Time> {
        let until = rule!(self.alive_until.or(self.lease_until); LeaseDecides => self.lease_until)?;
        Some(until.add_seconds(self.shifts.expiry))
    }

    /// When it has been in progress for too long.
    pub(super) fn overdue_at(&self) -> Option<Time> {
        Some(self.overdue_at?.add_seconds(self.shifts.overdue))
    }
}
