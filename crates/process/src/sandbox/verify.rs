//! The last step before a worker in bubblewrap: are its mounts what they should be?
//!
//! Bubblewrap finds paths by their names. Another worker of the same tree could put a link in the
//! place of one while this worker is started, so that something else is mounted, or elsewhere. Each
//! mount has its own place. If every place has a mount, with the file or folder that was meant,
//! none is elsewhere.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::stat;

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
    /// Adds a mount. `is_own` says whether a worker could replace the path; then a link in its way
    /// is an error.
    pub(super) fn add(&mut self, at: &Path, mount: &Mount, is_own: bool) -> io::Result<()> {
        match mount {
            Mount::ReadOnly(from) | Mount::Writable(from) => {
                let (device, inode) = match is_own && from == at {
                    true => look(from)?.identity,
                    false => stat(from).map(|found| (found.st_dev, found.st_ino))?,
                };
                let mut word = OsString::from(format!("{device}:{inode}:"));
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
            let identity = (Some(found.identity.0), Some(found.identity.1));
            if known != identity || !is_mount(path, &found) {
                return Err(other(path));
            }
        }
        for path in &self.apart {
            let found = look(path).map_err(|_| other(path))?;
            if !is_mount(path, &found) {
                return Err(other(path));
            }
        }
        Ok(())
    }
}

/// Whether a path is a mount of its own.
fn is_mount(path: &Path, found: &Found) -> bool {
    let above = path.parent().map(look);
    above.is_some_and(|above| above.is_ok_and(|above| above.mount != found.mount))
}

/// Checks the mounts of this process, then becomes the program. Returns only if that fails.
pub fn verify_mounts(expected: &ExpectedMounts, worker: &Invocation) -> io::Error {
    match expected.check() {
        Ok(()) => worker.replace_process(),
        Err(error) => error,
    }
}

struct Found {
    /// Device and inode.
    identity: (u64, u64),
    /// The mount that it is in.
    mount: u64,
}

/// What is at a path without a link.
#[cfg(target_os = "linux")]
fn look(path: &Path) -> io::Result<Found> {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags, fstat, openat2, statx};

    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let file = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let about = statx(&file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
    let found = fstat(&file)?;
    Ok(Found { identity: (found.st_dev, found.st_ino), mount: about.stx_mnt_id })
}

#[cfg(not(target_os = "linux"))]
fn look(path: &Path) -> io::Result<Found> {
    let found = stat(path)?;
    let identity = (u64::try_from(found.st_dev).unwrap_or_default(), found.st_ino);
    Ok(Found { identity, mount: 0 })
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_was_replaced_or_is_no_mount_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
        let mount = |at: &Path| Mount::Writable(at.to_owned());
        let mut expected = ExpectedMounts::default();
        assert!(expected.add(&root.join("link"), &mount(&root.join("link")), true).is_err());
        // It is the right folder, and nothing is mounted there.
        expected.add(&root.join("real"), &mount(&root.join("real")), true).unwrap();
        assert!(expected.check().is_err());
        // A mount of the system, with the right file or another one.
        let proc = Path::new("/proc");
        let mut expected = ExpectedMounts { apart: vec![proc.to_owned()], ..Default::default() };
        expected.add(proc, &mount(proc), true).unwrap();
        expected.check().unwrap();
        let other = ExpectedMounts { same: vec!["1:2:/proc".into()], ..Default::default() };
        assert!(other.check().is_err());
    }
}
