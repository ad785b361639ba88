use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use accord_contract::Time;

/// The time now, to the millisecond.
pub fn now() -> Time {
    // A clock that is set to a time before 1970 is broken; 1970 is as good as any other time.
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = elapsed.unwrap_or_default().as_millis();
    Time::from_unix_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time since the first call in this process, by a clock that never jumps.
pub fn uptime() -> Duration {
    BEGAN.elapsed()
}
