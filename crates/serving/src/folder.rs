//! Creating data folders, and which ones are trusted.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

use accord_contract::{Code, Failure};

/// The name of a data folder that no one has named.
pub const DATA_FOLDER: &str = ".accord";

/// Creates a data folder that does not exist yet, with a `.gitignore` that excludes all of it: keys
/// and databases do not belong into a commit, and a new `.accord` must not dirty a repository.
///
/// A folder that exists is left alone, because it may have other content (`--data .`).
pub fn create(folder: &Path) -> io::Result<()> {
    if folder.exists() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    fs::write(folder.join(".gitignore"), "*\n")
}

/// Refuses a data folder that others can enter: one that came with a repository has the rights of
/// any other folder, and could name a server that a key would be sent to. Fails with
/// `STORE_FOLDER_UNTRUSTED`.
pub fn must_be_private(folder: &Path) -> Result<(), Failure> {
    let mode = fs::metadata(folder).map_or(0o777, |found| found.mode());
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let shown = folder.display();
    let message = format!("{shown} names a server, and others than its owner can enter the folder");
    let advice = format!("look at `url` in {shown}/accord.toml; if it is right: chmod 700 {shown}");
    Err(Failure::new(Code::StoreFolderUntrusted, message).suggesting(advice))
}

/// Refuses a folder of another user. Fails with `STORE_FOLDER_UNTRUSTED`.
pub(crate) fn must_be_own(folder: &Path, owner: u32, user: u32) -> Result<(), Failure> {
    if owner == user {
        return Ok(());
    }
    let shown = folder.display();
    let message = format!("{shown} belongs to another user ({owner}, you are {user})");
    let advice = format!("if you trust it, name it: --data {shown}, or ACCORD_DATA={shown}");
    Err(Failure::new(Code::StoreFolderUntrusted, message).suggesting(advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let refused = must_be_own(Path::new("/shared/.accord"), 1, 2).expect_err("another user");
        assert_eq!(refused.code, Code::StoreFolderUntrusted);
        assert!(refused.suggestion.expect("advice").contains("--data /shared/.accord"));
        assert_eq!(must_be_own(Path::new("x"), 2, 2), Ok(()));
    }
}
