//! The processes that this one started, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process, waitid,
};

use crate::limits::raise_open_file_limit;
use crate::table::{Process, ProcessTable};

/// The pause between two looks at the same processes, so that killed ones can end.
const PAUSE: Duration = Duration::from_millis(1);
/// When processes that go on are looked for in the whole table, too.
const SWEEP_AFTER: Duration = Duration::from_millis(200);

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

/// Kills every descendant of this process, which must get the processes whose parents have ended,
/// except those with these numbers. Returns those that are left at the deadline.
pub(crate) fn end_descendants(deadline: Instant, except: &BTreeSet<u64>) -> Vec<Process> {
    let is_kept = |pid: Pid| except.contains(&pid_number(pid));
    loop {
        if end_children(&is_kept, deadline.min(Instant::now() + SWEEP_AFTER)) {
            return Vec::new();
        }
        let found =
            ProcessTable::read().map(|table| descendants(&table, std::process::id().into()));
        let mut found = found.unwrap_or_default();
        found.retain(|process| !except.contains(&process.pid));
        if Instant::now() >= deadline {
            return found;
        }
        // Many processes that start others: all of them are stopped first.
        signal_all(&found, Signal::STOP);
        signal_all(&found, Signal::KILL);
    }
}

/// Kills the children of this process, except some, until none is left, or the time has come. A
/// process that is killed leaves its children to this one, so all descendants are reached. Whether
/// none is left.
///
/// A program that starts its successor and ends is faster than a look at the whole table of
/// processes. The list of children is short, and is read again at once.
pub(crate) fn end_children(except: &dyn Fn(Pid) -> bool, until: Instant) -> bool {
    let mut last = None;
    loop {
        let Some(found) = children() else {
            // A worker of the same user can lower the limit of open files.
            raise_open_file_limit();
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(PAUSE);
            continue;
        };
        let found: Vec<Pid> = found.into_iter().filter(|pid| !except(*pid)).collect();
        for pid in &found {
            // An error means that it has ended, or belongs to another user.
            let _ = kill_process(*pid, Signal::KILL);
        }
        // A child that has ended is in the list until it is reaped.
        for pid in &found {
            let _ = waitid(WaitId::Pid(*pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
        // A child that was made while the list was read is in the next one.
        let is_same = last.as_ref() == Some(&found);
        if found.is_empty() && is_same {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        if is_same {
            std::thread::sleep(PAUSE);
        }
        last = Some(found);
    }
}

/// The children of this process. `None` if they cannot be read now.
fn children() -> Option<Vec<Pid>> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists: Option<Vec<String>> =
        threads.map(|thread| fs::read_to_string(thread.path().join("children")).ok()).collect();
    let lists = lists.unwrap_or_default();
    if lists.is_empty() {
        // A system without these lists.
        let own = u64::from(std::process::id());
        let all = ProcessTable::read()?.all();
        let is_read = all.iter().any(|process| process.pid == own);
        let children = all.iter().filter(|process| process.parent == own).filter_map(pid_of);
        return is_read.then(|| children.collect());
    }
    let words = lists.iter().flat_map(|list| list.split_ascii_whitespace());
    Some(words.filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect())
}

/// Reaps a child that has ended, if there is one.
pub(crate) fn reap_one() -> Option<(Pid, WaitStatus)> {
    rustix::process::wait(WaitOptions::NOHANG).ok().flatten()
}

pub(crate) fn pid_of(process: &Process) -> Option<Pid> {
    i32::try_from(process.pid).ok().and_then(Pid::from_raw)
}

pub(crate) fn signal_all(processes: &[Process], signal: Signal) {
    for process in processes {
        // An error means that it has ended, or belongs to another user.
        let _ = pid_of(process).map(|pid| kill_process(pid, signal));
    }
}
