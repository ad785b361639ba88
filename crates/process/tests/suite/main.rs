//! Real processes that behave badly, each test bounded to about a second.

#![expect(
    clippy::disallowed_methods,
    reason = "these tests run processes and watch the clock"
)]
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod conversation;
mod run;
mod session;
mod start;
mod watch;

use std::path::Path;
use std::time::{Duration, Instant};

use accord_process::Invocation;

fn sh(script: &str) -> Invocation {
    Invocation::new("/bin/sh", ["-c", script])
}

/// Waits until the process that wrote its id to `file` is gone or a zombie.
fn assert_gone(file: &Path) {
    let pid = std::fs::read_to_string(file).unwrap();
    let stat = format!("/proc/{}/stat", pid.trim());
    let deadline = Instant::now() + Duration::from_secs(10);
    while let Ok(text) = std::fs::read_to_string(&stat) {
        if text.contains(") Z ") {
            return;
        }
        assert!(Instant::now() < deadline, "process {pid} is still alive");
        std::thread::sleep(Duration::from_millis(5));
    }
}
