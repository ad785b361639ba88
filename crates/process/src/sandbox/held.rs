//! The mounts of a worker in bubblewrap that must stay while it runs.
//!
//! A program outside that replaces a protected file by a rename takes its mount off inside, and the
//! worker could change the new file.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::table::ProcessTable;

/// Mounts of a worker, and the list of all of its mounts.
pub(crate) struct HeldMounts<'a> {
    paths: &'a [PathBuf],
    /// Stays readable after the worker has ended. A poll of it waits for the next change.
    list: Option<File>,
}

impl<'a> HeldMounts<'a> {
    pub(crate) fn new(paths: &'a [PathBuf]) -> Self {
        Self { paths, list: None }
    }

    /// Finds the list of the worker that `bubblewrap` starts. Bubblewrap makes all mounts in a
    /// child, which then starts the worker.
    pub(crate) fn find(&mut self, bubblewrap: u64) {
        let Some(table) = ProcessTable::read() else { return };
        let all = table.all();
        let child_of = |parent| all.iter().find(|process| process.parent == parent);
        let Some(child) = child_of(bubblewrap) else { return };
        if child_of(child.pid).is_some() {
            self.list = File::open(format!("/proc/{}/mountinfo", child.pid)).ok();
        }
    }

    /// Whether the list is still to be found.
    pub(crate) fn is_awaited(&self) -> bool {
        self.list.is_none() && !self.paths.is_empty()
    }

    pub(crate) fn list(&self) -> Option<&File> {
        self.list.as_ref()
    }

    /// The first mount that came off.
    pub(crate) fn lost(&self) -> io::Result<Option<&'a Path>> {
        let Some(mut list) = self.list() else { return Ok(None) };
        let mut text = Vec::new();
        list.rewind()?;
        list.read_to_end(&mut text)?;
        let found: Vec<PathBuf> = text.split(|byte| *byte == b'\n').filter_map(mounted).collect();
        Ok(self.paths.iter().find(|path| !found.contains(path)).map(PathBuf::as_path))
    }
}

/// Where a line of `mountinfo` says that something is mounted.
fn mounted(line: &[u8]) -> Option<PathBuf> {
    let mut word = line.split(|byte| *byte == b' ').nth(4)?;
    let mut path = Vec::with_capacity(word.len());
    while let Some((byte, rest)) = word.split_first() {
        let code = rest.get(..3).filter(|_| *byte == b'\\');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 8).ok());
        path.push(code.unwrap_or(*byte));
        word = rest.get(if code.is_some() { 3 } else { 0 }..).unwrap_or_default();
    }
    Some(OsString::from_vec(path).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_blank_is_read() {
        let line = b"1 2 0:3 / /srv/a\\040b\\134c rw - ext4 /dev/a rw";
        assert_eq!(mounted(line), Some(PathBuf::from("/srv/a b\\c")));
        assert_eq!(mounted(b""), None);
    }

    #[test]
    fn a_mount_that_is_not_in_the_list_is_lost() {
        let paths = ["/proc", "/nowhere"].map(PathBuf::from);
        let mut held = HeldMounts::new(&paths);
        assert!(held.is_awaited());
        assert_eq!(held.lost().unwrap(), None);
        held.list = File::open("/proc/self/mountinfo").ok();
        assert_eq!(held.lost().unwrap(), Some(Path::new("/nowhere")));
        held.paths = &paths[..1];
        assert_eq!(held.lost().unwrap(), None);
    }
}
