//! The task trees of a data folder, into a backup and out of one.
//!
//! Linked trees are elsewhere, and are not part of a data folder.
//!
//! Invariants:
//! - a tree is copied as it is between two commits;
//! - the trees of a backup are not older than its store, which takes over what it lacks of their
//!   events;
//! - a tree that is restored is complete and synced before it has the name of a project.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use accord_contract::Failure;
use accord_trees::{Disk as _, Root, TreeError};

use super::backup::failed;
use crate::http::Host;
use crate::tasks::PROJECTS;

/// Copies the trees of a host's data folder into a backup. Returns their size in bytes.
pub(super) fn back_up(host: &Host, to: &Path) -> Result<u64, Failure> {
    let trees = host.tasks();
    let linked = trees.linked();
    let mut bytes = 0;
    for project in trees.projects() {
        if linked.iter().any(|(elsewhere, _)| *elsewhere == project) {
            continue;
        }
        let folder = trees.folder(&project);
        let (Some(tree), Some(name)) = (trees.find(&project)?, folder.file_name()) else {
            continue;
        };
        let target = to.join(PROJECTS).join(name);
        let copied = tree.hold(move |root| copy_synced(root, &target))?;
        bytes += copied.map_err(|error| failed(&error))?;
    }
    Ok(bytes)
}

/// Whether a data folder has a tree that a backup has, too.
pub(super) fn are_in_the_way(backup: &Path, folder: &Path) -> bool {
    names(backup).iter().any(|name| folder.join(PROJECTS).join(name).exists())
}

/// Trees that were copied into a data folder and are not used yet.
pub(super) struct NewTrees {
    projects: PathBuf,
    /// The name that each is to have, and the folder that it is in. Removed if it gets no place.
    copied: Vec<(OsString, PathBuf)>,
}

/// Copies the trees of a backup into a data folder.
pub(super) fn bring(backup: &Path, folder: &Path) -> io::Result<NewTrees> {
    let mut trees = NewTrees { projects: folder.join(PROJECTS), copied: Vec::new() };
    for name in names(backup) {
        let target = trees.projects.join(aside(&name, "new"));
        trees.copied.push((name.clone(), target.clone()));
        copy_synced(&backup.join(PROJECTS).join(name), &target)?;
    }
    Ok(trees)
}

impl NewTrees {
    /// Gives the trees their names, in place of those that have them now.
    pub(super) fn take_their_places(mut self) -> io::Result<()> {
        while let Some((name, folder)) = self.copied.last() {
            let (place, old) = (self.projects.join(name), self.projects.join(aside(name, "old")));
            let has_old = match fs::rename(&place, &old) {
                Ok(()) => true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                Err(error) => return Err(error),
            };
            if let Err(error) = fs::rename(folder, &place) {
                // What was there goes on.
                drop(fs::rename(&old, &place));
                return Err(error);
            }
            self.copied.pop();
            File::open(&self.projects)?.sync_all()?;
            if has_old {
                fs::remove_dir_all(&old)?;
            }
        }
        Ok(())
    }
}

impl Drop for NewTrees {
    fn drop(&mut self) {
        for (_, folder) in &self.copied {
            drop(fs::remove_dir_all(folder));
        }
    }
}

fn names(backup: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(backup.join(PROJECTS)).into_iter().flatten().flatten();
    let trees = entries.filter(|entry| entry.path().is_dir());
    trees.map(|entry| entry.file_name()).collect()
}

/// A name beside that of a tree, which no project has.
fn aside(name: &OsString, what: &str) -> OsString {
    let mut aside = OsString::from(".");
    aside.push(name);
    aside.push(format!(".{what}-{}", accord_system::random_hex::<4>()));
    aside
}

/// Copies a tree, and waits until the copy is durable. Returns its size in bytes.
fn copy_synced(from: &Path, to: &Path) -> io::Result<u64> {
    let bytes = copy(from, to)?;
    let synced = Root::open(to).and_then(|copy| copy.sync_tree());
    synced.map_err(|error: TreeError| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// Copies a folder. Links are copied as links: they may lead anywhere. What an agent removes from
/// its folder meanwhile is left out.
fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    DirBuilder::new().recursive(true).mode(0o700).create(to)?;
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        let (kind, path, target) = (entry.file_type()?, entry.path(), to.join(entry.file_name()));
        let copied = if kind.is_dir() {
            copy(&path, &target)
        } else if kind.is_symlink() {
            fs::read_link(&path).and_then(|link| symlink(link, &target)).map(|()| 0)
        } else if kind.is_file() {
            fs::copy(&path, &target)
        } else {
            Ok(0)
        };
        match copied {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            copied => bytes += copied?,
        }
    }
    Ok(bytes)
}
