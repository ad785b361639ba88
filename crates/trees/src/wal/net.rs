//! What records do in the end, whatever they did in between.
//!
//! Records are applied by their net effect, so that a file which moved twice is never at two
//! paths, not even while a log is applied again.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{Op, Record, digest};
use crate::disk::{Disk, parent, read_file};
use crate::{Kind, Result, atomic, limits};

/// What a file on the disk is worth.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Trust {
    /// The machine has been running since the log was begun: a file with an unexpected content was
    /// changed by others.
    Files,
    /// The machine was restarted: files may be older than the log, or damaged.
    Log,
}

/// A file that a commit did not reach, because others changed it between the decision and the
/// commit.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Skipped {
    /// The file.
    pub path: String,
    /// The content that it would have.
    pub text: String,
}

/// The net effect of records.
#[derive(Debug, Default)]
pub(super) struct Net {
    items: BTreeMap<String, Item>,
    appended: BTreeMap<String, (u64, String)>,
    removed: BTreeSet<String>,
    folders: BTreeSet<String>,
}

/// A file or folder, by the path that it has in the end.
#[derive(Debug, Default)]
struct Item {
    /// The content, if the records gave it one.
    text: Option<String>,
    /// The contents that it had before or in between.
    known: Vec<Option<String>>,
    /// The other paths that it had.
    earlier: Vec<String>,
}

impl Net {
    pub(super) fn of<'r>(records: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut net = Self::default();
        for op in records.into_iter().flat_map(|record| &record.ops) {
            net.add(op);
        }
        net
    }

    fn add(&mut self, op: &Op) {
        match op {
            Op::Put { path, text, was } => {
                self.removed.remove(path);
                let item = self.items.entry(path.clone()).or_default();
                if let Some(old) = item.text.replace(text.clone()) {
                    item.known.push(Some(digest(old.as_bytes())));
                }
                item.known.push(was.clone());
            }
            Op::Move { from, to } => {
                let below = format!("{from}/");
                let inside: Vec<String> = self
                    .items
                    .range(below.clone()..)
                    .map(|(path, _)| path.clone())
                    .take_while(|path| path.starts_with(&below))
                    .collect();
                for path in inside {
                    let moved = format!("{to}/{}", &path[below.len()..]);
                    self.rename(&path, &moved);
                }
                let folders = std::mem::take(&mut self.folders).into_iter();
                let moved = folders.map(|folder| match folder.strip_prefix(&below) {
                    Some(rest) => format!("{to}/{rest}"),
                    None if folder == *from => to.clone(),
                    None => folder,
                });
                self.folders = moved.collect();
                self.rename(from, to);
            }
            Op::Append { path, at, text } => {
                let (_, appended) =
                    self.appended.entry(path.clone()).or_insert_with(|| (*at, String::new()));
                appended.push_str(text);
            }
            Op::Remove { path } => {
                let item = self.items.remove(path).unwrap_or_default();
                let below = format!("{path}/");
                self.folders.retain(|folder| folder != path && !folder.starts_with(&below));
                self.items.retain(|item, _| !item.starts_with(&below));
                self.removed.extend(item.earlier);
                self.removed.insert(path.clone());
            }
            Op::Folder { path } => {
                self.folders.insert(path.clone());
            }
        }
    }

    fn rename(&mut self, from: &str, to: &str) {
        let mut item = self.items.remove(from).unwrap_or_default();
        item.earlier.push(from.to_owned());
        item.earlier.retain(|path| path != to);
        self.removed.remove(to);
        self.items.insert(to.to_owned(), item);
    }

    /// Brings the files to the state after the records. Answers which of them were left alone.
    pub(super) fn apply(&self, disk: &dyn Disk, trust: Trust) -> Result<Vec<Skipped>> {
        let mut skipped = Vec::new();
        // Folders before what is in them: the order of paths.
        for (path, item) in &self.items {
            self.place(disk, path, item, trust)?;
            if let Some(text) = &item.text
                && !write(disk, path, text, &item.known, trust)?
            {
                skipped.push(Skipped { path: path.clone(), text: text.clone() });
            }
        }
        // After the moves: a folder that was made may have moved with its parent.
        for folder in &self.folders {
            make_folders(disk, folder)?;
        }
        // After the moves: what is removed may have been inside a folder that moved.
        for path in &self.removed {
            // Something else may have moved there since.
            if !self.items.contains_key(path) {
                disk.remove_tree(path)?;
            }
        }
        for (path, (at, text)) in &self.appended {
            append(disk, path, *at, text, trust)?;
        }
        Ok(skipped)
    }

    /// Moves an item to its path, from wherever it is.
    fn place(&self, disk: &dyn Disk, path: &str, item: &Item, trust: Trust) -> Result<()> {
        // The latest path first. A path that belongs to another item by now is not this one's.
        let earlier = item.earlier.iter().rev().filter(|path| !self.items.contains_key(*path));
        for old in earlier {
            let Some(found) = disk.stat(old)? else { continue };
            if disk.stat(path)?.is_none() {
                // Synced: a folder that moves into one that is lost would be lost with it, and the
                // log does not have what others put into it.
                atomic::make_folders(disk, parent(path))?;
                disk.move_to(old, path)?;
            } else if trust == Trust::Log && found.kind == Kind::File {
                disk.remove_file(old)?;
            }
            // Otherwise others made something new at the old path.
        }
        Ok(())
    }
}

