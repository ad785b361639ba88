//! A lock file.
//!
//! Invariants:
//! - the file is created in full, and by only one of the processes that try;
//! - the lock is taken over from a process that has ended, never from one that runs;
//! - its owner renews it, so that programs that judge by age do not take it over, and notices if
//!   one did all the same.

mod process;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::disk::{Disk, join, parent, read_file};
use crate::{Result, TreeError, atomic};
use process::held_here;
pub use process::{ProcessIdentity, process_start, still_runs};

/// The time for another program to write its lock.
const TIME_TO_WRITE: Duration = Duration::from_secs(1);
const MAX_BYTES: u64 = 64 * 1024;

#[derive(Clone)]
pub struct LockFile {
    pub path: String,
    /// A file in the same tree that guards a takeover.
    pub takeover_guard: String,
    pub renew_every: Duration,
    /// The age at which a lock counts as abandoned if its owner cannot be seen from here.
    pub stale_after: Duration,
    pub format: &'static dyn LockFormat,
}

pub trait LockFormat: Send + Sync {
    fn write(&self, owner: &LockOwner) -> Vec<u8>;

    /// The owner that a content names; `None` if it cannot be parsed, as after a crash.
    fn read(&self, bytes: &[u8]) -> Option<LockOwner>;
}

/// The owner of a lock, as the lock file names it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LockOwner {
    pub pid: u64,
    /// When it took or last renewed the lock, in milliseconds since 1970.
    pub acquired_ms: Option<i64>,
    /// Which process of that number it is; locks of other programs do not say.
    pub identity: Option<ProcessIdentity>,
}

/// A lock that this process holds until this value is dropped.
pub struct HeldLock {
    disk: Arc<dyn Disk>,
    file: LockFile,
    token: String,
    lost: Arc<AtomicBool>,
    taken_over: bool,
    stop: Option<Sender<()>>,
    renewing: Option<JoinHandle<()>>,
}

impl LockFile {
    /// The owner of the lock, and whether it still runs; `None` if the lock is free.
    pub fn owner(&self, disk: &dyn Disk) -> Result<Option<(LockOwner, bool)>> {
        let Content::Owner(owner) = self.read(disk)? else { return Ok(None) };
        let alive = !process::is_gone(&owner, self.stale_after, now_ms());
        Ok(Some((owner, alive)))
    }

    fn read(&self, disk: &dyn Disk) -> Result<Content> {
        let Some(bytes) = read_file(disk, &self.path, MAX_BYTES)? else {
            return Ok(Content::Absent);
        };
        if let Some(owner) = self.format.read(&bytes) {
            return Ok(Content::Owner(owner));
        }
        // A lock can be seen half written: by another program, or by `publish` without hard links.
        // Then only its age tells whether it is abandoned.
        let modified_ms = disk.stat(&self.path)?.map(|stat| stat.modified_ms);
        Ok(modified_ms.map_or(Content::Absent, |modified_ms| Content::Unreadable { modified_ms }))
    }

    /// Removes an abandoned lock; returns whether the lock is free now.
    fn remove_abandoned(&self, disk: &dyn Disk) -> Result<bool> {
        let age = self.stale_after;
        let is_abandoned = || {
            Ok(match self.read(disk)? {
                Content::Absent => true,
                Content::Unreadable { modified_ms } => is_older(modified_ms, age, now_ms()),
                Content::Owner(owner) => process::is_gone(&owner, age, now_ms()),
            })
        };
        if !is_abandoned()? {
            return Ok(false);
        }
        // The second of two processes that see it must not remove the new lock of the first.
        let _guard = disk.guard(&self.takeover_guard)?;
        if !is_abandoned()? {
            return Ok(false);
        }
        disk.remove_file(&self.path)?;
        Ok(true)
    }

    /// Removes a lock file without an owner. Another program may be writing its lock there, so it
    /// gets the time to finish. Fails if the file has an owner by then.
    fn remove_unreadable(&self, disk: &dyn Disk) -> Result<()> {
        let is_unreadable = || match self.read(disk)? {
            Content::Owner(_) => Err(TreeError::LockLost),
            Content::Unreadable { .. } => Ok(true),
            Content::Absent => Ok(false),
        };
        let give_up = Instant::now() + TIME_TO_WRITE;
        while Instant::now() < give_up {
            if !is_unreadable()? {
                return Ok(());
            }
            thread::sleep(TIME_TO_WRITE / 100);
        }
        // As in `remove_abandoned`: another process may have removed the file and published a lock.
        let _guard = disk.guard(&self.takeover_guard)?;
        if is_unreadable()? {
            disk.remove_file(&self.path)?;
        }
        Ok(())
    }

    /// Creates our lock; false if there is one.
    fn publish(&self, disk: &dyn Disk, token: &str) -> Result<bool> {
        let temporary = self.write_temporary(disk, token)?;
        // Not `rename`: that would replace the lock of another process.
        let made = disk.publish(&temporary, &self.path);
        if !matches!(made, Ok(true)) {
            drop(disk.remove_file(&temporary));
        }
        made
    }

