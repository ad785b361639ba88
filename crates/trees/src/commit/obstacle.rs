//! What keeps a file from being written: something else at its path, or at a folder of it.

use std::collections::BTreeSet;

use super::Write;
use crate::disk::Disk;
use crate::{Kind, Result, TreeError};

/// The obstacle to applying these writes, unless the writes themselves are its cause.
pub fn obstacle_of(disk: &dyn Disk, writes: &[Write]) -> Result<Option<TreeError>> {
    for file in replaced(writes) {
        if let Some(by) = obstacle_to(disk, file)?
            && !is_own(writes, file, &by)
        {
            return Ok(Some(obstructed(file, by)));
        }
    }
    Ok(None)
}

/// The path of what keeps a file from being written. Fails if the path leads out of the tree.
pub fn obstacle_to(disk: &dyn Disk, path: &str) -> Result<Option<String>> {
    for folder in folders(path) {
        match disk.stat(folder)?.map(|stat| stat.kind) {
            // Nothing below a missing folder can be in the way.
            None => return Ok(None),
            Some(Kind::Folder) => {}
            // A link to a folder inside the tree works like a folder.
            Some(Kind::Link) if disk.list(folder)?.is_some() => {}
            Some(_) => return Ok(Some(folder.to_owned())),
        }
    }
    Ok(match disk.stat(path)?.map(|stat| stat.kind) {
        // A link at the path of the file is not in the way: the rename replaces it.
        None | Some(Kind::File | Kind::Link) => None,
        Some(_) => Some(path.to_owned()),
    })
}

/// Checks that every file can be written beside the others and beside what exists.
pub(super) fn check(disk: &dyn Disk, writes: &[Write]) -> Result<()> {
    let files: BTreeSet<&str> = replaced(writes).collect();
    for file in replaced(writes) {
        // `a` and `a/b` in one commit: the first one written obstructs the other.
        if let Some(by) = folders(file).find(|folder| files.contains(folder)) {
            return Err(obstructed(file, by.to_owned()));
        }
        if let Some(by) = obstacle_to(disk, file)? {
            return Err(obstructed(file, by));
        }
    }
    Ok(())
}

/// Whether an obstacle is, or was made for, another file of the commit: removing it does not help.
pub(super) fn is_own(writes: &[Write], file: &str, by: &str) -> bool {
    let mut others = replaced(writes).filter(|other| *other != file);
    others.any(|other| other == by || folders(other).any(|folder| folder == by))
}

pub(super) fn obstructed(path: &str, by: String) -> TreeError {
    TreeError::Obstructed { path: path.to_owned(), by }
}

fn replaced(writes: &[Write]) -> impl Iterator<Item = &str> {
    writes.iter().filter_map(|write| match write {
        Write::Replace { path, .. } => Some(path.as_str()),
        _ => None,
    })
}

/// The folders of a path, outermost first.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}
