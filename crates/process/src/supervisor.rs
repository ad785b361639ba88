//! The process that starts workers, so that what they start can be recognised.
//!
//! A worker can clear its environment, hide it (`PR_SET_DUMPABLE`), start a session of its own and
//! let its parent end. On Linux, a supervisor has a name that others can read, and gets the
//! processes whose parents have ended. So it stays an ancestor of everything that its workers
//! start, for as long as it runs. On other systems nothing is done here.
//!
//! Processes that a supervisor got are reaped here, and no others: a child of this crate is reaped
//! by its group, which needs the exit status.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::descendants::{descendants, end_children, pid_of};
use crate::procfs;
use crate::table::{Process, ProcessTable};

/// The name of a supervisor in the process table. The system keeps 15 bytes.
const NAME: &str = "accord-workers";

/// How long the end of what a worker left behind may take.
pub(crate) const END_LIMIT: Duration = Duration::from_secs(2);

static IS_SUPERVISOR: AtomicBool = AtomicBool::new(false);

/// Read by those who start a child, until the child is in [`CHILDREN`]; written by the reaper.
static STARTING: RwLock<()> = RwLock::new(());

/// The children of this crate that are not reaped yet.
static CHILDREN: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Makes this process the supervisor of the workers that it starts.
pub fn supervise() {
    #[cfg(target_os = "linux")]
    {
        // Where either fails, workers are recognised by their environment alone.
        let _ = fs::write("/proc/self/comm", NAME);
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        IS_SUPERVISOR.store(true, Ordering::Release);
    }
}

/// `None` if its name cannot be read now.
pub(crate) fn is_supervisor(pid: u64) -> Option<bool> {
    match procfs::read(&format!("{pid}/comm")) {
        Ok(name) => Some(name.trim_ascii_end() == NAME.as_bytes()),
        Err(error) => is_withheld(&error).then_some(false),
    }
}

/// Whether the system does not show a file of a process at all, which is another user's, or there
/// is no `/proc`. Without a free descriptor, nothing can be read for a while.
pub(crate) fn is_withheld(error: &io::Error) -> bool {
    let has_table = || Path::new("/proc/self").exists();
    match error.kind() {
        io::ErrorKind::PermissionDenied => true,
        io::ErrorKind::NotFound => !has_table(),
        _ => false,
    }
}

/// Starts a child whose exit status its group will ask for.
pub(crate) fn start_child<E>(
    start: impl FnOnce() -> Result<std::process::Child, E>,
) -> Result<std::process::Child, E> {
    let _starting = STARTING.read();
    let child = start()?;
    CHILDREN.lock().insert(Pid::from_child(&child).as_raw_pid());
    Ok(child)
}

/// A child was reaped, or is not waited for any more.
pub(crate) fn end_child(pid: Pid) {
    CHILDREN.lock().remove(&pid.as_raw_pid());
    if IS_SUPERVISOR.load(Ordering::Acquire) {
        reap_orphans();
    }
}

/// Kills the processes that this one got from a worker whose launcher was killed. Returns those
/// that still run after a time.
pub(crate) fn end_orphans() -> Vec<Process> {
    let own = u64::from(std::process::id());
    if !IS_SUPERVISOR.load(Ordering::Acquire) || Process::find(own).is_none() {
        return Vec::new();
    }
    // A child that another thread starts is in the list of children before it is looked for.
    let _none_starts = STARTING.write();
    let children = CHILDREN.lock().clone();
    let is_own = |pid: Pid| children.contains(&pid.as_raw_pid());
    if end_children(&is_own, Instant::now() + END_LIMIT) {
        return Vec::new();
    }
    let table = ProcessTable::read();
    let left = table.iter().flat_map(|table| {
        let all = table.all().into_iter();
        let orphans = all.filter(|it| it.parent == own && !pid_of(it).is_some_and(is_own));
        orphans.flat_map(|orphan| [vec![orphan], descendants(table, orphan.pid)].concat())
    });
    left.filter(|process| !process.is_zombie).collect()
}

/// Reaps processes that this one got from workers, and that have ended.
fn reap_orphans() {
    let own = u64::from(std::process::id());
    // Without `/proc` the table would be read by a child, which could not start now.
    if Process::find(own).is_none() {
        return;
    }
    let _none_starts = STARTING.write();
    let Some(table) = ProcessTable::read() else { return };
    for process in table.all() {
        let Some(pid) = i32::try_from(process.pid).ok() else { continue };
        if process.parent == own && process.is_zombie && !CHILDREN.lock().contains(&pid) {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            // It was reaped already, if this fails.
            let _ = Pid::from_raw(pid).map(|pid| waitid(WaitId::Pid(pid), options));
        }
    }
}
