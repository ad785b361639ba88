//! A temporary folder for an adapter. Those in use are listed, to be removed at any time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use accord_process::Invocation;
use parking_lot::{Mutex, MutexGuard};
use tempfile::TempDir;

use super::NoAnswer;

#[derive(Debug)]
pub(crate) struct Workplace(Option<TempDir>);

struct Live {
    /// Few entries: one per worker.
    folders: Vec<PathBuf>,
    /// No folder may be created any more.
    closed: bool,
}

static LIVE: Mutex<Live> = Mutex::new(Live { folders: Vec::new(), closed: false });

/// Creates a folder and passes it to the adapter in `TMPDIR` and `ACCORD_CASE_DIR`. The working
/// folder is the caller's, because commands are often relative to it.
pub(super) fn prepare(invocation: &Invocation) -> Result<(Workplace, Invocation), NoAnswer> {
    let folder = temporary_folder().map_err(no_folder)?;
    let path = folder.path();
    let invocation = invocation.clone().env("TMPDIR", path).env("ACCORD_CASE_DIR", path);
    Ok((folder, invocation))
}

fn no_folder(error: io::Error) -> NoAnswer {
    NoAnswer::Harness { reason: format!("no temporary folder could be created: {error}") }
}

/// Creates a folder for the files of a case, in memory unless `TMPDIR` names another place.
pub(super) fn folder() -> Result<Workplace, NoAnswer> {
    let memory = Path::new("/dev/shm");
    let is_default = std::env::var_os("TMPDIR").is_none() && memory.is_dir();
    let place = if is_default { memory.to_owned() } else { tempfile::env::temp_dir() };
    make_in(&place).map_err(no_folder)
}

pub(crate) fn temporary_folder() -> io::Result<Workplace> {
    make_in(&tempfile::env::temp_dir())
}

/// Removes every folder in use, and prevents new ones.
pub(super) fn remove_all() {
    let mut live = live();
    live.closed = true;
    for folder in live.folders.drain(..) {
        // A process that was just killed may still have created a file.
        for _ in 0..ATTEMPTS {
            if removed(fs::remove_dir_all(&folder)).is_ok() {
                break;
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Workplace {
    pub(crate) fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// Removes the folder, or returns why it could not.
    pub(super) fn remove(mut self) -> Result<(), String> {
        self.put_away()
    }

    fn put_away(&mut self) -> Result<(), String> {
        let Some(folder) = self.0.take() else { return Ok(()) };
        let path = folder.path().to_owned();
        let gone = removed(folder.close());
        // After the removal, so that `remove_all` finds the folder until then.
        live().folders.retain(|listed| *listed != path);
        gone.map_err(|error| {
            format!("the temporary folder {} could not be removed: {error}", path.display())
        })
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // An error cannot be reported from `drop`.
        let _ = self.put_away();
    }
}

fn make_in(place: &Path) -> io::Result<Workplace> {
    // The lock is held while the folder is created, so that `remove_all` misses none.
    let mut live = live();
    if live.closed {
        return Err(io::Error::other("the run was cancelled"));
    }
    let folder = tempfile::Builder::new().prefix("accord-case-").tempdir_in(place)?;
    live.folders.push(Path::to_owned(folder.path()));
    Ok(Workplace(Some(folder)))
}

/// A folder that does not exist any more is not an error.
fn removed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn live() -> MutexGuard<'static, Live> {
    LIVE.lock()
}

const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);
