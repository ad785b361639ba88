//! Whether the process that owns a lock still runs.
//!
//! Locks of other programs name only a process id. Ours also say when that process started, on
//! which boot of the machine and in which pid namespace, so that a later process with the same id
//! is not mistaken for it. An owner that cannot be seen from here (another machine or container)
//! counts as gone once it has not renewed its lock for the time that every program waits.

use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;
use std::time::Duration;

use accord_contract::{Object, Value};
use accord_process::TICKS_PER_SECOND;
use parking_lot::{Mutex, MutexGuard};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::{LockOwner, is_older};

/// Which process took a lock, and with which token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProcessIdentity {
    /// Distinguishes this lock from every other.
    pub(super) token: String,
    /// The boot and the pid namespace of the process id.
    namespace: Option<String>,
    /// When the process started, in ticks since that boot.
    start: Option<u64>,
}

/// How much two clocks may differ about the start of the same process.
const CLOCK_TOLERANCE_MS: u64 = 10_000;

static HELD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

pub(super) fn held_here() -> MutexGuard<'static, BTreeSet<String>> {
    HELD.lock()
}

impl ProcessIdentity {
    pub(super) fn own(token: String) -> Self {
        static OWN: OnceLock<(Option<String>, Option<u64>)> = OnceLock::new();
        let own = || {
            let process = process(std::process::id().into());
            (namespace(), process.and_then(|process| process.start))
        };
        let (namespace, start) = OWN.get_or_init(own).clone();
        Self { token, namespace, start }
    }

    pub fn document(&self) -> Object {
        let start = Value::from(self.start);
        // The second member keeps its first name: locks of earlier versions have it.
        let world = self.namespace.as_deref().into();
        let members = [("token", self.token.as_str().into()), ("world", world), ("start", start)];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    pub fn read(member: Option<&Value>) -> Option<Self> {
        let identity = member?.as_object()?;
        let text = |name: &str| identity.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            token: text("token")?,
            namespace: text("world"),
            start: identity.get("start").and_then(Value::as_u64),
        })
    }
}

/// Whether the owner of a lock has certainly ended.
pub(super) fn is_gone(owner: &LockOwner, stale_after: Duration, now_ms: i64) -> bool {
    let own = owner.pid == u64::from(std::process::id());
    let Some(identity) = &owner.identity else {
        // Locks of this process have an identity, so this one is of an earlier process.
        return own || process(owner.pid).is_none_or(|process| started_after(&process, owner));
    };
    // A process id says nothing about a process on another machine, boot or pid namespace.
    if identity.namespace.is_some() && identity.namespace != namespace() {
        let renewed = owner.acquired_ms;
        return renewed.is_none_or(|renewed| is_older(renewed, stale_after, now_ms));
    }
    let Some(process) = process(owner.pid) else { return true };
    let same = identity.start == process.start;
    // Our own pid and start, but no token in use: a lock that this process failed to remove.
    !same || own && !held_here().contains(&identity.token)
}

/// Whether the process with this id that started at that time, in milliseconds since 1970, still
/// runs. A later process with the same id is not it, if the system says when a process started.
pub fn still_runs(pid: u64, started_ms: i64) -> bool {
    let Some(process) = process(pid) else { return false };
    process.started_ms().is_none_or(|real| real.abs_diff(started_ms) <= CLOCK_TOLERANCE_MS)
}

/// When a process started, in milliseconds since 1970, if it runs and the system says so.
pub fn process_start(pid: u64) -> Option<i64> {
    process(pid)?.started_ms()
}

struct Process {
    start: Option<u64>,
}

impl Process {
    /// When it started, in milliseconds since 1970, if the system says so.
    fn started_ms(&self) -> Option<i64> {
        let (ticks, boot) = self.start.zip(boot_seconds())?;
        i64::try_from((boot + ticks / TICKS_PER_SECOND).saturating_mul(1000)).ok()
    }
}

