//! Dispatch bundles (what a worker gets), and copies of rejected results.

use accord_contract::{Code, Failure, Time};
use accord_runs_core::manifest::Bundle;
use accord_runs_core::{RepoPath, TurnId, dispatch};

use accord_trees::{Disk, Kind, atomic, read_file};

use super::{RepositoryError, Result, layout, limits};

/// The files of a bundle, and the entries in it that are neither files nor folders.
pub(super) fn read(disk: &dyn Disk, turn: &TurnId) -> Result<(Bundle, Vec<String>)> {
    let root = dispatch::bundle_folder(turn);
    let (mut files, mut others) = (Bundle::new(), Vec::new());
    let mut unopened = vec![String::new()];
    while let Some(folder) = unopened.pop() {
        let path = format!("{root}/{folder}");
        let entries = disk.list(path.trim_end_matches('/'))?;
        for entry in entries.unwrap_or_default() {
            let name = format!("{folder}{}", entry.name);
            match entry.kind {
                Kind::File => {
                    let path = format!("{root}/{name}");
                    if let Some(bytes) = read_file(disk, &path, limits::BUNDLE_FILE)? {
                        files.insert(name, bytes);
                    }
                }
                Kind::Folder => unopened.push(format!("{name}/")),
                Kind::Link | Kind::Other => others.push(name),
            }
        }
    }
    others.sort();
    Ok((files, others))
}

/// Writes a bundle; replaces what its folder contained.
pub(super) fn write(disk: &dyn Disk, turn: &TurnId, bundle: &Bundle) -> Result<()> {
    let folder = dispatch::bundle_folder(turn);
    // All names are checked before the old bundle is removed.
    for name in bundle.keys() {
        path_in(turn, name)?;
    }
    disk.remove_tree(&folder)?;
    atomic::make_folders(disk, &folder)?;
    for (name, bytes) in bundle {
        let path = path_in(turn, name)?;
        // Not one commit: the manifest is written last, and a bundle without it is not used.
        disk.create(&path, bytes)?;
        disk.sync(&path)?;
    }
    Ok(disk.sync_folder(&folder)?)
}

pub(super) fn add(disk: &dyn Disk, turn: &TurnId, name: &str, bytes: &[u8]) -> Result<()> {
    Ok(atomic::write(disk, &path_in(turn, name)?, bytes)?)
}

pub(super) fn rejected_path(turn: &TurnId, attempt: u64, now: Time) -> RepoPath {
    // The file name of the reference runner.
    let at = now.to_string().replace([':', '.'], "-");
    let folder = layout::rejected();
    layout::own(&format!("{folder}/{turn}-attempt-{attempt}-{at}.json"))
}

/// The path of a file in a bundle; its name must not have folders.
fn path_in(turn: &TurnId, name: &str) -> Result<String> {
    let valid = RepoPath::parse(name).is_ok_and(|path| path.as_str() == name);
    if !valid || name.contains('/') {
        let message = format!("{name:?} is not a name for a file of a bundle");
        let code = Code::XchainPathOutsideRepository;
        return Err(RepositoryError::Document(Failure::new(code, message).with("path", name)));
    }
    Ok(format!("{}/{name}", dispatch::bundle_folder(turn)))
}
