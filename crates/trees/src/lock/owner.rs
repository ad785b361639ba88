//! Whether the process that holds a lock is still there.
//!
//! A lock of another runner names a process alone. Ours says as well when that process began, on
//! which boot of the machine and in which space of process ids, so that a later process of the
//! same number is not taken for it. Where the holder cannot be seen from here (another machine or
//! container), it counts as gone once it has not renewed its lock for as long as every runner
//! waits.

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};
use accord_runs_core::lock::{Lock, STALE_AFTER_MS};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// What our locks say beside what every lock says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Mark {
    /// What tells this lock from every other.
    pub(super) token: String,
    /// The boot and the space of process ids that the holder's number is from.
    world: Option<String>,
    /// When the holder began, in ticks since that boot.
    start: Option<u64>,
}

/// How Linux counts time in `/proc`, whatever its own clock does.
const TICKS_A_SECOND: u64 = 100;

/// How far apart two clocks may say that the same process began.
const CLOCKS_DIFFER_MS: u64 = 10_000;

/// The locks that this process holds.
static HELD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

pub(super) fn held_here() -> MutexGuard<'static, BTreeSet<String>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Mark {
    /// The mark of a lock that this process takes.
    pub(super) fn own(token: String) -> Self {
        static OWN: OnceLock<(Option<String>, Option<u64>)> = OnceLock::new();
        let own = || {
            let process = process(std::process::id().into());
            (world(), process.and_then(|process| process.start))
        };
        let (world, start) = OWN.get_or_init(own).clone();
        Self {
            token,
            world,
            start,
        }
    }

    pub(super) fn document(&self) -> Object {
        [
            ("token".to_owned(), Value::from(self.token.as_str())),
            ("world".to_owned(), self.world.as_deref().into()),
            ("start".to_owned(), self.start.into()),
        ]
        .into_iter()
        .collect()
    }

    /// The mark of a lock, where it is one of ours.
    pub(super) fn read(lock: &Object) -> Option<Self> {
        let mark = lock.get("accord")?.as_object()?;
        let text = |name: &str| mark.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            token: text("token")?,
            world: text("world"),
            start: mark.get("start").and_then(Value::as_u64),
        })
    }
}

/// Whether the holder of a lock is gone for certain.
pub(super) fn is_gone(lock: &Lock, mark: Option<&Mark>, now: Time) -> bool {
    let own = lock.owner_pid == u64::from(std::process::id());
    let Some(mark) = mark else {
        // Locks of this process have a mark.
        return own
            || match process(lock.owner_pid) {
                None => true,
                Some(process) => began_after(&process, lock),
            };
    };
    if mark.world.is_some() && mark.world != world() {
        let renewed = lock.acquired_at;
        return renewed.is_none_or(|renewed| now.millis_since(renewed) > STALE_AFTER_MS);
    }
    let Some(process) = process(lock.owner_pid) else {
        return true;
    };
    let same = mark.start == process.start;
    !same || own && !held_here().contains(&mark.token)
}

/// Whether the process of this number that began at that time still runs. A later process of the same
/// number is another, where the system says when it began.
pub fn still_runs(pid: u64, began: Time) -> bool {
    let Some(process) = process(pid) else {
        return false;
    };
    let noted = began.unix_millis();
    process
        .began_ms()
        .is_none_or(|real| real.abs_diff(noted) <= CLOCKS_DIFFER_MS)
}

/// A process that is there.
struct Process {
    start: Option<u64>,
}

impl Process {
    /// When it began, in milliseconds since the start of 1970, where the system says so.
    fn began_ms(&self) -> Option<i64> {
        let (ticks, boot) = self.start.zip(boot_seconds())?;
        i64::try_from((boot + ticks / TICKS_A_SECOND).saturating_mul(1000)).ok()
    }
}

