//! The records of a log: one line each, with a checksum.

use std::sync::Arc;

use accord_canon::sha256;
use accord_contract::{Object, Value};
use serde_json::json;

use super::worker_pool::{cut, share};
use crate::{Result, TreeError};

const SUM: usize = 16;

/// The member of the first record of a group: how many records the group has.
const GROUP: &str = "group";

/// The member of a line that is not a record: when the files had followed every record before it.
const FOLLOWED: &str = "followed";

/// Stands for the digest of something that is no readable file, and is replaced whatever it is.
pub const ANYTHING: &str = "anything";

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What it does to the files, in order.
    pub ops: Vec<Op>,
    /// What the protocol says about it.
    pub detail: Object,
}

/// `Put` gives a file a content; missing folders are made. `was` is the [`digest`] of the content
/// that it had; `None` if it did not exist; [`ANYTHING`] if it was no readable file. `Remove` is
/// for a file, or a folder with everything in it. `Replace` moves a folder to a path, in place of
/// what is there. The folder at `from` is complete and synced before, no record writes to it, and
/// its path is never used again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Op {
    Put { path: String, text: String, was: Option<String> },
    Move { from: String, to: String },
    Replace { from: String, to: String },
    Append { path: String, at: u64, text: String },
    Remove { path: String },
    Folder { path: String },
}

/// A log that was read, up to the first line that is not whole.
pub(super) struct Log {
    pub(super) header: Option<Object>,
    /// The length of the line with the header.
    pub(super) head: u64,
    pub(super) added: Added,
    pub(super) end: u64,
}

#[derive(Debug, Default)]
pub(super) struct Added {
    pub(super) records: Vec<Record>,
    /// How many of them the files followed before the next group was written.
    pub(super) settled: usize,
    /// When the files had followed a number of them, in milliseconds since 1970.
    pub(super) followed: Vec<(usize, i64)>,
    /// Their bytes.
    pub(super) length: u64,
    /// Whether a later group is whole, so that what follows them was changed after its sync.
    pub(super) is_damaged: bool,
}

impl Added {
    /// Refuses a log that others changed after it was synced: to cut it would undo commits.
    pub(super) fn check(&self, path: &str, end: u64) -> Result<()> {
        if !self.is_damaged {
            return Ok(());
        }
        let why = format!(
            "the record at byte {end} was changed after it was written. Restore the file from a \
             backup; without one, remove the folder of the log, and adopt the tasks in progress"
        );
        Err(TreeError::damaged(path, why))
    }

    /// The records that the files may not have followed: those of the last group.
    pub(super) fn unsettled(&self) -> &[Record] {
        &self.records[self.settled..]
    }
}

/// The digest of a content: 16 hexadecimal digits of its SHA-256.
pub fn digest(bytes: &[u8]) -> String {
    let mut digits = sha256(bytes).hex();
    digits.truncate(SUM);
    digits
}

/// Adds the records of a group. The first one is marked: the files have followed all before it.
pub(super) fn encode_group(records: &Arc<[Record]>, lanes: usize, bytes: &mut Vec<u8>) {
    let parts = cut(records, lanes, |_| true).len();
    if parts == 1 {
        return encode_part(records, lanes, 0, bytes);
    }
    let encoded = move |records: &[Record], part| {
        let mut bytes = Vec::new();
        encode_part(records, lanes, part, &mut bytes);
        bytes
    };
    let shared = records.clone();
    let encoded = share(
        parts,
        |part| encoded(records, part),
        move |_, taken, done| taken.for_each(|part| done(part, encoded(&shared, part))),
    );
    encoded.iter().for_each(|part| bytes.extend(part));
}

fn encode_part(records: &[Record], lanes: usize, part: usize, bytes: &mut Vec<u8>) {
    let own = cut(records, lanes, |_| true)[part];
    bytes.reserve(own.len() * 2_048);
    for (place, record) in own.iter().enumerate() {
        let group = (part == 0 && place == 0).then_some(records.len());
        line(bytes, |bytes| record.write(group, bytes));
    }
}

/// The line after a group that the files have followed at this time.
pub(super) fn followed(now_ms: i64) -> Vec<u8> {
    encode(&json!({FOLLOWED: now_ms}))
}

pub(super) fn encode(document: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    line(&mut bytes, |bytes| drop(serde_json::to_writer(bytes, document)));
    bytes
}

/// Adds a line: the checksum of a text, and the text.
fn line(bytes: &mut Vec<u8>, text: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    bytes.extend([b' '; SUM + 1]);
    text(bytes);
    let sum = digest(&bytes[start + SUM + 1..]);
    bytes[start..start + SUM].copy_from_slice(sum.as_bytes());
    bytes.push(b'\n');
}

