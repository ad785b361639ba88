//! What keeps a file from being written: something else where it, or a folder of it, must be.
//!
//! A commit looks before it happens, because from then on it must be carried out in full.

use std::collections::BTreeSet;

use accord_runs_core::RepoPath;
use accord_runs_core::accept::Write;

use super::{Repository, journal};
use crate::disk::Disk;
use crate::{Kind, Result, TreeError};

impl Repository {
    /// What a journal that was left cannot get past, where there is such a thing. A journal that
    /// is gone by now, or says nothing sound, has none.
    ///
    /// # Errors
    /// When the files cannot be looked at.
    pub fn obstacle(&self, path: &str) -> Result<Option<TreeError>> {
        let Ok(Some(read)) = journal::read(self.disk(), path) else {
            return Ok(None);
        };
        let Ok((_, recovery)) = journal::recovery(self, path, &read) else {
            return Ok(None);
        };
        for file in replaced(&recovery.writes) {
            if let Some(by) = in_the_way(self.disk(), file)?
                && !is_own(&recovery.writes, file, &by)
            {
                return Ok(Some(unfinished(path, obstructed(file, by))));
            }
        }
        Ok(None)
    }

    /// Those of these files that could not be written, each with the path of what is in its way.
    ///
    /// # Errors
    /// When a path leads out of the repository.
    pub fn obstructed(&self, files: &[RepoPath]) -> Result<Vec<(String, String)>> {
        let mut found = Vec::new();
        for file in files {
            if let Some(by) = in_the_way(self.disk(), file.as_str())? {
                found.push((file.to_string(), by));
            }
        }
        Ok(found)
    }
}

/// Makes sure that every file of a commit can be written beside the others and beside what is
/// there.
pub(super) fn check(disk: &dyn Disk, writes: &[Write]) -> Result<()> {
    let files: BTreeSet<&str> = replaced(writes).collect();
    for file in replaced(writes) {
        if let Some(by) = folders(file).find(|folder| files.contains(folder)) {
            return Err(obstructed(file, by.to_owned()));
        }
        if let Some(by) = in_the_way(disk, file)? {
            return Err(obstructed(file, by));
        }
    }
    Ok(())
}

/// The path at which something keeps a file from being written.
pub(super) fn in_the_way(disk: &dyn Disk, path: &str) -> Result<Option<String>> {
    for folder in folders(path) {
        match disk.stat(folder)?.map(|stat| stat.kind) {
            // Below nothing there is nothing.
            None => return Ok(None),
            Some(Kind::Folder) => {}
            Some(Kind::Link) if disk.list(folder)?.is_some() => {}
            Some(_) => return Ok(Some(folder.to_owned())),
        }
    }
    Ok(match disk.stat(path)?.map(|stat| stat.kind) {
        None | Some(Kind::File | Kind::Link) => None,
        Some(_) => Some(path.to_owned()),
    })
}

/// Whether what is in the way of a file is another file of the same commit, or was made for one:
/// to remove it would not help.
pub(super) fn is_own(writes: &[Write], file: &str, by: &str) -> bool {
    let mut others = replaced(writes).filter(|other| *other != file);
    others.any(|other| other == by || folders(other).any(|folder| folder == by))
}

pub(super) fn obstructed(path: &str, by: String) -> TreeError {
    let path = path.to_owned();
    TreeError::Obstructed { path, by }
}

pub(super) fn unfinished(journal: &str, error: TreeError) -> TreeError {
    TreeError::Unfinished {
        journal: journal.to_owned(),
        source: Box::new(error),
    }
}

fn replaced(writes: &[Write]) -> impl Iterator<Item = &str> {
    writes.iter().filter_map(|write| match write {
        Write::Replace { path, .. } => Some(path.as_str()),
        _ => None,
    })
}

/// The folders that a path is in, the outermost first.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}