    /// Writes our lock again with the present time; false if it is not ours any more.
    fn renew(&self, disk: &dyn Disk, token: &str) -> Result<bool> {
        if !self.is_own(disk, token)? {
            return Ok(false);
        }
        let temporary = self.write_temporary(disk, token)?;
        disk.rename(&temporary, &self.path).inspect_err(|_| drop(disk.remove_file(&temporary)))?;
        Ok(true)
    }

    /// A lock need not survive a crash, so it is not synced.
    fn write_temporary(&self, disk: &dyn Disk, token: &str) -> Result<String> {
        let content = self.format.write(&LockOwner {
            pid: std::process::id().into(),
            acquired_ms: Some(now_ms()),
            identity: Some(ProcessIdentity::own(token.to_owned())),
        });
        loop {
            // In the folder of the lock, because a rename must stay in one folder.
            let temporary = join(parent(&self.path), &atomic::temporary_name());
            if disk.create(&temporary, &content)? {
                return Ok(temporary);
            }
        }
    }

    fn is_own(&self, disk: &dyn Disk, token: &str) -> Result<bool> {
        let Content::Owner(owner) = self.read(disk)? else { return Ok(false) };
        // Not by process id: threads of one process must not share a lock.
        Ok(owner.identity.is_some_and(|own| own.token == token))
    }
}

impl HeldLock {
    /// Takes the lock, waiting for a living owner until `timeout`.
    pub fn take(disk: &Arc<dyn Disk>, file: LockFile, timeout: Duration) -> Result<Self> {
        atomic::make_folders(disk.as_ref(), parent(&file.path))?;
        let token = accord_system::random_hex::<6>();
        let began = Instant::now();
        let mut pause = Duration::from_millis(5);
        let mut taken_over = false;
        loop {
            // The token must be known before the file exists: other threads of this process
            // would take the lock for that of an earlier process with the same number.
            held_here().insert(token.clone());
            match file.publish(disk.as_ref(), &token) {
                Ok(true) => return Ok(Self::renewed(disk, file, token, taken_over)),
                Ok(false) => held_here().remove(&token),
                Err(error) => {
                    held_here().remove(&token);
                    return Err(error);
                }
            };
            // Removing the old lock does not give us the lock: another process may publish first.
            if file.remove_abandoned(disk.as_ref())? {
                taken_over = true;
                continue;
            }
            if began.elapsed() >= timeout {
                let owner = file.owner(disk.as_ref())?.map(|(owner, _)| owner);
                return Err(TreeError::Locked { path: file.path, owner });
            }
            thread::sleep(pause.min(timeout.saturating_sub(began.elapsed())));
            pause = (pause * 2).min(Duration::from_millis(200));
        }
    }

    fn renewed(disk: &Arc<dyn Disk>, file: LockFile, token: String, taken_over: bool) -> Self {
        let (stop, stopped) = mpsc::channel();
        let lost = Arc::new(AtomicBool::new(false));
        let (lock, held, is_lost) = (file.clone(), token.clone(), lost.clone());
        let shared = disk.clone();
        let renew = move || {
            let disk = shared.as_ref();
            // A channel instead of a sleep, so that a drop does not wait for the next renewal.
            while stopped.recv_timeout(lock.renew_every) == Err(RecvTimeoutError::Timeout) {
                // After an error the next attempt may succeed. `put_back` may put a removed lock
                // back. Every commit checks the lock anyway.
                if matches!(lock.renew(disk, &held), Ok(false))
                    && matches!(lock.read(disk), Ok(Content::Owner(_)))
                {
                    return is_lost.store(true, Ordering::Release);
                }
            }
        };
        // Without the thread the lock is not renewed, but every commit still checks it.
        let renewing = thread::Builder::new().name("lock".into()).spawn(renew).ok();
        Self { disk: disk.clone(), file, token, lost, taken_over, stop: Some(stop), renewing }
    }

    /// Whether the lock was taken over from a process that had ended.
    pub fn is_taken_over(&self) -> bool {
        self.taken_over
    }

    /// Creates the lock file again if it was removed or overwritten; returns whether it was.
    pub fn put_back(&self) -> Result<bool> {
        let disk = self.disk.as_ref();
        if self.file.is_own(disk, &self.token)? {
            return Ok(false);
        }
        match self.file.read(disk)? {
            Content::Owner(_) => return Err(TreeError::LockLost),
            // `publish` never replaces a file, not even one without an owner.
            Content::Unreadable { .. } => self.file.remove_unreadable(disk)?,
            Content::Absent => {}
        }
        atomic::make_folders(disk, parent(&self.file.path))?;
        if self.file.publish(disk, &self.token)? { Ok(true) } else { Err(TreeError::LockLost) }
    }

