//! Carrying a commit's writes out, for the first time or again.
//!
//! Invariants:
//! - everything that was written is made to last before it counts as written;
//! - carried out again, nothing is there twice and nothing half: what an earlier try added to a
//!   file is recognised behind the length that the file had, and cut away where it is not whole.

use std::collections::BTreeSet;

use accord_contract::wire::Object;
use accord_runs_core::accept::{Record, Write};

use super::journal::Lengths;
use super::obstacle;
use crate::disk::{Disk, parent};
use crate::{Lines, Result, atomic, limits, record};

/// Whether the writes may be there already.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Attempt {
    /// Nobody tried before.
    First,
    /// Somebody may have tried, and got anywhere.
    Again,
}

/// Carries writes out, in order, and names what was to be removed, or written where another
/// file of the same commit is, and could not be.
///
/// # Errors
/// As `Obstructed` when all is written but files that something is in the way of.
pub(super) fn out(
    disk: &dyn Disk,
    writes: &[Write],
    lengths: &Lengths,
    attempt: Attempt,
) -> Result<Vec<String>> {
    let mut left = Vec::new();
    let mut waits = None;
    let mut records = BTreeSet::new();
    let mut folders = BTreeSet::new();
    for write in writes {
        match write {
            Write::Append { record, .. } => {
                // All lines of a record at once, so that it is synced once.
                if records.insert(record.as_str()) {
                    append(disk, *record, &lines_for(writes, *record), lengths, attempt)?;
                }
            }
            Write::Section { path, text } => section(disk, path, text, lengths, attempt)?,
            Write::Replace { path, text } => match obstacle::in_the_way(disk, path)? {
                None => {
                    atomic::make_folders(disk, parent(path))?;
                    atomic::replace(disk, path, text.as_bytes())?;
                    folders.insert(parent(path).to_owned());
                }
                Some(by) if obstacle::is_own(writes, path, &by) => left.push(path.clone()),
                // One file that waits keeps no other, least of all the state, from being written.
                Some(by) => drop(waits.get_or_insert(obstacle::obstructed(path, by))),
            },
            Write::Remove { path } => match disk.remove_tree(path) {
                Ok(()) => {
                    folders.insert(parent(path).to_owned());
                }
                // Nobody looks at it any more; that it is still there must not stop a run.
                Err(_) => left.push(path.clone()),
            },
        }
    }
    for folder in folders {
        if disk.list(&folder)?.is_some() {
            disk.sync_folder(&folder)?;
        }
    }
    match waits {
        Some(obstructed) => Err(obstructed),
        None => Ok(left),
    }
}

fn lines_for(writes: &[Write], wanted: Record) -> Vec<&Object> {
    let lines = writes.iter().filter_map(|write| match write {
        Write::Append { record, line } if *record == wanted => Some(line),
        _ => None,
    });
    lines.collect()
}

fn append(
    disk: &dyn Disk,
    record: Record,
    lines: &[&Object],
    lengths: &Lengths,
    attempt: Attempt,
) -> Result<()> {
    let path = record.path();
    let before = lengths.get(&path).copied().unwrap_or(0);
    let all = || record::bytes_of(lines.iter().copied());
    if attempt == Attempt::First {
        return record::append_at(disk, &path, before, &all());
    }
    let from = line_start(disk, &path, before)?;
    let mut missing: Vec<&Object> = lines.to_vec();
    let mut others = false;
    let mut found = Lines::open(disk, &path, from, 0)?;
    for line in &mut found {
        // A damaged line is not ours to judge here; it is somebody else's as far as we know.
        let ours = line.is_ok_and(|line| {
            let known = lines.iter().any(|own| record.same(&line.object, own));
            missing.retain(|own| !record.same(&line.object, own));
            known
        });
        others |= !ours;
    }
    if missing.is_empty() && !found.is_torn() {
        return sync(disk, &path);
    }
    if others {
        let length = record::tidy(disk, &path)?;
        return record::append_at(disk, &path, length, &record::bytes_of(missing));
    }
    if found.length() > from {
        disk.truncate(&path, from)?;
    }
    record::append_at(disk, &path, from, &all())
}

/// Where the lines begin that a commit may have added: at the length that the record had, unless
/// somebody has changed it since.
fn line_start(disk: &dyn Disk, path: &str, before: u64) -> Result<u64> {
    let Some(content) = disk.open(path)? else {
        return Ok(0);
    };
    let is_start =
        before == 0 || before <= content.length()? && content.read_at(before - 1, 1)? == b"\n";
    Ok(if is_start { before } else { 0 })
}

fn section(
    disk: &dyn Disk,
    path: &str,
    text: &str,
    lengths: &Lengths,
    attempt: Attempt,
) -> Result<()> {
    let before = lengths.get(path).copied();
    let length = match disk.open(path)? {
        Some(content) => content.length()?,
        None => 0,
    };
    if attempt == Attempt::First {
        return record::append_at(disk, path, length, text.as_bytes());
    }
    let from = before.filter(|before| *before <= length).unwrap_or(0);
    let behind = match disk.open(path)? {
        Some(content) => {
            let wanted = length.saturating_sub(from).min(limits::DOCUMENT);
            content.read_at(from, usize::try_from(wanted).unwrap_or(usize::MAX))?
        }
        None => Vec::new(),
    };
    if contains(&behind, text.as_bytes()) {
        return sync(disk, path);
    }
    // Where a crash left a file longer than what was written to it, the rest is zeros.
    let end = behind
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1);
    let cut_off = before == Some(from) && text.as_bytes().starts_with(&behind[..end]);
    if !cut_off {
        return record::append_at(disk, path, length, text.as_bytes());
    }
    if length > from {
        disk.truncate(path, from)?;
    }
    record::append_at(disk, path, from, text.as_bytes())
}

/// What an earlier try wrote is there, and may still not last; nor may the file's own name.
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
