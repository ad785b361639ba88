//! The processes that this one started, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process};

use crate::table::{Process, ProcessTable};

/// The pause between two looks at the table, so that killed processes can end.
const PAUSE: Duration = Duration::from_millis(5);

/// Those processes of the table that descend from `ancestor`, and have not ended.
pub(crate) fn descendants(table: &ProcessTable, ancestor: u64) -> Vec<Process> {
    let mut children: BTreeMap<u64, Vec<Process>> = BTreeMap::new();
    for process in table.all() {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    // The table is not one snapshot, so parents could form a circle.
    let mut seen = BTreeSet::from([ancestor]);
    let mut next = vec![ancestor];
    while let Some(parent) = next.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            if seen.insert(child.pid) {
                next.push(child.pid);
                found.push(*child);
            }
        }
    }
    found.retain(|process| !process.is_zombie);
    found
}

/// Sends a signal to every descendant of this process but one.
pub(crate) fn signal_descendants(signal: Signal, except: Option<Pid>) {
    let own = std::process::id().into();
    let Some(table) = ProcessTable::read() else { return };
    let mut found = descendants(&table, own);
    found.retain(|process| except.is_none_or(|pid| process.pid != pid_number(pid)));
    signal_all(&found, signal);
}

fn pid_number(pid: Pid) -> u64 {
    u64::from(pid.as_raw_nonzero().get().unsigned_abs())
}

/// Kills every descendant of this process, which must get the processes whose parents have ended.
/// Returns those that are left at the deadline: a program that starts its successor and ends can
/// be faster than each look at the table.
pub(crate) fn end_descendants(deadline: Instant) -> Vec<Process> {
    let own = std::process::id().into();
    let mut quiet = 0;
    loop {
        let Some(table) = ProcessTable::read() else { return Vec::new() };
        let found = descendants(&table, own);
        while reap_one().is_some() {}
        // A process that was forked while the table was read is in the next one.
        quiet = if found.is_empty() { quiet + 1 } else { 0 };
        if quiet == 2 {
            return Vec::new();
        }
        if Instant::now() >= deadline {
            return found;
        }
        // All of them are stopped first: one that runs could start another.
        signal_all(&found, Signal::STOP);
        signal_all(&found, Signal::KILL);
        if !found.is_empty() {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Reaps a child that has ended, if there is one.
pub(crate) fn reap_one() -> Option<(Pid, WaitStatus)> {
    rustix::process::wait(WaitOptions::NOHANG).ok().flatten()
}

pub(crate) fn signal_all(processes: &[Process], signal: Signal) {
    for process in processes {
        let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
        // An error means that it has ended, or belongs to another user.
        let _ = pid.map(|pid| kill_process(pid, signal));
    }
}
