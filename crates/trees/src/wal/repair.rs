//! Files that a failure of the file system left empty or cut off while the machine ran on.
//!
//! When a file system fails and is mounted again, files that were not synced are often empty,
//! as after a power failure. The boot is the same then, so that nothing else tells it.
//!
//! Invariants:
//! - only a file that is shorter than what the log wrote to it, and that has the beginning of
//!   that, is repaired. One of the full length is not read: the file systems that lose unsynced
//!   writes lose the length with them, and to read every file would cost as much as all else;
//! - a file that was written after it followed the log was changed by others, and stays. One that
//!   was written just now is looked at again a moment later: an editor may be at work;
//! - a file that is not there stays away: others may have removed it;
//! - a file is repaired as a whole or not at all.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use super::net_effect::{Net, Tail, is_torn, make_temporary};
use crate::disk::{Disk, Stat, read_file};
use crate::lock::now_ms;
use crate::{Kind, Result, limits};

/// How long an editor needs at the most to write a file that it has emptied, in milliseconds.
const EDITING_MS: u64 = 1_000;

/// Mends the files that records wrote, as far as it is known when the files followed them.
pub(super) fn repair(net: &Net<'_>, disk: &dyn Disk, temporary: &str) -> Result<()> {
    for (path, item) in &net.items {
        let Some(text) = item.texts.last() else { continue };
        if is_cut(disk, path, text.len() as u64, item.followed_ms)?
            && read(disk, path)?.is_some_and(|found| is_torn(&found, text.as_bytes()))
        {
            make_temporary(disk, temporary, text.as_bytes())?;
            disk.move_to(temporary, path)?;
        }
    }
    for (path, tail) in &net.appended {
        if is_cut(disk, path, tail.at + tail.text.len() as u64, tail.followed_ms)?
            && let Some(found) = read(disk, path)?
            && let Some(whole) = completed(&found, tail)
        {
            make_temporary(disk, temporary, &whole)?;
            disk.move_to(temporary, path)?;
        }
    }
    Ok(())
}

/// Whether a file is shorter than it was when it had followed the log, and was not written since.
fn is_cut(disk: &dyn Disk, path: &str, length: u64, followed_ms: Option<i64>) -> Result<bool> {
    let Some(followed_ms) = followed_ms else { return Ok(false) };
    let cut = || -> Result<Option<Stat>> {
        let found = match disk.stat(path) {
            // Others put a link in its way. It must not stop everything else.
            Err(error) if error.is_unreadable() => None,
            found => found?,
        };
        Ok(found.filter(|found| {
            found.kind == Kind::File && found.length < length && found.modified_ms <= followed_ms
        }))
    };
    let Some(found) = cut()? else { return Ok(false) };
    // The clock was set back if it is negative: how old the file is is not known then.
    let Ok(age) = u64::try_from(now_ms().saturating_sub(found.modified_ms)) else {
        return Ok(false);
    };
    if age >= EDITING_MS {
        return Ok(true);
    }
    // The wait is short for all files together: they grow older at the same time.
    thread::sleep(Duration::from_millis(EDITING_MS - age));
    Ok(cut()? == Some(found))
}

/// The content of a file. What is no readable file has none.
fn read(disk: &dyn Disk, path: &str) -> Result<Option<Vec<u8>>> {
    match read_file(disk, path, limits::DOCUMENT) {
        Err(error) if error.is_unreadable() => Ok(None),
        found => found,
    }
}

/// A file that lost the last lines of the log, with them. `None` if others changed what is left.
fn completed(found: &[u8], tail: &Tail<'_>) -> Option<Vec<u8>> {
    let at = usize::try_from(tail.at).ok().filter(|at| *at <= found.len())?;
    let own: Vec<&[u8]> = lines(tail.text.as_bytes()).collect();
    let all: HashSet<&[u8]> = own.iter().copied().collect();
    let mut whole = found[..at].to_vec();
    let mut missing = own.iter().peekable();
    for line in lines(&found[at..]) {
        if missing.next_if(|own| **own == line).is_none() {
            if !line.ends_with(b"\n") {
                // The end of the file. Nothing of another program is thrown away.
                let is_own = missing.peek().is_some_and(|own| is_torn(line, own));
                return is_own.then(|| finished(whole, missing));
            }
            // A line of another program, unless it is one of the log in another place.
            if all.contains(line) {
                return None;
            }
        }
        whole.extend(line);
    }
    missing.peek().is_some().then(|| finished(whole, missing))
}

fn finished<'l, 't: 'l>(mut whole: Vec<u8>, rest: impl Iterator<Item = &'l &'t [u8]>) -> Vec<u8> {
    rest.for_each(|line| whole.extend(*line));
    whole
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}
