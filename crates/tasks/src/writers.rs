//! Who writes to the event logs of a tree. A tree travels with git, so that several copies of it
//! are written to at the same time. Each copy is a writer: it has logs of its own
//! (`events/DAY.WRITER.jsonl`) and numbers of its own, and git merges them without a conflict.
//!
//! `state/accord/writer.json` has the ids of this copy and the key with which it signs. It is made
//! once, and git ignores it.
//!
//! Invariants:
//! - a log of a writer is only ever appended to: of two versions, one is the beginning of the
//!   other;
//! - the numbers of a writer have no gap, and those of a copy never start again;
//! - a copied folder is another writer. So is a copy whose log git took back (an older commit was
//!   checked out): what comes next would otherwise follow another event on each branch.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use accord_contract::Value;
use accord_tasks_core::event;
use accord_trees::record::last_lines;
use accord_trees::{Disk, Kind};
use serde_json::json;

use crate::Environment;
use crate::committed::State;
use crate::layout::{OLD_SOURCE, OWN};
use crate::scan::readable;
use crate::signed::Key;

/// The letters of an id: none can be mistaken for another one, also without upper case.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// How many lines at the end of a log are looked at: other programs may have written some.
const LAST_LINES: usize = 8;
/// The largest file that is read here.
const MAX_FILE: u64 = 64 * 1024;

/// The writers that this copy of a tree was, the present one last.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Writers {
    pub(crate) ids: Vec<String>,
    /// Whether the first one also wrote the logs without a name, as earlier versions did.
    pub(crate) has_old_logs: bool,
    /// The folder, so that a copy of it is noticed.
    place: String,
    /// The key with which this copy signs its lines; see [`crate::signed`].
    key: String,
}

impl Writers {
    pub(crate) fn current(&self) -> &str {
        self.ids.last().map_or("", String::as_str)
    }

    pub(crate) fn text(&self) -> String {
        let document = json!({
            "ids": self.ids,
            "has_old_logs": self.has_old_logs,
            "place": self.place,
            "key": self.key,
        });
        format!("{document}\n")
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let document: Value = serde_json::from_str(text).ok()?;
        let id = |id: &Value| id.as_str().filter(|id| is_writer(id)).map(str::to_owned);
        let ids: Vec<String> = document.get("ids")?.as_array()?.iter().filter_map(id).collect();
        let has_old_logs = document.get("has_old_logs") == Some(&Value::Bool(true));
        let place = document.get("place").and_then(Value::as_str).unwrap_or_default().to_owned();
        let key = document.get("key").and_then(Value::as_str).unwrap_or_default().to_owned();
        (!ids.is_empty()).then_some(Self { ids, has_old_logs, place, key })
    }

    /// The key with which this copy signs. `None` before it wrote with this version.
    pub(crate) fn key(&self) -> Option<Key> {
        Key::read(&self.key)
    }

    /// Whether a log is one of this copy.
    pub(crate) fn has(&self, log: &str) -> bool {
        self.position(log).is_some()
    }

    /// The place of a log in the order in which this copy wrote, within its day.
    pub(crate) fn position(&self, log: &str) -> Option<usize> {
        match writer_of(log) {
            None => self.has_old_logs.then_some(0),
            Some(writer) => {
                self.ids.iter().position(|id| id == writer).map(|position| position + 1)
            }
        }
    }

    /// The writer of a log; nothing for logs that another copy wrote with an earlier version.
    pub(crate) fn writer_of(&self, log: &str) -> String {
        let old = self.ids.first().filter(|_| self.has_old_logs);
        writer_of(log).or(old.map(String::as_str)).unwrap_or_default().to_owned()
    }

    /// The writers for the next event, and whether they are new. `is_in_git` says whether other
    /// versions of the files come and go.
    pub(crate) fn next(
        disk: &dyn Disk,
        state: &State,
        environment: &Environment,
        is_in_git: bool,
    ) -> (Self, bool) {
        let place = place(disk.root_path());
        let known = state.writers();
        let Some(known) = known else {
            let has_old_logs = state.last_event().is_some_and(|last| last > 0);
            let old = has_old_logs.then(|| old_source(disk)).flatten();
            let ids = vec![old.unwrap_or_else(|| new_id(environment))];
            return (Self { ids, has_old_logs, place, key: new_key(environment) }, true);
        };
        if !is_same(&known.place, &place) {
            let (ids, key) = (vec![new_id(environment)], new_key(environment));
            return (Self { ids, has_old_logs: false, place, key }, true);
        }
        let key = match known.key() {
            Some(_) => known.key.clone(),
            None => new_key(environment),
        };
        if is_in_git && is_taken_back(disk, state) {
            let mut next = Self { place, key, ..known.clone() };
            next.ids.push(new_id(environment));
            return (next, true);
        }
        let is_new = key != known.key;
        (Self { key, ..known.clone() }, is_new)
    }
}

