//! Whether a process that somebody noted down is still there.

use std::fs;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// How Linux counts time in `/proc`, whatever its own clock does.
const TICKS_A_SECOND: u64 = 100;
/// How far apart two clocks may say that the same process began.
const TOLERANCE: Duration = Duration::from_secs(10);

/// Whether the process of this number that began at this time (milliseconds since 1970) still
/// runs. A later process of the same number is another, where the system says when it began.
pub fn still_runs(pid: u32, began_ms: u64) -> bool {
    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    if test_kill_process(id).is_err_and(|error| error == Errno::SRCH) {
        return false;
    }
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return true;
    };
    // The name in brackets may hold anything, brackets too.
    let Some((_, rest)) = stat.rsplit_once(") ") else {
        return true;
    };
    let fields: Vec<&str> = rest.split(' ').collect();
    if matches!(fields.first(), Some(&("Z" | "X"))) {
        return false;
    }
    let ticks: Option<u64> = fields.get(19).and_then(|ticks| ticks.parse().ok());
    match (ticks, boot_seconds()) {
        (Some(ticks), Some(boot)) => {
            let began = Duration::from_secs(boot) + ticks_long(ticks);
            began.abs_diff(Duration::from_millis(began_ms)) <= TOLERANCE
        }
        _ => true,
    }
}

fn ticks_long(ticks: u64) -> Duration {
    Duration::from_millis(ticks.saturating_mul(1000 / TICKS_A_SECOND))
}

fn boot_seconds() -> Option<u64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse().ok()
}
