//! What records do in the end, whatever they did in between.
//!
//! Records are applied by their net effect, so that a file which moved twice is never at two
//! paths, not even while a log is applied again.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{Op, Record, digest};
use crate::disk::{Disk, parent, read_file};
use crate::{Kind, Result, TreeError, atomic, limits};

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
    /// The contents that the records gave it, in order. The last one holds.
    texts: Vec<String>,
    /// The contents that it had before or in between.
    known: Vec<Option<String>>,
    /// The other paths that it had.
    earlier: Vec<String>,
}

impl Item {
    /// Whether a content is what a power failure leaves of one that the records gave it: its
    /// beginning, and zeros after that.
    fn is_torn(&self, found: &[u8]) -> bool {
        let end = found.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        self.texts.iter().any(|text| text.as_bytes().starts_with(&found[..end]))
    }
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
                if let Some(old) = item.texts.last() {
                    item.known.push(Some(digest(old.as_bytes())));
                }
                item.texts.push(text.clone());
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
                if self.folders.remove(from) {
                    self.folders.insert(to.clone());
                }
                let inside: Vec<String> = self
                    .folders
                    .range(below.clone()..)
                    .take_while(|folder| folder.starts_with(&below))
                    .cloned()
                    .collect();
                for folder in inside {
                    self.folders.insert(format!("{to}/{}", &folder[below.len()..]));
                    self.folders.remove(&folder);
                }
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

    /// Brings the files to the state after the records. Answers which of them were left alone. New
    /// contents go through the file `temporary`, which only the holder of the lock uses.
    pub(super) fn apply(
        &self,
        disk: &dyn Disk,
        temporary: &str,
        trust: Trust,
    ) -> Result<Vec<Skipped>> {
        let mut skipped = Vec::new();
        // Folders before what is in them: the order of paths.
        for (path, item) in &self.items {
            self.place(disk, path, item, trust)?;
            if let Some(text) = item.texts.last()
                && !write(disk, temporary, path, item, trust)?
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
                move_to(disk, old, path, |folder| {
                    // Synced: a folder that moves into one that is lost would be lost with it, and
                    // the log does not have what others put into it.
                    atomic::make_folders(disk, folder)
                })?;
            } else if trust == Trust::Log && found.kind == Kind::File {
                disk.remove_file(old)?;
            }
            // Otherwise others made something new at the old path.
        }
        Ok(())
    }
}

/// Gives a file its content. False if others changed it.
fn write(disk: &dyn Disk, temporary: &str, path: &str, item: &Item, trust: Trust) -> Result<bool> {
    let Some(text) = item.texts.last() else { return Ok(true) };
    let mut found = match read_file(disk, path, limits::DOCUMENT) {
        // Others put a link there. What it leads to does not matter.
        Err(TreeError::Outside { .. }) => None,
        // Others put a folder or a device there. It must not stop everything else.
        Err(TreeError::NotFile { .. }) => return Ok(false),
        found => found?,
    };
    if found.as_deref() == Some(text.as_bytes()) {
        return Ok(true);
    }
    if found.is_some()
        && item.known.contains(&None)
        && disk.stat(path)?.is_some_and(|stat| stat.kind == Kind::Link)
    {
        found = None;
    }
    let may_be_lost = trust == Trust::Log && found.as_ref().is_none_or(|found| item.is_torn(found));
    if !may_be_lost && !item.known.contains(&found.map(|bytes| digest(&bytes))) {
        return Ok(false);
    }
    if !disk.create(temporary, text.as_bytes())? {
        // A process that was killed left it.
        disk.remove_file(temporary)?;
        disk.create(temporary, text.as_bytes())?;
    }
    match move_to(disk, temporary, path, |folder| make_folders(disk, folder)) {
        // A file is where a folder must be.
        Err(error) if error.is_absent() => disk.remove_file(temporary).map(|_| false),
        moved => moved.map(|()| true),
    }
}

/// Moves a file or a folder, and makes the folder that it moves into if it is missing.
fn move_to(
    disk: &dyn Disk,
    from: &str,
    to: &str,
    make_folders: impl Fn(&str) -> Result<()>,
) -> Result<()> {
    match disk.move_to(from, to) {
        Err(error) if error.is_absent() => {
            make_folders(parent(to))?;
            disk.move_to(from, to)
        }
        moved => moved,
    }
}

/// Appends lines to a file that other programs append to as well.
fn append(disk: &dyn Disk, path: &str, at: u64, text: &str, trust: Trust) -> Result<()> {
    let Some(content) = disk.open(path)? else {
        make_folders(disk, parent(path))?;
        return disk.append(path, text.as_bytes());
    };
    let length = content.length()?;
    if length <= at {
        return disk.append(path, text.as_bytes());
    }
    let after = content.read_at(at, usize::try_from(length - at).unwrap_or(usize::MAX))?;
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
    if path.is_empty() {
        return Ok(());
    }
    match disk.make_folder(path) {
        Err(error) if error.is_absent() => {
            make_folders(disk, parent(path))?;
            match disk.make_folder(path) {
                // Others put a file where a folder must be. It must not stop everything else.
                Err(error) if error.is_absent() => Ok(()),
                made => made.map(drop),
            }
        }
        made => made.map(drop),
    }
}
