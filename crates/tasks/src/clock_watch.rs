//! Notices when the clock of the machine was set, or stood still while the machine slept.

use std::time::Duration;

use accord_contract::Time;

use crate::Environment;

/// A smaller difference is no jump.
const LEAST_MS: i64 = 1_000;

/// Both clocks, when they were read the last time.
#[derive(Debug, Default)]
pub(crate) struct ClockWatch(Option<(Time, Duration)>);

/// A step of the clock that is not time that went by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Jump {
    /// The last reading before it.
    pub(crate) before: Time,
    /// How far it went, in seconds; negative if it went back.
    pub(crate) seconds: i64,
}

impl ClockWatch {
    pub(crate) fn read(&mut self, environment: &Environment) -> (Time, Option<Jump>) {
        let now = environment.now();
        let Some(uptime) = environment.uptime() else { return (now, None) };
        let last = self.0.replace((now, uptime));
        let jump = last.and_then(|(before, earlier)| {
            let went_by = i64::try_from((uptime - earlier).as_millis()).ok()?;
            let ahead = now.unix_millis() - before.unix_millis() - went_by;
            (ahead.abs() > LEAST_MS).then_some(Jump { before, seconds: ahead / 1_000 })
        });
        (now, jump)
    }
}
