//! When a message is due, and how often a receiver gets one.

use std::time::Duration;

use accord_contract::Time;

/// How long the same source is not told again.
pub const REPEAT_SECONDS: i64 = 300;
/// The first pause after a message that failed.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
const HOUR: i64 = 3_600_000;

/// Whether what waits since `first` is sent now: it was collected for long enough.
pub fn is_due(first: Time, now: Time, group: Duration) -> bool {
    let group = millis(group);
    let waited = now.unix_millis().saturating_sub(first.unix_millis());
    // Nothing waits for longer than a repetition. If it seems so, the clock was set back.
    waited >= group || waited < -(REPEAT_SECONDS * 1_000 + group)
}

/// Whether something that can be told from `from` on is part of a message that is sent now.
pub fn is_ready(from: Time, now: Time) -> bool {
    from <= now || is_due(from, now, Duration::ZERO)
}

/// Whether a receiver gets another message now, after those of `sent`. Half of an hour's messages
/// can follow each other; the others are spread over the hour.
pub fn may_send(sent: &[Time], now: Time, per_hour: usize) -> bool {
    let recent = within_an_hour(sent, now);
    let Some(last) = recent.iter().max() else { return true };
    let since_last = now.unix_millis() - last.unix_millis();
    let space = HOUR / i64::try_from(per_hour.max(1)).unwrap_or(HOUR);
    recent.len() < per_hour && (recent.len() < per_hour.div_ceil(2) || since_last >= space)
}

/// The times of the last hour. Times to come are those of a clock that was set back.
pub fn within_an_hour(sent: &[Time], now: Time) -> Vec<Time> {
    let age = |at: &Time| now.unix_millis().saturating_sub(at.unix_millis());
    sent.iter().copied().filter(|at| (0..HOUR).contains(&age(at))).collect()
}

/// How long to wait after so many failures in a row.
pub fn pause(failures: u32) -> Duration {
    let factor = 3_u32.saturating_pow(failures.saturating_sub(1));
    FIRST_PAUSE.saturating_mul(factor).min(LONGEST_PAUSE)
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 2)
}
