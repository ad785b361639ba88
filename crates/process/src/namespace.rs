//! Supervisors in other PID namespaces.
//!
//! Every program can make a namespace that has only its own processes: a worker in it descends from
//! nobody. So a process that starts workers holds a lock on a file that names its namespace. While
//! the lock is held, a process of another namespace cannot say what it descends from. Locks need
//! no process table, and end with the process that holds them.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::OFlags;

/// Not the folder of `TMPDIR`, which a worker can set.
const FOLDER: &str = "/tmp";
const PREFIX: &str = "accord-supervisor-";

/// The lock of this process. It is held until the process ends.
static HELD: OnceLock<Option<File>> = OnceLock::new();

/// Says that this process starts workers, once.
pub(crate) fn announce_supervisor() {
    // Where it fails, a namespace is not noticed.
    HELD.get_or_init(|| hold(Path::new(FOLDER)).ok().flatten());
}

/// The file of this process, which a worker in a namespace of its own must see.
pub(crate) fn supervisor_file() -> Option<PathBuf> {
    announce_supervisor();
    let name = format!("{PREFIX}{}-{}", own_namespace()?, std::process::id());
    Some(Path::new(FOLDER).join(name))
}

/// Whether a supervisor of this user runs in another namespace.
pub(crate) fn has_hidden_supervisor() -> bool {
    is_held_elsewhere(Path::new(FOLDER), own_namespace())
}

/// Makes the file of this process, and removes those of processes that have ended. `None` if the
/// system has no namespaces.
fn hold(folder: &Path) -> io::Result<Option<File>> {
    let Some(namespace) = own_namespace() else { return Ok(None) };
    for (path, _) in files(folder) {
        if open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(path);
        }
    }
    let name = format!("{namespace}-{}", std::process::id());
    // Locked before it has a name that others look for.
    let made = folder.join(format!(".{PREFIX}{name}"));
    let _ = fs::remove_file(&made);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&made)?;
    file.lock()?;
    fs::rename(made, folder.join(format!("{PREFIX}{name}")))?;
    Ok(Some(file))
}

fn is_held_elsewhere(folder: &Path, own: Option<u64>) -> bool {
    let Some(own) = own else { return false };
    let mut others = files(folder).filter(|(_, namespace)| *namespace != own);
    others.any(|(path, _)| {
        let tried = open(&path).map(|file| file.try_lock_shared());
        matches!(tried, Ok(Err(TryLockError::WouldBlock)))
    })
}

/// The files of this user's supervisors, each with its namespace.
fn files(folder: &Path) -> impl Iterator<Item = (PathBuf, u64)> {
    let user = rustix::process::getuid().as_raw();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let name = entry.file_name().into_string().ok()?;
        let (namespace, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
        let about = entry.metadata().ok()?;
        let is_own = about.is_file() && about.uid() == user;
        Some((entry.path(), namespace.parse().ok()?)).filter(|_| is_own)
    })
}

/// Opens a file to read it, and does not wait for what is no file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// The number of this process' PID namespace. `None` if the system has none.
pub(crate) fn own_namespace() -> Option<u64> {
    Some(fs::metadata("/proc/self/ns/pid").ok()?.ino())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_of_another_namespace_is_seen_until_its_holder_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = own_namespace();
        let held = hold(folder.path()).expect("a lock").expect("namespaces");
        assert!(!is_held_elsewhere(folder.path(), own), "it is of this namespace");
        assert!(is_held_elsewhere(folder.path(), Some(1)));
        assert!(!is_held_elsewhere(folder.path(), None));
        drop(held);
        assert!(!is_held_elsewhere(folder.path(), Some(1)));
        // The next one removes what is left.
        let name = files(folder.path()).next().expect("the file").0;
        fs::rename(&name, folder.path().join(format!("{PREFIX}1-1"))).expect("renamed");
        drop(hold(folder.path()));
        let left: Vec<u64> = files(folder.path()).map(|(_, namespace)| namespace).collect();
        assert_eq!(left, [own.expect("a namespace")]);
    }
}
