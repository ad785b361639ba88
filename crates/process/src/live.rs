//! The groups that are running, so that a process that must end at once leaves none behind.
//!
//! A child leads a group of its own, so the terminal's Ctrl-C does not reach it. A program that is
//! told to end calls [`end_all`] and then ends.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

struct Live {
    /// A handful: one a worker.
    groups: Vec<Pid>,
    /// No group may be started any more.
    closed: bool,
}

static LIVE: Mutex<Live> = Mutex::new(Live {
    groups: Vec::new(),
    closed: false,
});

/// Kills every group that this process has running, and every one that it starts from now on.
pub fn end_all() {
    let mut live = live();
    live.closed = true;
    for group in &live.groups {
        // One that ended by itself is what we want.
        let _ = kill_process_group(*group, Signal::KILL);
    }
}

/// A group is running.
pub(crate) fn enter(group: Pid) {
    let mut live = live();
    live.groups.push(group);
    if live.closed {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// A group is about to be reaped, after which its id can be reused.
pub(crate) fn leave(group: Pid) {
    live().groups.retain(|running| *running != group);
}

fn live() -> MutexGuard<'static, Live> {
    // The list is whole between any two statements that could panic.
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}