/// The writer that the name of a log says; `None` for a log of earlier versions or other tools.
pub(crate) fn writer_of(log: &str) -> Option<&str> {
    let name = log.rsplit('/').next().unwrap_or(log).strip_suffix(".jsonl")?;
    name.split_once('.').map(|(_, writer)| writer).filter(|writer| is_writer(writer))
}

/// The day of a log.
pub(crate) fn day_of(log: &str) -> &str {
    let name = log.rsplit('/').next().unwrap_or(log);
    name.split('.').next().unwrap_or(name)
}

fn is_writer(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !id.is_empty() && id.len() <= 64 && id.bytes().all(is_plain)
}

/// Whether git carries a folder: it is in a work tree, and not in a data folder, which has a
/// `.gitignore` of its own.
pub(crate) fn is_in_git(folder: &Path) -> bool {
    for folder in folder.ancestors() {
        if std::fs::read(folder.join(".gitignore")).is_ok_and(|text| text.trim_ascii() == b"*") {
            return false;
        }
        if folder.join(".git").symlink_metadata().is_ok() {
            return true;
        }
    }
    false
}

/// Whether git writes the work tree that a folder is in: it has the lock of the index.
pub(crate) fn git_writes(folder: &Path) -> bool {
    let mut found = folder.ancestors().map(|above| above.join(".git"));
    let Some(git) = found.find(|git| git.symlink_metadata().is_ok()) else {
        return false;
    };
    let named = std::fs::read_to_string(&git).unwrap_or_default();
    let named = named.strip_prefix("gitdir:").map(|path| git.with_file_name(path.trim()));
    named.unwrap_or(git).join("index.lock").exists()
}

fn new_key(environment: &Environment) -> String {
    Key::make([environment.random(), environment.random()])
}

fn new_id(environment: &Environment) -> String {
    let random = environment.random();
    let letter = |byte: &u8| char::from(LETTERS[usize::from(byte % 32)]);
    random[8..].iter().map(letter).collect()
}

/// What names a folder: where it is, and what the file system calls it. A folder that was moved
/// keeps the second, one that was restored the first, and a copy has neither.
fn place(root: &Path) -> String {
    let folder = root.join(OWN);
    let found = std::fs::metadata(&folder).or_else(|_| std::fs::metadata(root));
    let inode = found.map_or(0, |found| found.ino());
    let path = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    format!("{inode} {}", path.display())
}

fn is_same(one: &str, other: &str) -> bool {
    let split = |place: &str| place.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()));
    match (split(one), split(other)) {
        (Some((inode, path)), Some((other_inode, other_path))) => {
            path == other_path || (inode != "0" && inode == other_inode)
        }
        _ => true,
    }
}

/// Whether the last event of this copy is not at the end of its log any more.
pub(crate) fn is_taken_back(disk: &dyn Disk, state: &State) -> bool {
    let (Some((log, end)), Some(last)) = (state.end(), state.last_event()) else { return false };
    let found = disk.stat(log).ok().flatten();
    match found {
        None => true,
        Some(found) if found.kind != Kind::File || found.length == end => false,
        Some(_) => {
            let lines = last_lines(disk, log, LAST_LINES).unwrap_or_default();
            !lines.iter().filter_map(event::number).any(|number| number == last)
        }
    }
}

/// The id that earlier versions gave a tree as a source of events.
fn old_source(disk: &dyn Disk) -> Option<String> {
    let bytes = readable(accord_trees::read_file(disk, OLD_SOURCE, MAX_FILE)).ok()??;
    let document: Value = serde_json::from_slice(&bytes).ok()?;
    document.get("id")?.as_str().filter(|id| is_writer(id)).map(str::to_owned)
}