/// Gives a file its content. False if others changed it.
fn write(
    disk: &dyn Disk,
    path: &str,
    text: &str,
    known: &[Option<String>],
    trust: Trust,
) -> Result<bool> {
    let found = read_file(disk, path, limits::DOCUMENT)?;
    if found.as_deref() == Some(text.as_bytes()) {
        return Ok(true);
    }
    let found = found.map(|bytes| digest(&bytes));
    if trust == Trust::Files && !known.contains(&found) {
        return Ok(false);
    }
    make_folders(disk, parent(path))?;
    atomic::replace_unsynced(disk, path, text.as_bytes())?;
    Ok(true)
}

/// Appends lines to a file that other programs append to as well.
fn append(disk: &dyn Disk, path: &str, at: u64, text: &str, trust: Trust) -> Result<()> {
    make_folders(disk, parent(path))?;
    let content = disk.open(path)?;
    let length = content.as_ref().map_or(Ok(0), |content| content.length())?;
    let after = match &content {
        Some(content) if length > at => {
            content.read_at(at, usize::try_from(length - at).unwrap_or(usize::MAX))?
        }
        _ => return disk.append(path, text.as_bytes()),
    };
    if after.starts_with(text.as_bytes()) {
        return Ok(());
    }
    // Some of the lines are there already, or lines of other programs, or torn ones.
    let mut missing: Vec<&[u8]> = text.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
    let mut others = Vec::new();
    let mut torn: &[u8] = b"";
    for line in after.split_inclusive(|byte| *byte == b'\n') {
        if let Some(found) = missing.iter().position(|own| *own == line) {
            missing.remove(found);
        } else if line.ends_with(b"\n") {
            others.push(line);
        } else {
            torn = line;
        }
    }
    if trust == Trust::Log {
        // Any part may be damaged. What is after `at` is written again: the lines of this log, and
        // of the others those that are whole.
        others.retain(|line| serde_json::from_slice::<serde_json::Value>(line).is_ok());
        disk.truncate(path, at)?;
        return disk.append(path, &[text.as_bytes(), &others.concat()].concat());
    }
    if !torn.is_empty() && missing.iter().any(|own| own.starts_with(torn)) {
        disk.truncate(path, length - torn.len() as u64)?;
        torn = b"";
    }
    if missing.is_empty() {
        return Ok(());
    }
    let end: &[u8] = if torn.is_empty() { b"" } else { b"\n" };
    disk.append(path, &[end, &missing.concat()].concat())
}

/// Makes a folder and its parents without a sync: the log has it.
fn make_folders(disk: &dyn Disk, path: &str) -> Result<()> {
    if path.is_empty() || disk.stat(path)?.is_some_and(|stat| stat.kind == Kind::Folder) {
        return Ok(());
    }
    make_folders(disk, parent(path))?;
    disk.make_folder(path).map(drop)
}
