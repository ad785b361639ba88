//! What records do in the end: a file which moved twice is never at two paths, not even while a log
//! is applied again. Items that do not depend on each other are applied by several threads, if the
//! disk has several lanes: in any order, and each as a whole.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::record::{ANYTHING, Op, Record, digest};
use super::worker_pool::{cut, share};
use crate::disk::{Disk, parent, read_file};
use crate::{Kind, Moved, Result, TreeError, atomic, limits};

/// What a file on the disk is worth.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Trust {
    /// The machine runs since the log was begun: an unexpected content is a change of others.
    Files,
    /// The machine was restarted: files may be older than the log, or damaged.
    Log,
}

/// A file that a commit did not reach, because others changed it after the decision.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    pub path: String,
    pub text: String,
}

#[derive(Debug, Default)]
pub(super) struct Net<'r> {
    pub(super) items: BTreeMap<Cow<'r, str>, Item<'r>>,
    pub(super) appended: BTreeMap<&'r str, Tail<'r>>,
    removed: BTreeSet<Cow<'r, str>>,
    folders: BTreeSet<Cow<'r, str>>,
    /// When the files had followed the records that are being added, if that is known.
    followed_ms: Option<i64>,
}

/// What the records append to a file.
#[derive(Debug)]
pub(super) struct Tail<'r> {
    /// The length of the file before.
    pub(super) at: u64,
    pub(super) text: Cow<'r, str>,
    /// When the file had its last line.
    pub(super) followed_ms: Option<i64>,
}

/// A file or folder, by the path that it has in the end.
#[derive(Debug, Default)]
pub(super) struct Item<'r> {
    /// The contents that the records gave it, in order. The last one holds.
    pub(super) texts: Vec<&'r str>,
    /// The digests of the contents that it had before each of them.
    known: Vec<Option<&'r str>>,
    earlier: Vec<Cow<'r, str>>,
    /// The folder that replaces what is at the path, for as long as it is not moved there.
    replaced_by: Option<&'r str>,
    pub(super) followed_ms: Option<i64>,
}

impl Item<'_> {
    /// Whether it did not exist before the records, and they give it one content.
    fn is_new(&self) -> bool {
        self.earlier.is_empty() && self.texts.len() == 1 && self.known == [None]
    }

    fn is_known(&self, found: Option<&[u8]>) -> bool {
        let is_earlier = |found: &[u8]| self.texts.iter().any(|text| text.as_bytes() == found);
        let digest = found.map(digest);
        found.is_some_and(is_earlier) || self.known.contains(&digest.as_deref())
    }

    /// Whether a content is what a power failure leaves of one that the records gave it.
    fn is_torn(&self, found: &[u8]) -> bool {
        self.texts.iter().any(|text| is_torn(found, text.as_bytes()))
    }
}

/// Whether a content is the beginning of a text, and zeros after that.
pub(super) fn is_torn(found: &[u8], text: &[u8]) -> bool {
    let end = found.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    text.starts_with(&found[..end])
}

fn start(from: &str) -> (Bound<&str>, Bound<&str>) {
    (Bound::Included(from), Bound::Unbounded)
}

/// The first of these paths, as long as they are below a folder.
fn below_of<'r: 'i, 'i>(
    paths: impl Iterator<Item = &'i Cow<'r, str>>,
    below: &str,
) -> Vec<Cow<'r, str>> {
    paths.take_while(|path| path.starts_with(below)).cloned().collect()
}

impl<'r> Net<'r> {
    pub(super) fn of(records: &'r [Record]) -> Self {
        let mut net = Self::default();
        for op in records.iter().flat_map(|record| &record.ops) {
            net.add(op);
        }
        net
    }

    /// The net effect of records that the files have followed: so many of them at these times.
    pub(super) fn of_followed(records: &'r [Record], followed: &[(usize, i64)]) -> Self {
        let mut net = Self::default();
        let mut times = followed.iter().peekable();
        for (place, record) in records.iter().enumerate() {
            while times.next_if(|(count, _)| *count <= place).is_some() {}
            net.followed_ms = times.peek().map(|(_, time)| *time);
            record.ops.iter().for_each(|op| net.add(op));
        }
        net
    }

