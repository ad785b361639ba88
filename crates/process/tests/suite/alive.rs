//! [`accord_process::still_runs`] tells a process from one that has ended, and from another.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use accord_process::{Conversation, SessionLimits, still_runs};

use crate::sh;

#[test]
fn a_process_is_there_until_it_ends_and_is_no_other() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let began = u64::try_from(now.as_millis()).unwrap();
    let talk = Conversation::start(&sh("cat"), SessionLimits::new(100, 100)).unwrap();
    let pid = talk.id().unwrap();
    assert!(still_runs(pid, began));
    let yesterday = began - 24 * 3600 * 1000;
    assert!(!still_runs(pid, yesterday), "that was another process");
    talk.close(Duration::from_secs(10)).unwrap();
    assert!(!still_runs(pid, began));
    assert!(!still_runs(0, began) && !still_runs(u32::MAX, began));
}