    /// Fails with [`TreeError::LockLost`] if this process does not have the lock any more.
    pub fn check(&self) -> Result<()> {
        let is_lost = self.lost.load(Ordering::Acquire);
        let is_own = !is_lost && self.file.is_own(self.disk.as_ref(), &self.token)?;
        if is_own { Ok(()) } else { Err(TreeError::LockLost) }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // The thread ends first. Otherwise it could write the lock again after it was removed.
        drop(self.stop.take());
        if let Some(renewing) = self.renewing.take() {
            drop(renewing.join());
        }
        let disk = self.disk.as_ref();
        if self.file.is_own(disk, &self.token).unwrap_or(false) {
            // If this fails, the token is not in `held_here` any more: the lock is abandoned.
            drop(disk.remove_file(&self.file.path));
        }
        held_here().remove(&self.token);
    }
}

enum Content {
    Absent,
    // It was cut off while it was written, or is not a lock.
    Unreadable { modified_ms: i64 },
    Owner(LockOwner),
}

/// Whether a time is longer ago than an age.
fn is_older(time_ms: i64, age: Duration, now_ms: i64) -> bool {
    let age_ms = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    now_ms.saturating_sub(time_ms) > age_ms
}

pub(crate) fn now_ms() -> i64 {
    accord_system::now().unix_millis()
}

#[cfg(test)]
mod tests {
    use accord_contract::{Object, Value};

    use crate::Root;

    use super::*;

    /// A lock of one JSON object.
    struct Plain;

    impl LockFormat for Plain {
        fn write(&self, owner: &LockOwner) -> Vec<u8> {
            let mut document = Object::new();
            document.insert("pid".into(), owner.pid.into());
            document.insert("at".into(), owner.acquired_ms.into());
            if let Some(identity) = &owner.identity {
                document.insert("identity".into(), identity.document().into());
            }
            Value::Object(document).to_string().into_bytes()
        }

        fn read(&self, bytes: &[u8]) -> Option<LockOwner> {
            let document: Object = serde_json::from_slice(bytes).ok()?;
            Some(LockOwner {
                pid: document.get("pid")?.as_u64()?,
                acquired_ms: document.get("at")?.as_i64(),
                identity: ProcessIdentity::read(document.get("identity")),
            })
        }
    }

    fn file() -> LockFile {
        LockFile {
            path: "locks/a.lock".into(),
            takeover_guard: "locks/takeover".into(),
            renew_every: Duration::from_secs(10),
            stale_after: Duration::from_secs(30),
            format: &Plain,
        }
    }

    #[test]
    fn a_lock_that_another_program_is_writing_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(Root::open(folder.path()).unwrap());
        let held = HeldLock::take(&disk, file(), Duration::ZERO).unwrap();
        atomic::write(disk.as_ref(), &file().path, b"rubbish").unwrap();
        assert!(held.put_back().unwrap(), "it has no owner");
        held.check().unwrap();
        // The content of the other lock comes in two parts.
        atomic::write(disk.as_ref(), &file().path, b"").unwrap();
        let other = Plain.write(&LockOwner { pid: 1, acquired_ms: Some(now_ms()), identity: None });
        thread::scope(|scope| {
            let put_back = scope.spawn(|| held.put_back());
            atomic::write(disk.as_ref(), &file().path, &other).unwrap();
            assert!(matches!(put_back.join().unwrap(), Err(TreeError::LockLost)));
        });
        let left = read_file(disk.as_ref(), &file().path, MAX_BYTES).unwrap();
        assert_eq!(left, Some(other));
    }

    #[test]
    fn only_its_owner_renews_a_lock() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(Root::open(folder.path()).unwrap());
        let held = HeldLock::take(&disk, file(), Duration::ZERO).unwrap();
        let (taken, _) = file().owner(disk.as_ref()).unwrap().unwrap();
        thread::sleep(Duration::from_millis(5));
        assert!(file().renew(disk.as_ref(), &held.token).unwrap());
        let (renewed, alive) = file().owner(disk.as_ref()).unwrap().unwrap();
        assert!(alive && renewed.acquired_ms > taken.acquired_ms);
        held.check().unwrap();
        // Another program takes the lock over, as it may after this machine slept.
        let other = Plain.write(&LockOwner { pid: 1, acquired_ms: Some(now_ms()), identity: None });
        atomic::write(disk.as_ref(), &file().path, &other).unwrap();
        assert!(!file().renew(disk.as_ref(), &held.token).unwrap());
        assert!(matches!(held.check(), Err(TreeError::LockLost)));
        drop(held);
        let left = read_file(disk.as_ref(), &file().path, MAX_BYTES).unwrap();
        assert_eq!(left, Some(other));
        let names = disk.list("locks").unwrap().unwrap();
        assert!(names.iter().all(|entry| !atomic::is_temporary(&entry.name)));
    }
}
