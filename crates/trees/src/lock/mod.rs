//! The lock of a repository: `locks/accept-turn.lock`, which every runner honours.
//!
//! Invariants:
//! - the lock is made whole or not at all, and by one of those who try;
//! - it is taken over from a holder that is gone, never from one that lives;
//! - its holder renews it, so that other runners do not take it for forgotten, and notices when
//!   one did all the same.

mod owner;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{self, Duration};

use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};
use accord_runs_core::HOME;
use accord_runs_core::lock::{Lock, RENEW_EVERY_MS, STALE_AFTER_MS};

use crate::disk::{self, Disk};
use crate::{Result, TreeError, atomic};
pub use owner::still_runs;
use owner::{Mark, held_here};

/// How much of a lock is read.
const MAX_BYTES: u64 = 64 * 1024;

/// Who holds the lock of a repository.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Holder {
    /// What the lock says.
    pub lock: Lock,
    /// Whether the holder is still there; a lock of one that is gone is in nobody's way.
    pub alive: bool,
}

/// A lock that this process holds until it is dropped.
pub(crate) struct Held {
    disk: Arc<dyn Disk>,
    token: String,
    lost: Arc<AtomicBool>,
    /// Whether the holder before us was gone.
    pub(crate) taken_over: bool,
    stop: Option<Sender<()>>,
    renewing: Option<JoinHandle<()>>,
}

/// Takes the lock, waiting for a living holder as long as `patience` lasts.
///
/// # Errors
/// With `lock_timeout`, which names the holder, when it does not let go in time.
pub(crate) fn take(disk: &Arc<dyn Disk>, patience: Duration) -> Result<Held> {
    let path = path();
    atomic::make_folders(disk.as_ref(), disk::parent(&path))?;
    let token = accord_system::random_hex::<6>();
    let began = time::Instant::now();
    let mut pause = Duration::from_millis(5);
    let mut taken_over = false;
    loop {
        held_here().insert(token.clone());
        match publish(disk.as_ref(), &token) {
            Ok(true) => return Ok(Held::renewed(disk, token, taken_over)),
            Ok(false) => held_here().remove(&token),
            Err(error) => {
                held_here().remove(&token);
                return Err(error);
            }
        };
        if remove_forgotten(disk.as_ref())? {
            taken_over = true;
            continue;
        }
        if began.elapsed() >= patience {
            return Err(TreeError::Locked(refusal(disk.as_ref())?));
        }
        thread::sleep(pause.min(patience.saturating_sub(began.elapsed())));
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}

/// Who holds the lock; `None` where nobody does.
pub(crate) fn holder(disk: &dyn Disk) -> Result<Option<Holder>> {
    Ok(match found(disk)? {
        Found::Nothing | Found::Unreadable { .. } => None,
        Found::Lock { lock, mark } => Some(Holder {
            lock,
            alive: !owner::is_gone(&lock, mark.as_ref(), accord_system::now()),
        }),
    })
}

impl Held {
    fn renewed(disk: &Arc<dyn Disk>, token: String, taken_over: bool) -> Self {
        let (stop, stopped) = mpsc::channel();
        let lost = Arc::new(AtomicBool::new(false));
        let (own_disk, own_token, own_lost) = (disk.clone(), token.clone(), lost.clone());
        let renew = move || {
            let pause = Duration::from_millis(RENEW_EVERY_MS);
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                match renew(own_disk.as_ref(), &own_token) {
                    Ok(true) => {}
                    Ok(false) if is_nobodys(own_disk.as_ref()) => {}
                    Ok(false) => return own_lost.store(true, Ordering::Release),
                    // The next try may be luckier; whoever writes looks at the lock first.
                    Err(_) => {}
                }
            }
        };
        // Without a thread the lock is not renewed, and what is written is checked all the same.
        let renewing = thread::Builder::new().name("lock".into()).spawn(renew).ok();
        Self {
            disk: disk.clone(),
            token,
            lost,
            taken_over,
            stop: Some(stop),
            renewing,
        }
    }

    /// Puts the lock back where whoever ran under it removed or spoiled it; whether it had to.
    ///
    /// # Errors
    /// When it is another's by now.
    pub(crate) fn put_back(&self) -> Result<bool> {
        let disk = self.disk.as_ref();
        if is_own(disk, &self.token)? {
            return Ok(false);
        }
        match found(disk)? {
            Found::Lock { .. } => return Err(TreeError::LockLost),
            Found::Unreadable { .. } => drop(disk.remove_file(&path())?),
            Found::Nothing => {}
        }
        atomic::make_folders(disk, disk::parent(&path()))?;
        if !publish(disk, &self.token)? {
            return Err(TreeError::LockLost);
        }
        Ok(true)
    }

    /// Makes sure that nobody took the lock over.
    pub(crate) fn check(&self) -> Result<()> {
        if self.lost.load(Ordering::Acquire) || !is_own(self.disk.as_ref(), &self.token)? {
            return Err(TreeError::LockLost);
        }
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(renewing) = self.renewing.take() {
            drop(renewing.join());
        }
        if is_own(self.disk.as_ref(), &self.token).unwrap_or(false) {
            // Where this fails, the token below tells whoever comes next that nobody holds it.
            drop(self.disk.remove_file(&path()));
        }
        held_here().remove(&self.token);
    }
}

/// What is where the lock is.
enum Found {
    Nothing,
    /// A lock that was cut off while it was written, or is none.
    Unreadable {
        modified_ms: i64,
    },
    Lock {
        lock: Lock,
        mark: Option<Mark>,
    },
}

