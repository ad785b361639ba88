//! The last step before a worker in bubblewrap: are its mounts what they should be?
//!
//! Bubblewrap finds paths by their names. Another worker of the same tree could put a link in the
//! place of one while this worker is started, and make another folder visible.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Stat, stat};

use super::mounts::Mount;
use crate::invocation::Invocation;

/// What a worker must find.
#[derive(Clone, Debug, Default)]
pub struct ExpectedMounts {
    /// Files and folders, each as `DEVICE:INODE:PATH`.
    pub same: Vec<OsString>,
    /// Folders that are mounts of their own.
    pub apart: Vec<PathBuf>,
}

impl ExpectedMounts {
    /// Adds the mount of a path that a worker could replace. Fails if a link is in its way.
    pub(super) fn add(&mut self, at: &Path, mount: &Mount) -> io::Result<()> {
        match mount {
            Mount::ReadOnly(from) | Mount::Writable(from) => {
                let found = if from == at { look(from)? } else { stat(from)? };
                let mut word = OsString::from(format!("{}:{}:", found.st_dev, found.st_ino));
                word.push(at);
                self.same.push(word);
            }
            Mount::Empty | Mount::Hidden => self.apart.push(at.to_owned()),
        }
        Ok(())
    }

    fn check(&self) -> io::Result<()> {
        let other = |path: &Path| io::Error::other(format!("{} was replaced", path.display()));
        for word in &self.same {
            let text = word.to_string_lossy();
            let mut parts = text.splitn(3, ':');
            let number = |part: Option<&str>| part.and_then(|part| part.parse::<u64>().ok());
            let known = (number(parts.next()), number(parts.next()));
            let path = Path::new(parts.next().unwrap_or_default());
            let found = look(path).map_err(|_| other(path))?;
            if known != (Some(found.st_dev), Some(found.st_ino)) {
                return Err(other(path));
            }
        }
        for path in &self.apart {
            let above = look(path.parent().unwrap_or(path)).map_err(|_| other(path))?;
            if look(path).map_err(|_| other(path))?.st_dev == above.st_dev {
                return Err(other(path));
            }
        }
        Ok(())
    }
}

/// Checks the mounts of this process, then becomes the program. Returns only if that fails.
pub fn verify_mounts(expected: &ExpectedMounts, worker: &Invocation) -> io::Error {
    match expected.check() {
        Ok(()) => worker.replace_process(),
        Err(error) => error,
    }
}

/// What is at a path without a link.
#[cfg(target_os = "linux")]
fn look(path: &Path) -> io::Result<Stat> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2};

    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let file = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    Ok(fstat(file)?)
}

#[cfg(not(target_os = "linux"))]
fn look(path: &Path) -> io::Result<Stat> {
    Ok(stat(path)?)
}