/// The process of a number, unless it is gone or only waits for its parent to notice its end.
fn process(pid: u64) -> Option<Process> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    match test_kill_process(number) {
        Ok(()) | Err(Errno::PERM) => {}
        Err(_) => return None,
    }
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return Some(Process { start: None });
    };
    // The second field is a name in brackets that may hold anything.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut fields = fields.split_ascii_whitespace();
    if matches!(fields.next(), Some("Z" | "X" | "x")) {
        return None;
    }
    // Field 22 of the line; the one just taken is the third.
    let start = fields.nth(18).and_then(|ticks| ticks.parse().ok());
    Some(Process { start })
}

/// Whether a process began after a lock was taken, so that it cannot be its holder.
fn began_after(process: &Process, lock: &Lock) -> bool {
    let Some((began, taken)) = process.began_ms().zip(lock.acquired_at) else {
        return false;
    };
    // Clocks are set, and the time of the boot is known to the second only.
    let slack = 2_000;
    began > taken.unix_millis().saturating_add(slack)
}

/// When this machine started, in seconds since the start of 1970.
fn boot_seconds() -> Option<u64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse().ok()
}

/// The boot of this machine and the space of process ids that we see.
fn world() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = rustix::fs::readlink("/proc/self/ns/pid", Vec::new()).ok()?;
    Some(format!("{} {}", boot.trim(), space.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn lock(pid: u64, at: Time) -> Lock {
        let text = Value::Object(Lock::document(pid, at)).to_string();
        Lock::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_process_that_ended_is_gone_even_before_its_parent_noticed() {
        let now = Time::from_unix_millis(4_000_000_000_000);
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let lock = lock(child.id().into(), now);
        assert!(!is_gone(&lock, None, now));
        child.kill().unwrap();
        // Not waited for: it is a zombie until then.
        for _ in 0..200 {
            if is_gone(&lock, None, now) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(is_gone(&lock, None, now));
        child.wait().unwrap();
        assert!(is_gone(&lock, None, now));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_later_process_of_the_same_number_is_another() {
        let parent = u64::from(rustix::process::getppid().unwrap().as_raw_nonzero().get() as u32);
        let early = Time::from_unix_millis(1_000);
        let late = Time::from_unix_millis(4_000_000_000_000);
        assert!(is_gone(&lock(parent, early), None, late));
        assert!(!is_gone(&lock(parent, late), None, late));
        let mut mark = Mark::own("t".into());
        mark.start = process(parent).unwrap().start;
        assert!(!is_gone(&lock(parent, early), Some(&mark), late));
        mark.start = mark.start.map(|start| start + 1);
        assert!(is_gone(&lock(parent, early), Some(&mark), late));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_holder_that_cannot_be_seen_from_here_is_given_its_time() {
        let now = Time::from_unix_millis(4_000_000_000_000);
        let elsewhere = Mark {
            token: "t".into(),
            world: Some("another machine".into()),
            start: Some(1),
        };
        assert!(!is_gone(&lock(1, now), Some(&elsewhere), now));
        let later = Time::from_unix_millis(now.unix_millis() + 30_001);
        assert!(is_gone(&lock(1, now), Some(&elsewhere), later));
    }

    #[test]
    fn numbers_that_no_process_has_are_gone() {
        let now = Time::from_unix_millis(0);
        for pid in [0, u64::MAX, 1 << 40] {
            assert!(is_gone(&lock(pid, now), None, now), "{pid}");
        }
    }

    #[test]
    fn a_process_still_runs_until_it_ends_and_is_no_other() {
        let began = accord_system::now().unix_millis();
        let at = Time::from_unix_millis;
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = u64::from(child.id());
        assert!(still_runs(pid, at(began)));
        let yesterday = at(began - 24 * 3_600_000);
        assert!(!still_runs(pid, yesterday), "that was another process");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!still_runs(pid, at(began)));
        assert!(!still_runs(0, at(began)) && !still_runs(u64::MAX, at(began)));
    }
}
