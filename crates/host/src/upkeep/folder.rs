//! The creation of data folders.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Creates a data folder that does not exist yet, with a `.gitignore` that excludes all of it: keys
/// and databases do not belong into a commit, and a new `.accord` must not dirty a repository.
///
/// A folder that exists is left alone, because it may have other content (`--data .`).
pub(crate) fn create(folder: &Path) -> io::Result<()> {
    if folder.exists() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    fs::write(folder.join(".gitignore"), "*\n")
}
