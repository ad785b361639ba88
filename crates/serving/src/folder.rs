//! Finding and creating data folders.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

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

/// Finds the nearest [`DATA_FOLDER`]: in `start`, or in a folder above it on the same file system.
/// `start` is an absolute path without links. Fails with `STORE_FOLDER_UNTRUSTED` when it belongs
/// to another user, whose settings would hold.
pub fn find(start: &Path) -> Result<Option<PathBuf>, Failure> {
    let Ok(device) = fs::metadata(start).map(|found| found.dev()) else { return Ok(None) };
    for place in start.ancestors() {
        // As git does: a parent on another file system belongs to another context.
        if !fs::metadata(place).is_ok_and(|found| found.dev() == device) {
            return Ok(None);
        }
        let folder = place.join(DATA_FOLDER);
        let Ok(found) = fs::metadata(&folder) else { continue };
        // An empty one is that of a running worker's sandbox.
        let is_empty = fs::read_dir(&folder).is_ok_and(|mut names| names.next().is_none());
        if found.is_dir() && !is_empty {
            must_be_own(&folder, found.uid(), rustix::process::geteuid().as_raw())?;
            return Ok(Some(folder));
        }
    }
    Ok(None)
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

fn must_be_own(folder: &Path, owner: u32, user: u32) -> Result<(), Failure> {
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
    fn the_nearest_folder_is_found_from_below() {
        let top = tempfile::tempdir().expect("a folder");
        let top = top.path().canonicalize().expect("a path");
        let below = top.join("a/b");
        fs::create_dir_all(&below).expect("folders");
        create(&top.join(DATA_FOLDER)).expect("a data folder");
        // A file of that name is no data folder, and neither is an empty folder.
        fs::write(below.join(DATA_FOLDER), "").expect("a file");
        fs::create_dir(top.join("a").join(DATA_FOLDER)).expect("a folder");
        assert_eq!(find(&below), Ok(Some(top.join(DATA_FOLDER))));
        fs::remove_dir(top.join("a").join(DATA_FOLDER)).expect("removed");
        create(&top.join("a").join(DATA_FOLDER)).expect("a data folder");
        assert_eq!(find(&below), Ok(Some(top.join("a").join(DATA_FOLDER))));
    }

    #[test]
    fn the_search_ends_at_the_file_system() {
        // The root of this file system has a parent on another one.
        let start = Path::new("/proc/self");
        let start = start.canonicalize().expect("a process");
        assert_eq!(find(&start), Ok(None));
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let refused = must_be_own(Path::new("/shared/.accord"), 1, 2).expect_err("another user");
        assert_eq!(refused.code, Code::StoreFolderUntrusted);
        assert!(refused.suggestion.expect("advice").contains("--data /shared/.accord"));
        assert_eq!(must_be_own(Path::new("x"), 2, 2), Ok(()));
    }
}
