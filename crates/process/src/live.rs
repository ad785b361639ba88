//! The running groups, so that a process that must end at once can kill them all.
//!
//! A child leads its own group, so the terminal's Ctrl-C does not reach it. A program that gets a
//! signal to end calls [`end_all`] first.

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

struct Live {
    /// Few entries: one per worker. Those of launchers are true.
    groups: Vec<(Pid, bool)>,
    /// No group may be started any more.
    closed: bool,
}

static LIVE: Mutex<Live> = Mutex::new(Live { groups: Vec::new(), closed: false });

/// Kills every group that this process has running, and every one that it starts from now on.
pub fn end_all() {
    let mut live = LIVE.lock();
    // Under the same lock as the list: a child that another thread starts now is either in the list
    // or killed by `enter`.
    live.closed = true;
    for (group, is_launcher) in &live.groups {
        end(*group, *is_launcher);
    }
}

/// Kills a group that another process started. The caller must know that the id is still that of
/// the group.
pub fn end_group(id: u32) {
    // The group 1 would be every process of this user.
    let group = i32::try_from(id).ok().filter(|id| *id > 1).and_then(Pid::from_raw);
    if let Some(group) = group {
        // An error means that the group has ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

pub(crate) fn enter(group: Pid, is_launcher: bool) {
    let mut live = LIVE.lock();
    live.groups.push((group, is_launcher));
    if live.closed {
        end(group, is_launcher);
    }
}

fn end(group: Pid, is_launcher: bool) {
    // An error means that the group has ended by itself.
    let _ = match is_launcher {
        // It ends all that its worker started, also after this process has ended.
        true => kill_process(group, Signal::INT),
        false => kill_process_group(group, Signal::KILL),
    };
}

/// Removes a group before it is reaped, after which its id can be reused.
pub(crate) fn leave(group: Pid) {
    LIVE.lock().groups.retain(|(running, _)| *running != group);
}