/// The process with an id, unless it has ended (a zombie included).
fn process(pid: u64) -> Option<Process> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    match test_kill_process(number) {
        // No permission to signal it means that it exists, under another user.
        Ok(()) | Err(Errno::PERM) => {}
        Err(_) => return None,
    }
    match accord_process::Process::find(pid) {
        // A zombie still has its process id, but will never release the lock.
        Some(found) => (!found.is_zombie).then_some(Process { start: found.start }),
        // Systems without `/proc` (macOS) do not tell the start time.
        None => Some(Process { start: None }),
    }
}

/// Whether a process started after a lock was taken, so that it cannot be the owner.
fn started_after(process: &Process, owner: &LockOwner) -> bool {
    let Some((started, taken)) = process.started_ms().zip(owner.acquired_ms) else { return false };
    // Clocks are adjusted, and the boot time is known only to the second.
    let tolerance = 2_000;
    started > taken.saturating_add(tolerance)
}

/// When this machine booted, in seconds since 1970.
fn boot_seconds() -> Option<u64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse().ok()
}

/// The boot of this machine and the pid namespace of this process.
fn namespace() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = rustix::fs::readlink("/proc/self/ns/pid", Vec::new()).ok()?;
    Some(format!("{} {}", boot.trim(), space.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const NOW: i64 = 4_000_000_000_000;
    const STALE: Duration = Duration::from_secs(30);

    fn owner(pid: u64, acquired_ms: i64, identity: Option<ProcessIdentity>) -> LockOwner {
        LockOwner { pid, acquired_ms: Some(acquired_ms), identity }
    }

    #[test]
    fn a_process_that_ended_is_gone_even_before_its_parent_noticed() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let owner = owner(child.id().into(), NOW, None);
        assert!(!is_gone(&owner, STALE, NOW));
        child.kill().unwrap();
        // It is a zombie until it is waited for.
        for _ in 0..200 {
            if is_gone(&owner, STALE, NOW) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(is_gone(&owner, STALE, NOW));
        child.wait().unwrap();
        assert!(is_gone(&owner, STALE, NOW));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_later_process_with_the_same_id_is_another() {
        let parent = u64::from(rustix::process::getppid().unwrap().as_raw_nonzero().get() as u32);
        let early = 1_000;
        assert!(is_gone(&owner(parent, early, None), STALE, NOW));
        assert!(!is_gone(&owner(parent, NOW, None), STALE, NOW));
        let mut identity = ProcessIdentity::own("t".into());
        identity.start = process(parent).unwrap().start;
        assert!(!is_gone(&owner(parent, early, Some(identity.clone())), STALE, NOW));
        identity.start = identity.start.map(|start| start + 1);
        assert!(is_gone(&owner(parent, early, Some(identity)), STALE, NOW));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_owner_that_cannot_be_seen_from_here_is_gone_once_its_lock_is_stale() {
        let elsewhere = ProcessIdentity {
            token: "t".into(),
            namespace: Some("another machine".into()),
            start: Some(1),
        };
        let owner = owner(1, NOW, Some(elsewhere));
        assert!(!is_gone(&owner, STALE, NOW));
        assert!(!is_gone(&owner, STALE, NOW + 30_000));
        assert!(is_gone(&owner, STALE, NOW + 30_001));
    }

    #[test]
    fn ids_that_no_process_has_are_gone() {
        for pid in [0, u64::MAX, 1 << 40] {
            assert!(is_gone(&owner(pid, 0, None), STALE, 0), "{pid}");
        }
    }

    #[test]
    fn a_process_still_runs_until_it_ends() {
        let started = super::super::now_ms();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = u64::from(child.id());
        assert!(still_runs(pid, started));
        let yesterday = started - 24 * 3_600_000;
        assert!(!still_runs(pid, yesterday), "that was another process");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!still_runs(pid, started));
        assert!(!still_runs(0, started) && !still_runs(u64::MAX, started));
    }
}
