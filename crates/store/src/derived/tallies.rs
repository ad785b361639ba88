//! Counts of packages, by day, hour and minute. A window is counted from whole days, from the hours
//! of the day in which it begins and from the minutes of that hour; only the packages of its first
//! minute are read one by one. So the cost of a count does not depend on the number of packages.

use std::collections::BTreeMap;

use accord_base::ActorKey;
use accord_contract::Time;
use accord_memory_core::package::{PackageType, Status};

use crate::time_key::{self, Span};
use crate::{PackageRow, Tally};

/// A change of the counts of packages of one type, actor and status in three spans of time.
#[derive(Clone, Debug)]
pub struct TallyChange<'a> {
    /// Their type.
    pub package_type: &'a PackageType,
    /// Their author.
    pub actor: &'a ActorKey,
    /// Their status.
    pub status: Status,
    /// How many more there are; negative for fewer.
    pub more: i64,
    created_key: String,
}

impl<'a> TallyChange<'a> {
    /// The change when a package comes or goes; `None` for a quarantined one, which is in no count.
    pub(super) fn of(row: &'a PackageRow, more: i64) -> Option<Self> {
        row.quarantine.is_none().then(|| Self {
            package_type: &row.package_type,
            actor: &row.actor,
            status: row.state.status,
            more,
            created_key: time_key::of(row.created_at.time()),
        })
    }

    /// A span of time in which the packages are counted.
    pub fn span(&self, span: Span) -> &str {
        span.of(&self.created_key)
    }
}

/// The spans that a window of time consists of.
#[derive(Clone, Debug)]
pub struct TallyWindow {
    key: String,
}

impl TallyWindow {
    /// The window that begins at an instant and has no end.
    pub fn since(instant: Time) -> Self {
        Self { key: time_key::of(instant) }
    }

    /// Spans after this one are in the window. Hours and minutes must also be before the end of
    /// the next larger span ([`Self::end`]).
    pub fn begun(&self, span: Span) -> &str {
        span.of(&self.key)
    }

    /// The end of the span in which the window begins.
    pub fn end(&self, span: Span) -> String {
        span.end(&self.key)
    }

    /// The key at which the window begins. Packages of its first minute are counted one by one.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// Adds counts up.
#[derive(Debug, Default)]
pub struct TallySums(BTreeMap<(PackageType, ActorKey, Status), u64>);

impl TallySums {
    /// Adds a count.
    pub fn add(&mut self, tally: Tally) {
        let count = self.0.entry((tally.package_type, tally.actor, tally.status)).or_default();
        *count = count.saturating_add(tally.packages);
    }

    /// The sums that are not zero, by type, actor and status.
    pub fn into_tallies(self) -> Vec<Tally> {
        let tally = |((package_type, actor, status), packages)| Tally {
            package_type,
            actor,
            status,
            packages,
        };
        self.0.into_iter().filter(|(_, packages)| *packages > 0).map(tally).collect()
    }
}
