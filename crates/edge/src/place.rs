//! Where a work tree is.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

use accord_contract::{Code, Failure};

use crate::Result;

/// A folder: its path without links, and what the file system calls it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Place {
    pub(crate) root: String,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// When the folder was made, in milliseconds, where the file system says it.
    pub(crate) created: Option<u64>,
}

impl Place {
    pub(crate) fn of(folder: &Path) -> Result<Self> {
        let unreadable = |why: String| {
            Failure::new(Code::InputUnreadable, format!("{}: {why}", folder.display()))
        };
        let real = folder.canonicalize().map_err(|error| unreadable(error.to_string()))?;
        let about = fs::metadata(&real).map_err(|error| unreadable(error.to_string()))?;
        let root = real.to_str().ok_or_else(|| unreadable("its path is not UTF-8".to_owned()))?;
        let created = about.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let created = created.and_then(|since| u64::try_from(since.as_millis()).ok());
        Ok(Self { root: root.to_owned(), device: about.dev(), inode: about.ino(), created })
    }
}
