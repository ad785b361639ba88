//! Where a work tree is.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use accord_contract::{Code, Failure};

use crate::Result;

/// A folder: its path without links, and what the file system calls it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Place {
    pub(crate) root: String,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl Place {
    pub(crate) fn of(folder: &Path) -> Result<Self> {
        let unreadable = |why: String| {
            Failure::new(Code::InputUnreadable, format!("{}: {why}", folder.display()))
        };
        let real = folder.canonicalize().map_err(|error| unreadable(error.to_string()))?;
        let about = fs::metadata(&real).map_err(|error| unreadable(error.to_string()))?;
        let root = real.to_str().ok_or_else(|| unreadable("its path is not UTF-8".to_owned()))?;
        Ok(Self { root: root.to_owned(), device: about.dev(), inode: about.ino() })
    }
}
