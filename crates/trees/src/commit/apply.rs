//! Applying the writes of a commit, for the first time or again.
//!
//! Invariants:
//! - every write is synced before the journal is removed;
//! - applied again, nothing is duplicated and nothing stays half written: what an earlier attempt
//!   appended is found after the length that the file had, and truncated if it is incomplete.

use std::collections::BTreeSet;

use accord_contract::Object;

use super::{Lengths, LineKey, Write, obstacle};
use crate::disk::{Disk, parent};
use crate::record::RecordLines;
use crate::{Result, atomic, limits, record};

/// Whether the writes may have been applied before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Attempt {
    First,
    /// An earlier attempt may have applied any part of them.
    Again,
}

/// Applies writes in order. Returns the paths that could not be removed, and the files that could
/// not be written because of another file of the same commit. Fails with
/// [`Obstructed`](crate::TreeError::Obstructed) if only files with something in their way are left.
pub fn apply(
    disk: &dyn Disk,
    writes: &[Write],
    lengths: &Lengths,
    attempt: Attempt,
) -> Result<Vec<String>> {
    let mut left = Vec::new();
    // Returned only at the end, so that an obstructed file does not keep the records from growing.
    let mut pending = None;
    let mut records = BTreeSet::new();
    let mut folders = BTreeSet::new();
    for write in writes {
        match write {
            Write::Append { path, key, .. } => {
                // All lines of a record at once, so that it is synced once.
                if records.insert(path.as_str()) {
                    let lines = lines_for(writes, path);
                    append(disk, path, *key, &lines, lengths, attempt)?;
                }
            }
            Write::Section { path, text } => section(disk, path, text, lengths, attempt)?,
            Write::Replace { path, text } => match obstacle::obstacle_to(disk, path)? {
                None => {
                    atomic::make_folders(disk, parent(path))?;
                    atomic::replace(disk, path, text.as_bytes())?;
                    folders.insert(parent(path).to_owned());
                }
                // A journal of another program can contain both `a` and `a/b`. As an error it would
                // block every writer for good, because no one can remove the obstacle.
                Some(by) if obstacle::is_own(writes, path, &by) => left.push(path.clone()),
                // One file that cannot be written does not block the others.
                Some(by) => drop(pending.get_or_insert(obstacle::obstructed(path, by))),
            },
            Write::Remove { path } => match disk.remove_tree(path) {
                Ok(()) => {
                    folders.insert(parent(path).to_owned());
                }
                // It is not needed any more; a leftover must not stop the commit.
                Err(_) => left.push(path.clone()),
            },
        }
    }
    // Each folder is synced once, after all its renames. A later write may have removed it.
    for folder in folders {
        if disk.list(&folder)?.is_some() {
            disk.sync_folder(&folder)?;
        }
    }
    pending.map_or(Ok(left), Err)
}

fn lines_for<'a>(writes: &'a [Write], wanted: &str) -> Vec<&'a Object> {
    let lines = writes.iter().filter_map(|write| match write {
        Write::Append { path, line, .. } if path == wanted => Some(line),
        _ => None,
    });
    lines.collect()
}

fn append(
    disk: &dyn Disk,
    path: &str,
    key: LineKey,
    lines: &[&Object],
    lengths: &Lengths,
    attempt: Attempt,
) -> Result<()> {
    let before = lengths.get(path).copied().unwrap_or(0);
    let all = || record::bytes_of(lines.iter().copied());
    // `prepare` measured the file under the same lock, so there is nothing to search for.
    if attempt == Attempt::First {
        return record::append_at(disk, path, before, &all());
    }
    // Only lines after the old length can be ours.
    let from = line_start(disk, path, before)?;
    let mut missing: Vec<&Object> = lines.to_vec();
    let mut others = false;
    let mut found = RecordLines::open(disk, path, from, 0)?;
    for line in &mut found {
        // A damaged line is not an error here; it counts as a line of another program.
        let ours = line.is_ok_and(|line| {
            missing.retain(|own| !key.matches(&line.object, own));
            lines.iter().any(|own| key.matches(&line.object, own))
        });
        others |= !ours;
    }
    if missing.is_empty() && !found.is_torn() {
        return sync(disk, path);
    }
    // Lines of others are never truncated. Our missing lines are added after them.
    if others {
        let length = record::tidy(disk, path)?;
        return record::append_at(disk, path, length, &record::bytes_of(missing));
    }
    // Everything after `from` is ours. Writing it again in full keeps the order of the lines.
    if found.length() > from {
        disk.truncate(path, from)?;
    }
    record::append_at(disk, path, from, &all())
}

/// Where lines of the commit may begin: at the old length, unless others changed the record since.
fn line_start(disk: &dyn Disk, path: &str, before: u64) -> Result<u64> {
    let Some(content) = disk.open(path)? else { return Ok(0) };
    let length = content.length()?;
    let is_start = before == 0 || before <= length && content.read_at(before - 1, 1)? == b"\n";
    Ok(if is_start { before } else { 0 })
}

fn section(disk: &dyn Disk, path: &str, text: &str, lengths: &Lengths, how: Attempt) -> Result<()> {
    let before = lengths.get(path).copied();
    let content = disk.open(path)?;
    let length = content.as_ref().map_or(Ok(0), |content| content.length())?;
    if how == Attempt::First {
        return record::append_at(disk, path, length, text.as_bytes());
    }
    // A file that is shorter than before was replaced by others; the text may be anywhere in it.
    let from = before.filter(|before| *before <= length).unwrap_or(0);
    let wanted = length.saturating_sub(from).min(limits::DOCUMENT);
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    let behind = content.map_or(Ok(Vec::new()), |content| content.read_at(from, wanted))?;
    if contains(&behind, text.as_bytes()) {
        return sync(disk, path);
    }
    // A crash may leave a file longer than what was written to it; the rest is zeros then.
    let end = behind.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    // Without a known length, our text cannot be told from that of others: it is not truncated.
    let torn = before == Some(from) && text.as_bytes().starts_with(&behind[..end]);
    if !torn {
        return record::append_at(disk, path, length, text.as_bytes());
    }
    if length > from {
        disk.truncate(path, from)?;
    }
    record::append_at(disk, path, from, text.as_bytes())
}

/// Syncs a file and its name: an earlier attempt may have written it without syncing.
fn sync(disk: &dyn Disk, path: &str) -> Result<()> {
    if disk.stat(path)?.is_some() {
        disk.sync(path)?;
        disk.sync_folder(parent(path))?;
    }
    Ok(())
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    wanted.is_empty() || bytes.windows(wanted.len()).any(|window| window == wanted)
}
