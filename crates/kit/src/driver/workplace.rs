//! A fresh folder for an adapter to work in, gone when the work is done.
//!
//! The folders that are in use are listed, so that a process that must end at once leaves none
//! behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use accord_process::Invocation;
use tempfile::TempDir;

use super::NoAnswer;

/// A folder that one adapter works in.
pub(super) struct Workplace(Option<TempDir>);

struct Live {
    /// A handful: one a worker.
    folders: Vec<PathBuf>,
    /// No folder may be made any more.
    closed: bool,
}

static LIVE: Mutex<Live> = Mutex::new(Live {
    folders: Vec::new(),
    closed: false,
});

/// Makes a temporary folder and tells the adapter where it is, in `TMPDIR` and `ACCORD_CASE_DIR`.
///
/// The working folder stays the caller's, since commands are often written relative to it.
pub(super) fn prepare(invocation: &Invocation) -> Result<(Workplace, Invocation), NoAnswer> {
    let folder = make().map_err(|error| NoAnswer::Harness {
        reason: format!("no temporary folder could be made: {error}"),
    })?;
    let invocation = invocation
        .clone()
        .env("TMPDIR", folder.path())
        .env("ACCORD_CASE_DIR", folder.path());
    Ok((Workplace(Some(folder)), invocation))
}

/// Removes every folder that is in use, and keeps new ones from being made.
pub(super) fn remove_all() {
    let mut live = live();
    live.closed = true;
    for folder in live.folders.drain(..) {
        // A process that was killed a moment ago may still have put something in.
        for _ in 0..ATTEMPTS {
            if removed(fs::remove_dir_all(&folder)).is_ok() {
                break;
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Workplace {
    /// Removes the folder, and says why it could not be.
    pub(super) fn remove(mut self) -> Result<(), String> {
        self.put_away()
    }

    fn put_away(&mut self) -> Result<(), String> {
        let Some(folder) = self.0.take() else {
            return Ok(());
        };
        let path = folder.path().to_owned();
        let gone = removed(folder.close());
        live().folders.retain(|listed| *listed != path);
        gone.map_err(|error| {
            format!(
                "the temporary folder {} could not be removed: {error}",
                path.display()
            )
        })
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // Nobody can be told about an error here.
        let _ = self.put_away();
    }
}

fn make() -> io::Result<TempDir> {
    // Held while the folder is made, so that none is missed by `remove_all`.
    let mut live = live();
    if live.closed {
        return Err(io::Error::other("the run was given up"));
    }
    let folder = tempfile::Builder::new().prefix("accord-case-").tempdir()?;
    live.folders.push(Path::to_owned(folder.path()));
    Ok(folder)
}

/// A folder that is not there any more is what we want.
fn removed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn live() -> MutexGuard<'static, Live> {
    // The list is whole between any two statements that could panic.
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);