fn object(texts: &[(&str, &str)], number: Option<(&str, u64)>, bytes: &mut Vec<u8>) {
    let mut next = b'{';
    for (name, text) in texts {
        bytes.push(next);
        bytes.extend(format!("\"{name}\":").bytes());
        // Writing to memory cannot fail.
        drop(serde_json::to_writer(&mut *bytes, text));
        next = b',';
    }
    if let Some((name, number)) = number {
        bytes.extend(format!(",\"{name}\":{number}").bytes());
    }
    bytes.push(b'}');
}

/// Reads a log, up to a line without its checksum, which was not synced.
pub(super) fn decode(path: &str, bytes: &[u8]) -> Result<Log> {
    let first = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(header) = checked(first) else {
        return Ok(Log { header: None, head: 0, added: Added::default(), end: 0 });
    };
    let added = decode_records(path, &bytes[first.len()..])?;
    let head = first.len() as u64;
    Ok(Log { header: Some(header), head, end: head + added.length, added })
}

pub(super) fn decode_records(path: &str, bytes: &[u8]) -> Result<Added> {
    let mut added = Added::default();
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    while let Some(line) = lines.next() {
        let Some(document) = checked(line) else {
            added.is_damaged = lines.any(follows_a_sync);
            break;
        };
        if let Some(time) = document.get(FOLLOWED) {
            added.settled = added.records.len();
            // An earlier version wrote no time.
            added.followed.extend(time.as_i64().map(|time| (added.settled, time)));
        } else {
            if document.contains_key(GROUP) {
                added.settled = added.records.len();
            }
            let refused = || TreeError::damaged(path, "a record of the log is of another version");
            added.records.push(Record::read(document).ok_or_else(refused)?);
        }
        added.length += line.len() as u64;
    }
    Ok(added)
}

/// Whether a line is written only after everything before it is synced.
fn follows_a_sync(line: &[u8]) -> bool {
    checked(line).is_some_and(|line| line.contains_key(GROUP) || line.contains_key(FOLLOWED))
}

fn checked(line: &[u8]) -> Option<Object> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = line.split_once(' ')?;
    (digest(text.as_bytes()) == sum).then(|| serde_json::from_str(text).ok())?
}

impl Record {
    /// Adds the record as JSON. The first one of a group says how many there are.
    fn write(&self, group: Option<usize>, bytes: &mut Vec<u8>) {
        bytes.extend(b"{\"ops\":[");
        for (place, op) in self.ops.iter().enumerate() {
            bytes.extend(if place == 0 { &b""[..] } else { b"," });
            op.write(bytes);
        }
        bytes.extend(b"],\"detail\":");
        drop(serde_json::to_writer(&mut *bytes, &self.detail));
        if let Some(count) = group {
            bytes.extend(format!(",\"{GROUP}\":{count}").bytes());
        }
        bytes.push(b'}');
    }

    fn read(mut document: Object) -> Option<Self> {
        let Some(Value::Object(detail)) = document.remove("detail") else { return None };
        let ops = document.get("ops")?.as_array()?.iter();
        Some(Self { ops: ops.map(Op::read).collect::<Option<_>>()?, detail })
    }
}

impl Op {
    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Put { path, text, was } => {
                let was = was.as_deref();
                let members = [("put", path.as_str()), ("text", text), ("was", was.unwrap_or(""))];
                object(&members[..if was.is_some() { 3 } else { 2 }], None, bytes);
            }
            Self::Move { from, to } => object(&[("move", from), ("to", to)], None, bytes),
            Self::Replace { from, to } => object(&[("replace", to), ("from", from)], None, bytes),
            Self::Append { path, at, text } => {
                object(&[("append", path), ("text", text)], Some(("at", *at)), bytes);
            }
            Self::Remove { path } => object(&[("remove", path)], None, bytes),
            Self::Folder { path } => object(&[("folder", path)], None, bytes),
        }
    }

    fn read(document: &Value) -> Option<Self> {
        let text = |name: &str| document.get(name)?.as_str().map(str::to_owned);
        if let Some(path) = text("put") {
            return Some(Self::Put { path, text: text("text")?, was: text("was") });
        }
        if let Some(from) = text("move") {
            return Some(Self::Move { from, to: text("to")? });
        }
        if let Some(to) = text("replace") {
            return Some(Self::Replace { from: text("from")?, to });
        }
        if let Some(path) = text("append") {
            let at = document.get("at")?.as_u64()?;
            return Some(Self::Append { path, at, text: text("text")? });
        }
        let removed = text("remove").map(|path| Self::Remove { path });
        removed.or_else(|| text("folder").map(|path| Self::Folder { path }))
    }
}
