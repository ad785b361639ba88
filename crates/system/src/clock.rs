use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the start of 1970 in UTC; 0 when the clock is set to an earlier time.
pub fn unix_millis() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.map_or(0, |elapsed| {
        i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
    })
}
