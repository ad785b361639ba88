//! The few things that are done to the files of a tree.
//!
//! Everything above this seam (atomic files, records, journal, lock) runs on any disk, so that it
//! can be tested on one that loses what was not synced.
//!
//! Paths have `/` between their names and start at the root of the tree; the empty path is the
//! root itself. A path is resolved inside the tree: links are followed as far as they stay in it,
//! but not where the path itself is made, renamed, removed or looked at.

use std::path::Path;

use crate::Result;

/// What a path is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A file with bytes in it.
    File,
    /// A folder.
    Folder,
    /// A link to another path.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// What is known about a path without opening it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// How many bytes it has.
    pub length: u64,
    /// When its bytes last changed, in milliseconds since the start of 1970.
    pub modified_ms: i64,
}

/// One name in a folder.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The name; what is no text in it was replaced.
    pub name: String,
    /// What it names.
    pub kind: Kind,
}

/// A file that was opened: the same file, even if its path names another by now.
pub trait Content: Send {
    /// How many bytes it has.
    ///
    /// # Errors
    /// When the system refuses.
    fn length(&self) -> Result<u64>;

    /// Reads at a place; fewer bytes than asked for only at the end.
    ///
    /// # Errors
    /// When the system refuses.
    fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>>;
}

/// The files of a tree.
pub trait Disk: Send + Sync {
    /// Where the tree is, for people and for processes that work in it.
    fn place(&self) -> &Path;

    /// What a path is, links not followed; `None` where there is nothing.
    ///
    /// # Errors
    /// When the path leads out of the tree or the system refuses; so everywhere below.
    fn stat(&self, path: &str) -> Result<Option<Stat>>;

    /// The names in a folder, sorted; `None` where there is no folder.
    ///
    /// # Errors
    /// As [`Disk::stat`].
    fn list(&self, path: &str) -> Result<Option<Vec<Entry>>>;

    /// Opens a file; `None` where there is nothing.
    ///
    /// # Errors
    /// As [`Disk::stat`], and when there is something that is no file.
    fn open(&self, path: &str) -> Result<Option<Box<dyn Content>>>;

    /// Makes a folder; false where something is there. Its parent must be there.
    ///
    /// # Errors
    /// As [`Disk::stat`].
    fn make_folder(&self, path: &str) -> Result<bool>;

    /// Makes a file with these bytes; false where something is there.
    ///
    /// # Errors
    /// As [`Disk::stat`].
    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool>;

    /// Adds bytes to the end of a file, which is made where it is not there.
    ///
    /// # Errors
    /// As [`Disk::open`].
    fn append(&self, path: &str, bytes: &[u8]) -> Result<()>;

    /// Cuts a file.
    ///
    /// # Errors
    /// As [`Disk::open`].
    fn truncate(&self, path: &str, length: u64) -> Result<()>;

    /// Gives a file another name in the same folder, whatever has that name.
    ///
    /// # Errors
    /// As [`Disk::stat`].
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Gives a file another name in the same folder; false where something has that name.
    ///
    /// # Errors
    /// As [`Disk::stat`].
    fn publish(&self, from: &str, to: &str) -> Result<bool>;

    /// Removes a file or a link; false where there is nothing.
    ///
    /// # Errors
    /// As [`Disk::stat`].
    fn remove_file(&self, path: &str) -> Result<bool>;

    /// Removes whatever is there, a folder with all that is in it; no link is followed.
    ///
    /// # Errors
    /// As [`Disk::stat`].
    fn remove_tree(&self, path: &str) -> Result<()>;

    /// Makes the bytes of a file last.
    ///
    /// # Errors
    /// As [`Disk::open`].
    fn sync(&self, path: &str) -> Result<()>;

    /// Makes the names in a folder last.
    ///
    /// # Errors
    /// As [`Disk::stat`].
    fn sync_folder(&self, path: &str) -> Result<()>;

    /// Waits until no other process has the guard of this path, and has it until the answer is
    /// dropped.
    ///
    /// # Errors
    /// As [`Disk::open`].
    fn guard(&self, path: &str) -> Result<Box<dyn Send>>;
}

/// The folder that a path is in; empty for the root.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last name of a path.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Reads a whole file, up to a limit.
///
/// # Errors
/// As [`Disk::open`], and when it is larger.
pub(crate) fn read(disk: &dyn Disk, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
    let Some(content) = disk.open(path)? else {
        return Ok(None);
    };
    let too_large = || crate::TreeError::TooLarge {
        path: path.to_owned(),
        limit,
    };
    let length = content.length()?;
    if length > limit {
        return Err(too_large());
    }
    // One more than it has, so that a file that grows meanwhile is noticed and read to its end.
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
