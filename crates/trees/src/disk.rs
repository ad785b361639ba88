//! The operations on the files of a tree. All else runs on any [`Disk`], so that it can be tested
//! on one that loses unsynced writes.
//!
//! Paths are relative to the root of the tree, with `/` between names; the empty path is the root
//! itself. A path is resolved inside the tree. Links are followed while they stay inside, except
//! at the last name when the path itself is created, renamed, removed or inspected.

use std::path::Path;

use crate::Result;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// What is known about a path without opening it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stat {
    pub kind: Kind,
    /// Its size in bytes.
    pub length: u64,
    /// When its content last changed, in milliseconds since 1970.
    pub modified_ms: i64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Moved {
    Done,
    Missing,
    Taken,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// The name; bytes that are not UTF-8 are replaced.
    pub name: String,
    pub kind: Kind,
}

/// An open file. It stays the same file when its path is replaced.
pub trait Content: Send {
    /// Its size in bytes when it was opened.
    fn length(&self) -> Result<u64>;

    /// Reads at an offset; returns fewer bytes only at the end.
    fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>>;
}

/// The files of a tree. Every operation fails if its path leads out of it or the system refuses.
pub trait Disk: Send + Sync {
    /// The root folder, for messages and for processes that work in it.
    fn root_path(&self) -> &Path;

    /// What a path is, without following a link; `None` if it does not exist.
    fn stat(&self, path: &str) -> Result<Option<Stat>>;

    /// The entries of a folder, sorted by name; `None` if there is no such folder.
    fn list(&self, path: &str) -> Result<Option<Vec<Entry>>>;

    /// Opens a file; `None` if it does not exist. Fails if the path is not a file.
    fn open(&self, path: &str) -> Result<Option<Box<dyn Content>>>;

    /// Creates a folder in an existing one; false if the path exists.
    fn make_folder(&self, path: &str) -> Result<bool>;

    /// Creates a file with these bytes; false if the path exists.
    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool>;

    /// Appends bytes to a file; creates it if it does not exist.
    fn append(&self, path: &str, bytes: &[u8]) -> Result<()>;

    fn truncate(&self, path: &str, length: u64) -> Result<()>;

    /// Renames a file within its folder, over whatever has the new name.
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Moves a file or a folder to a path in any folder of the tree, over a file that is there.
    fn move_to(&self, from: &str, to: &str) -> Result<()>;

    /// Moves a file or a folder to a path in any folder of the tree, unless something is there.
    fn move_if_free(&self, from: &str, to: &str) -> Result<Moved> {
        if self.stat(from)?.is_none() {
            return Ok(Moved::Missing);
        }
        if self.stat(to)?.is_some() {
            return Ok(Moved::Taken);
        }
        self.move_to(from, to).map(|()| Moved::Done)
    }

    /// Renames a file within its folder; false if the new name exists.
    fn publish(&self, from: &str, to: &str) -> Result<bool>;

    /// Removes a file or a link; false if it does not exist.
    fn remove_file(&self, path: &str) -> Result<bool>;

    /// Removes a path, a folder with all its content; no link is followed.
    fn remove_tree(&self, path: &str) -> Result<()>;

    fn sync(&self, path: &str) -> Result<()>;

    fn sync_folder(&self, path: &str) -> Result<()>;

    fn sync_tree(&self) -> Result<()>;

    /// Waits for the advisory lock of a file, and holds it until the returned value is dropped.
    fn guard(&self, path: &str) -> Result<Box<dyn Send>>;

    /// Takes the advisory lock of a file if it is free.
    fn try_guard(&self, path: &str) -> Result<Option<Box<dyn Send>>>;

    /// May keep folders open until the returned value is dropped, so that work in them is faster.
    fn keep_folders(&self) -> Box<dyn Send> {
        Box::new(())
    }

    /// How many threads may work on different paths at once; one if operations must stay in order.
    fn lanes(&self) -> usize {
        1
    }
}

/// The folder of a path; empty for the root.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(crate) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        return name.to_owned();
    }
    format!("{folder}/{name}")
}

/// Reads a file; `None` if it does not exist. Fails if it has more than `limit` bytes.
pub fn read_file(disk: &dyn Disk, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
    let Some(content) = disk.open(path)? else { return Ok(None) };
    let too_large = || crate::TreeError::TooLarge { path: path.to_owned(), limit };
    let length = content.length()?;
    if length > limit {
        return Err(too_large());
    }
    // One byte more than the length, so that a file that grows meanwhile is noticed.
    let wanted = usize::try_from(length + 1).unwrap_or(usize::MAX);
    let mut bytes = content.read_at(0, wanted)?;
    while bytes.len() as u64 > length && bytes.len() as u64 <= limit {
        let more = content.read_at(bytes.len() as u64, 64 * 1024)?;
        if more.is_empty() {
            break;
        }
        bytes.extend(more);
    }
    if bytes.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(Some(bytes))
}

/// Syncs every file and folder below a path, one by one.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sync_below(disk: &dyn Disk, path: &str) -> Result<()> {
    for entry in disk.list(path)?.unwrap_or_default() {
        let below = join(path, &entry.name);
        match entry.kind {
            Kind::Folder => sync_below(disk, &below)?,
            Kind::File => disk.sync(&below)?,
            Kind::Link | Kind::Other => {}
        }
    }
    disk.sync_folder(path)
}
