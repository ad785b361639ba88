//! The folder of one attempt of a worker: its private home, and what must be removed afterwards.
//!
//! A protected path that does not exist needs something to mount on, which would stay in the work
//! tree. The folder lists these placeholders. They are removed by the process that waits for the
//! worker, by the launcher if that process was killed, and by the next attempt if both were.
//!
//! Invariants:
//! - a folder whose lock nobody has belongs to no running worker;
//! - a placeholder that another running worker needs, too, stays until that one has ended.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, FileType, Mode, mknodat};

const LOCK: &str = "lock";
const PLACEHOLDERS: &str = "placeholders";
/// The content of a `commondir` of git that names its own folder.
pub(crate) const SAME_FOLDER: &[u8] = b".\n";

static COUNT: AtomicU64 = AtomicU64::new(0);

/// The folder of a running attempt. It is removed when this is dropped.
#[derive(Debug)]
pub struct Attempt {
    folder: PathBuf,
    _lock: File,
}

impl Attempt {
    /// Makes a folder below `base`, and removes those of attempts whose processes were killed.
    pub(crate) fn make(base: &Path) -> io::Result<Self> {
        make_folder(base)?;
        let alone = lock_base(base)?;
        for folder in folders(base)? {
            if !is_running(&folder) {
                remove(&folder, base);
            }
        }
        // A process in another PID namespace may have the same number, and the same `base`.
        let folder = loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = base.join(format!("{}-{count}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => break made.map(|()| folder)?,
            }
        };
        for name in ["home", "tmp", "empty"] {
            make_folder(&folder.join(name))?;
        }
        fs::write(folder.join("nothing"), "")?;
        fs::write(folder.join("nothing.json"), "{}\n")?;
        let lock = File::create(folder.join(LOCK))?;
        lock.lock_shared()?;
        drop(alone);
        Ok(Self { folder, _lock: lock })
    }

    /// Keeps a folder that another process made until this one ends.
    pub(crate) fn join(folder: &Path) -> io::Result<Self> {
        let lock = File::open(folder.join(LOCK))?;
        lock.lock_shared()?;
        Ok(Self { folder: folder.to_owned(), _lock: lock })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Those of `paths` that do not exist, or that only another attempt has put there. They are
    /// removed with this attempt.
    pub(crate) fn missing(&self, paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
        let base = self.base();
        let _alone = lock_base(base)?;
        let others = self.others()?;
        let is_missing = |path: &&PathBuf| {
            path.symlink_metadata().is_err() || (others.contains(path) && is_placeholder(path))
        };
        let missing: Vec<PathBuf> = paths.iter().filter(is_missing).cloned().collect();
        let place = self.folder.join(PLACEHOLDERS);
        let mut file = OpenOptions::new().create(true).append(true).open(place)?;
        for path in &missing {
            file.write_all(path.as_os_str().as_bytes())?;
            file.write_all(&[0])?;
        }
        Ok(missing)
    }

    fn base(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }

    /// The placeholders of other attempts.
    fn others(&self) -> io::Result<Vec<PathBuf>> {
        let others = folders(self.base())?.into_iter().filter(|folder| *folder != self.folder);
        Ok(others.flat_map(|folder| placeholders(&folder)).collect())
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let base = self.base().to_owned();
        // Without the lock, another attempt could count on a placeholder that is removed now.
        if let Ok(_alone) = lock_base(&base) {
            remove(&self.folder, &base);
        }
    }
}

/// Removes the placeholders of an attempt that no other one needs, then its folder.
fn remove(folder: &Path, base: &Path) {
    let others = folders(base).unwrap_or_default();
    let others = others.iter().filter(|other| *other != folder);
    let needed: Vec<PathBuf> = others.flat_map(|folder| placeholders(folder)).collect();
    let own = placeholders(folder);
    // The last first: a folder after what is in it.
    for path in own.iter().rev().filter(|path| !needed.contains(path)) {
        // What has a content belongs to somebody, and stays.
        let _ = match path.symlink_metadata() {
            Ok(found) if found.is_dir() => fs::remove_dir(path),
            Ok(_) if is_placeholder(path) => fs::remove_file(path),
            _ => Ok(()),
        };
    }
    let _ = fs::remove_dir_all(folder);
}

/// Makes what a missing file of the work tree is mounted on. It is a socket that nobody serves: git
/// lists none, so a person who runs `git add -A` meanwhile does not add it. Where a file system has
/// no sockets, bubblewrap makes an empty file.
pub(super) fn make_unlisted(path: &Path) {
    let _ = mknodat(CWD, path, FileType::Socket, Mode::RUSR, 0);
}

pub(super) fn is_placeholder(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(found) if found.file_type().is_socket() => true,
        Ok(found) if found.is_dir() => {
            fs::read_dir(path).is_ok_and(|mut names| names.next().is_none())
        }
        Ok(found) if found.is_file() && found.len() < 3 => {
            fs::read(path).is_ok_and(|bytes| bytes.is_empty() || bytes == SAME_FOLDER)
        }
        _ => false,
    }
}

fn placeholders(folder: &Path) -> Vec<PathBuf> {
    let bytes = fs::read(folder.join(PLACEHOLDERS)).unwrap_or_default();
    let paths = bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect()
}

fn folders(base: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(base)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn is_running(folder: &Path) -> bool {
    let lock = File::open(folder.join(LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

/// One process at a time looks at the folders and their placeholders.
fn lock_base(base: &Path) -> io::Result<File> {
    let file = File::create(base.join(LOCK))?;
    file.lock()?;
    Ok(file)
}

fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_stays_while_another_attempt_needs_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("workers");
        let paths = [folder.path().join("a"), folder.path().join("b")];
        let first = Attempt::make(&base).unwrap();
        assert_eq!(first.missing(&paths).unwrap(), paths);
        fs::write(&paths[0], "").unwrap();
        fs::create_dir(&paths[1]).unwrap();
        let second = Attempt::make(&base).unwrap();
        assert_eq!(second.missing(&paths).unwrap(), paths);
        drop(first);
        assert!(paths.iter().all(|path| path.exists()));
        // What somebody has written stays.
        fs::write(&paths[0], "mine").unwrap();
        drop(second);
        assert_eq!((paths[0].exists(), paths[1].exists()), (true, false));
        assert!(folders(&base).unwrap().is_empty());
    }

    #[test]
    fn the_next_attempt_removes_what_a_killed_one_left() {
        let folder = tempfile::tempdir().unwrap();
        let (base, path) = (folder.path().join("workers"), folder.path().join("a"));
        let killed = Attempt::make(&base).unwrap();
        killed.missing(std::slice::from_ref(&path)).unwrap();
        fs::write(&path, "").unwrap();
        let joined = Attempt::join(killed.folder()).unwrap();
        // Neither is dropped, as after a kill: only their locks are gone.
        for attempt in [killed, joined] {
            attempt._lock.unlock().unwrap();
            std::mem::forget(attempt);
        }
        let next = Attempt::make(&base).unwrap();
        assert!(!path.exists());
        assert_eq!(folders(&base).unwrap(), [next.folder().to_owned()]);
    }
}