    fn add(&mut self, op: &'r Op) {
        match op {
            Op::Put { path, text, was } => {
                self.removed.remove(path.as_str());
                let item = self.items.entry(path.into()).or_default();
                item.texts.push(text);
                item.known.push(was.as_deref());
                item.followed_ms = self.followed_ms;
            }
            Op::Move { from, to } => {
                let below = format!("{from}/");
                let inside = self.items.range::<str, _>(start(&below)).map(|(path, _)| path);
                for path in below_of(inside, &below) {
                    let moved = format!("{to}/{}", &path[below.len()..]);
                    self.rename(path, moved.into());
                }
                if self.folders.remove(from.as_str()) {
                    self.folders.insert(to.into());
                }
                for folder in below_of(self.folders.range::<str, _>(start(&below)), &below) {
                    self.folders.insert(format!("{to}/{}", &folder[below.len()..]).into());
                    self.folders.remove(&folder);
                }
                self.rename(from.into(), to.into());
            }
            Op::Replace { from, to } => {
                self.take_out(to);
                self.removed.remove(to.as_str());
                let item = Item { replaced_by: Some(from), ..Item::default() };
                self.items.insert(to.into(), item);
            }
            Op::Append { path, at, text } => {
                let followed_ms = self.followed_ms;
                match self.appended.entry(path) {
                    Entry::Vacant(new) => {
                        new.insert(Tail { at: *at, text: text.into(), followed_ms });
                    }
                    Entry::Occupied(known) => {
                        let tail = known.into_mut();
                        tail.text.to_mut().push_str(text);
                        tail.followed_ms = followed_ms;
                    }
                }
            }
            Op::Remove { path } => {
                self.take_out(path);
                self.removed.insert(path.into());
            }
            Op::Folder { path } => {
                self.folders.insert(path.into());
            }
        }
    }

    /// Forgets what the records did at a path and below.
    fn take_out(&mut self, path: &str) {
        let item = self.items.remove(path).unwrap_or_default();
        let below = format!("{path}/");
        self.folders.retain(|folder| folder != path && !folder.starts_with(&below));
        self.items.retain(|item, _| !item.starts_with(&below));
        self.removed.extend(item.earlier);
        self.removed.extend(item.replaced_by.map(Cow::from));
    }

    fn rename(&mut self, from: Cow<'r, str>, to: Cow<'r, str>) {
        let mut item = self.items.remove(&from).unwrap_or_default();
        item.earlier.push(from);
        item.earlier.retain(|path| *path != to);
        self.removed.remove(&to);
        self.items.insert(to, item);
    }

    /// The items, folders before what is in them; for several lanes, directly before.
    fn ordered(&self, lanes: usize) -> Vec<(&str, &Item<'r>)> {
        let mut items: Vec<_> = self.items.iter().map(|(path, item)| (&**path, item)).collect();
        if lanes > 1 {
            items.sort_by(|(one, _), (other, _)| one.split('/').cmp(other.split('/')));
        }
        items
    }

