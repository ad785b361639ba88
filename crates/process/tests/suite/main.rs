//! Real processes that behave badly.

#![expect(clippy::disallowed_methods, reason = "these tests run processes and watch the clock")]
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod conversation;
mod run;
mod session;
mod start;
mod supervisor;
mod watch;

use std::fmt::Display;
use std::path::Path;
use std::time::{Duration, Instant};

use accord_process::Invocation;

/// The bound of waits for what must happen, far more than it takes on a busy machine.
const LONG: Duration = Duration::from_secs(120);

/// A limit that a child is to run into, with time for a shell to get to its point on a busy
/// machine.
const SHORT: Duration = Duration::from_secs(3);

/// Waits until a condition is true.
#[track_caller]
fn wait_until(what: impl Display, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline, "waited {LONG:?} for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn sh(script: &str) -> Invocation {
    Invocation::new("/bin/sh", ["-c", script])
}

/// Waits until the process that wrote its id to `file` is gone or a zombie.
fn assert_gone(file: &Path) {
    let pid = std::fs::read_to_string(file).unwrap();
    let stat = format!("/proc/{}/stat", pid.trim());
    wait_until(format_args!("the end of process {pid}"), || {
        std::fs::read_to_string(&stat).map_or(true, |text| text.contains(") Z "))
    });
}