fn found(disk: &dyn Disk) -> Result<Found> {
    let Some(bytes) = disk::read(disk, &path(), MAX_BYTES)? else {
        return Ok(Found::Nothing);
    };
    if let Some(lock) = Lock::read(&bytes) {
        let document = accord_canon::read(&bytes).ok();
        let document = document.as_ref().and_then(Value::as_object);
        return Ok(Found::Lock {
            lock,
            mark: document.and_then(Mark::read),
        });
    }
    Ok(match disk.stat(&path())? {
        Some(stat) => Found::Unreadable {
            modified_ms: stat.modified_ms,
        },
        None => Found::Nothing,
    })
}

/// Removes a lock that nobody holds; whether there is room for ours now.
fn remove_forgotten(disk: &dyn Disk) -> Result<bool> {
    let is_forgotten = || {
        Ok(match found(disk)? {
            Found::Nothing => true,
            Found::Unreadable { modified_ms } => {
                let modified = Time::from_unix_millis(modified_ms);
                accord_system::now().millis_since(modified) > STALE_AFTER_MS
            }
            Found::Lock { lock, mark } => {
                owner::is_gone(&lock, mark.as_ref(), accord_system::now())
            }
        })
    };
    if !is_forgotten()? {
        return Ok(false);
    }
    // Two who see the same forgotten lock must not both remove one: the second would remove the
    // first one's own.
    let _guard = disk.guard(&format!("{HOME}/locks/accord-takeover"))?;
    if !is_forgotten()? {
        return Ok(false);
    }
    disk.remove_file(&path())?;
    Ok(true)
}

/// The refusal that names the holder.
fn refusal(disk: &dyn Disk) -> Result<accord_contract::codes::Failure> {
    let unknown = || {
        let code = accord_contract::codes::Code::XchainLockTimeout;
        let message = format!(
            "somebody takes or took the lock, and {} does not say who",
            path()
        );
        accord_contract::codes::Failure::new(code, message).with("path", path())
    };
    Ok(match found(disk)? {
        Found::Lock { lock, .. } => lock.held().with("path", path()),
        Found::Nothing | Found::Unreadable { .. } => unknown(),
    })
}

/// Makes our lock, unless there is one.
fn publish(disk: &dyn Disk, token: &str) -> Result<bool> {
    let temporary = write_temporary(disk, token)?;
    let made = disk.publish(&temporary, &path());
    if !matches!(made, Ok(true)) {
        drop(disk.remove_file(&temporary));
    }
    made
}

/// Writes our lock again with the time of now; false where it is not ours any more.
fn renew(disk: &dyn Disk, token: &str) -> Result<bool> {
    if !is_own(disk, token)? {
        return Ok(false);
    }
    let temporary = write_temporary(disk, token)?;
    disk.rename(&temporary, &path())
        .inspect_err(|_| drop(disk.remove_file(&temporary)))?;
    Ok(true)
}

/// A lock need not survive a crash, so it is not synced.
fn write_temporary(disk: &dyn Disk, token: &str) -> Result<String> {
    let text = Value::Object(document(token)).to_string() + "\n";
    loop {
        let temporary = format!(
            "{HOME}/locks/.tmp-{}.json",
            accord_system::random_hex::<6>()
        );
        if disk.create(&temporary, text.as_bytes())? {
            return Ok(temporary);
        }
    }
}

fn document(token: &str) -> Object {
    let mut document = Lock::document(std::process::id().into(), accord_system::now());
    let mark = Mark::own(token.to_owned()).document();
    document.insert("accord".into(), mark.into());
    document
}

/// Whether there is no lock. Whoever writes notices; who removed it may be known by then.
fn is_nobodys(disk: &dyn Disk) -> bool {
    !matches!(found(disk), Ok(Found::Lock { .. }))
}

fn is_own(disk: &dyn Disk, token: &str) -> Result<bool> {
    Ok(matches!(found(disk)?, Found::Lock { mark: Some(mark), .. } if mark.token == token))
}

/// Where the lock lies.
pub(crate) fn path() -> String {
    format!("{HOME}/locks/accept-turn.lock")
}

#[cfg(test)]
mod tests {
    use crate::Root;

    use super::*;

    #[test]
    fn a_lock_is_renewed_by_its_holder_alone() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(Root::open(folder.path()).unwrap());
        let held = take(&disk, Duration::ZERO).unwrap();
        let taken = holder(disk.as_ref()).unwrap().unwrap().lock.acquired_at;
        thread::sleep(Duration::from_millis(5));
        assert!(renew(disk.as_ref(), &held.token).unwrap());
        let renewed = holder(disk.as_ref()).unwrap().unwrap();
        assert!(renewed.alive && renewed.lock.acquired_at > taken);
        held.check().unwrap();
        // Another runner took it over, as it may after a long sleep of this machine.
        let other = Value::Object(Lock::document(1, accord_system::now())).to_string();
        atomic::write(disk.as_ref(), &path(), other.as_bytes()).unwrap();
        assert!(!renew(disk.as_ref(), &held.token).unwrap());
        assert!(matches!(held.check(), Err(TreeError::LockLost)));
        drop(held);
        let left = disk::read(disk.as_ref(), &path(), MAX_BYTES).unwrap();
        assert_eq!(left, Some(other.into_bytes()));
        let names = disk.list(disk::parent(&path())).unwrap().unwrap();
        assert!(names.iter().all(|entry| !atomic::is_temporary(&entry.name)));
    }
}