    /// Brings some of the items to their state.
    fn apply_items(
        &self,
        items: &[(&str, &Item<'r>)],
        disk: &dyn Disk,
        temporary: &str,
        trust: Trust,
    ) -> Result<Vec<Skipped>> {
        let mut skipped = Vec::new();
        for (path, item) in items {
            self.place(disk, path, item, trust)?;
            if let Some(text) = item.texts.last()
                && !write(disk, temporary, path, item, trust)?
            {
                skipped.push(Skipped { path: (*path).to_owned(), text: (*text).to_owned() });
            }
        }
        Ok(skipped)
    }

    /// What comes after the items: a folder that was made may have moved with its parent.
    fn apply_rest(&self, disk: &dyn Disk, temporary: &str, trust: Trust) -> Result<()> {
        // What is removed may have been inside a folder that moved.
        for path in &self.removed {
            // Something else may have moved there since.
            if !self.items.contains_key(path) {
                disk.remove_tree(path)?;
            }
        }
        for (path, tail) in &self.appended {
            append(disk, temporary, path, (tail.at, &tail.text), trust)?;
        }
        Ok(())
    }

    /// How many threads may apply it.
    fn lanes(&self, disk: &dyn Disk) -> usize {
        let lanes = disk.lanes();
        if lanes > 1 && self.is_chained() { 1 } else { lanes }
    }

    /// Whether a path is inside a folder that is an item: then it comes after the folder.
    fn is_inside_item(&self, path: &str) -> bool {
        ancestors(path).any(|folder| self.items.contains_key(folder))
    }

    /// Whether an item comes from a folder that moves elsewhere: the order of moves matters then.
    fn is_chained(&self) -> bool {
        let items = self.items.iter();
        let moves: HashMap<&str, &str> = items
            .flat_map(|(path, item)| item.earlier.iter().map(|old| (&**old, &**path)))
            .collect();
        moves.iter().any(|(old, path)| {
            let is_elsewhere = |folder: &str| {
                let to = moves.get(folder);
                to.is_some_and(|to| !ancestors(path).any(|folder| folder == *to))
            };
            ancestors(old).any(is_elsewhere)
        })
    }

    /// Moves an item to its path, from wherever it is.
    fn place(&self, disk: &dyn Disk, path: &str, item: &Item<'_>, trust: Trust) -> Result<()> {
        if let Some(from) = item.replaced_by
            && disk.stat(from)?.is_some()
        {
            // While it is there it was not moved. Cut off in between, it is done once more.
            disk.remove_tree(path)?;
            make_folders(disk, parent(path))?;
            // The log does not have its files: their new place must have reached the disk before
            // they leave the old one, and they before what comes after.
            for folder in ancestors(path).chain([""]) {
                disk.sync_folder(folder)?;
            }
            disk.move_if_free(from, path)?;
            disk.sync_folder(parent(path))?;
            return disk.sync_folder(parent(from));
        }
        // The latest path first. A path that belongs to another item by now is not this one's.
        let earlier = item.earlier.iter().rev().filter(|path| !self.items.contains_key(*path));
        for old in earlier {
            let moved = match disk.move_if_free(old, path) {
                Err(error) if error.is_absent() => {
                    // Synced: a folder that moves into one that is lost would be lost with it, and
                    // the log does not have what others put into it.
                    atomic::make_folders(disk, parent(path))?;
                    disk.move_if_free(old, path)?
                }
                moved => moved?,
            };
            if moved == Moved::Taken {
                match disk.stat(old)?.map(|found| found.kind) {
                    Some(Kind::File) if trust == Trust::Log => drop(disk.remove_file(old)?),
                    // Git leaves the empty folders of a folder whose files it moved.
                    Some(Kind::Folder) if has_no_file(disk, path)? => {
                        disk.remove_tree(path)?;
                        disk.move_if_free(old, path)?;
                    }
                    _ => {}
                }
            }
            // Otherwise others made something new at the old path.
        }
        Ok(())
    }
}

/// Whether a path is a folder, and all that is below it are folders.
fn has_no_file(disk: &dyn Disk, path: &str) -> Result<bool> {
    if disk.stat(path)?.is_none_or(|found| found.kind != Kind::Folder) {
        return Ok(false);
    }
    let Some(entries) = disk.list(path)? else { return Ok(false) };
    for entry in entries {
        if entry.kind != Kind::Folder || !has_no_file(disk, &format!("{path}/{}", entry.name))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Brings the files to the state after records. Answers which of them were left alone. New contents
/// go through `temporary`, or a file beside it for each further thread, under the lock.
pub(super) fn apply_shared(
    records: &Arc<[Record]>,
    disk: &Arc<dyn Disk>,
    temporary: &str,
    trust: Trust,
) -> Result<Vec<Skipped>> {
    let net = Net::of(records);
    let lanes = net.lanes(disk.as_ref());
    let items = net.ordered(lanes);
    let parts = cut(&items, lanes, |(path, _)| !net.is_inside_item(path));
    let own = |part: usize| net.apply_items(parts[part], disk.as_ref(), temporary, trust);
    let (shared, others_disk) = (records.clone(), disk.clone());
    let others_temporary = temporary.to_owned();
    let applied = share(parts.len(), own, move |lane, taken, done| {
        // The records may go away before this thread does, so that it has a net of its own.
        let net = Net::of(&shared);
        let items = net.ordered(lanes);
        let parts = cut(&items, lanes, |(path, _)| !net.is_inside_item(path));
        let temporary = format!("{others_temporary}-{lane}");
        for part in taken {
            let disk = others_disk.as_ref();
            done(part, net.apply_items(parts[part], disk, &temporary, trust));
        }
    });
    let mut skipped = Vec::new();
    for part in applied {
        skipped.extend(part?);
    }
    // After the moves: a folder that was made may have moved with its parent.
    let folders: Vec<&str> = net.folders.iter().map(|folder| &**folder).collect();
    let parts = cut(&folders, lanes, |_| true);
    let own = |part: usize| make_all_folders(parts[part], disk.as_ref());
    let (shared, others_disk) = (records.clone(), disk.clone());
    let made = share(parts.len(), own, move |_, taken, done| {
        let net = Net::of(&shared);
        let folders: Vec<&str> = net.folders.iter().map(|folder| &**folder).collect();
        let parts = cut(&folders, lanes, |_| true);
        taken.for_each(|part| done(part, make_all_folders(parts[part], others_disk.as_ref())));
    });
    made.into_iter().collect::<Result<()>>()?;
    net.apply_rest(disk.as_ref(), temporary, trust)?;
    Ok(skipped)
}

/// The folders that a path is in, from the inside out.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(parent(path)), |folder| Some(parent(folder)))
        .take_while(|folder| !folder.is_empty())
}

/// Makes folders, in the order of their paths.
fn make_all_folders(folders: &[&str], disk: &dyn Disk) -> Result<()> {
    let mut last = "";
    for folder in folders {
        // Folders beside each other have a new parent in most cases: it is made first.
        if parent(folder) != last {
            last = parent(folder);
            make_folders(disk, last)?;
        }
        make_folders(disk, folder)?;
    }
    Ok(())
}

/// Gives a file its content. False if others changed it.
fn write(disk: &dyn Disk, next: &str, path: &str, item: &Item<'_>, trust: Trust) -> Result<bool> {
    let Some(text) = item.texts.last() else { return Ok(true) };
    if item.is_new() && trust == Trust::Files {
        if let Err(error) = make_temporary(disk, next, text.as_bytes()) {
            drop(disk.remove_file(next));
            // Applied again while the disk is full: nothing is missing.
            let found = read_file(disk, path, limits::DOCUMENT)?;
            return if found.as_deref() == Some(text.as_bytes()) { Ok(true) } else { Err(error) };
        }
        match with_folders(disk, path, || disk.move_if_free(next, path)) {
            // Others put something there.
            Ok(Moved::Taken | Moved::Missing) => drop(disk.remove_file(next)?),
            moved => return is_moved(disk, next, moved.map(drop)),
        }
    }
    let mut found = match read_file(disk, path, limits::DOCUMENT) {
        // Others put a link there. What it leads to does not matter.
        Err(TreeError::Outside { .. }) => None,
        // Others put a folder, a device or an endless file there. It must not stop everything else.
        Err(error) if error.is_unreadable() => {
            if !set_aside(disk, next, path)? {
                return Ok(false);
            }
            None
        }
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
    let is_replaced = item.known.contains(&Some(ANYTHING));
    let may_be_lost = trust == Trust::Log && found.as_ref().is_none_or(|found| item.is_torn(found));
    if !may_be_lost && !is_replaced && !item.is_known(found.as_deref()) {
        return Ok(false);
    }
    make_temporary(disk, next, text.as_bytes())?;
    is_moved(disk, next, with_folders(disk, path, || disk.move_to(next, path)))
}

pub(super) fn make_temporary(disk: &dyn Disk, temporary: &str, bytes: &[u8]) -> Result<()> {
    if !disk.create(temporary, bytes)? {
        // A process that was killed left it, or others put something there.
        disk.remove_tree(temporary)?;
        disk.create(temporary, bytes)?;
    }
    Ok(())
}

fn is_moved(disk: &dyn Disk, temporary: &str, moved: Result<()>) -> Result<bool> {
    match moved {
        // A file, or a link that leads outside, is where a folder must be.
        Err(error) if error.is_absent() || matches!(error, TreeError::Outside { .. }) => {
            disk.remove_file(temporary).map(|_| false)
        }
        moved => moved.map(|()| true),
    }
}

/// Moves what is no file out of the way of one, beside the log. False if that is not possible.
fn set_aside(disk: &dyn Disk, temporary: &str, path: &str) -> Result<bool> {
    let folder = format!("{}/aside", parent(temporary));
    if disk.stat(&folder)?.is_some_and(|found| found.kind != Kind::Folder) {
        disk.remove_tree(&folder)?;
    }
    make_folders(disk, &folder)?;
    for number in 1..=MAX_ASIDE {
        match disk.move_if_free(path, &format!("{folder}/{number}")) {
            Ok(Moved::Done) => return Ok(true),
            Ok(Moved::Taken) => {}
            Ok(Moved::Missing) | Err(_) => return Ok(false),
        }
    }
    Ok(false)
}

/// The most things that are set aside. A person looks at them, and removes them.
const MAX_ASIDE: usize = 1_000;

/// Moves something to a path, and makes the folder of the path if it is missing.
fn with_folders<T>(disk: &dyn Disk, path: &str, act: impl Fn() -> Result<T>) -> Result<T> {
    match act() {
        Err(error) if error.is_absent() => {
            make_folders(disk, parent(path))?;
            act()
        }
        done => done,
    }
}

/// Appends lines to a file that other programs append to as well.
fn append(
    disk: &dyn Disk,
    temporary: &str,
    path: &str,
    (at, text): (u64, &str),
    trust: Trust,
) -> Result<()> {
    let content = match disk.open(path) {
        // It must not stop everything else.
        Err(error) if error.is_unreadable() && set_aside(disk, temporary, path)? => None,
        content => content?,
    };
    let Some(content) = content else {
        make_folders(disk, parent(path))?;
        return disk.append(path, text.as_bytes());
    };
    let length = content.length()?;
    if length - length.min(at) > limits::DOCUMENT {
        // No program appends that much between two commits.
        disk.truncate(path, at)?;
        return disk.append(path, text.as_bytes());
    }
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
        // What is after `at` is written again: the lines of this log, and whole ones of others.
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
        // Others put a link there that leads outside.
        Err(TreeError::Outside { .. }) => Ok(()),
        made => made.map(drop),
    }
}
