//! The records of a log: one line each, with a checksum.

use accord_canon::sha256;
use accord_contract::wire::{Object, Value};
use serde_json::json;

use crate::{Result, TreeError};

/// The digits of a checksum.
const SUM: usize = 16;

/// A commit in a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What it does to the files, in order.
    pub ops: Vec<Op>,
    /// What the protocol says about it.
    pub detail: Object,
}

/// One change of a commit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Op {
    /// Gives a file a content. Missing folders are made.
    Put {
        /// The file.
        path: String,
        /// Its content.
        text: String,
        /// The [`digest`] of the content that it had; `None` if it did not exist.
        was: Option<String>,
    },
    /// Moves a file or a folder.
    Move {
        /// Where it was.
        from: String,
        /// Where it is now.
        to: String,
    },
    /// Appends to a file.
    Append {
        /// The file.
        path: String,
        /// Its length before.
        at: u64,
        /// The text.
        text: String,
    },
    /// Removes a file, or a folder with everything in it.
    Remove {
        /// The path.
        path: String,
    },
    /// Makes a folder.
    Folder {
        /// The path.
        path: String,
    },
}

/// A log that was read, up to the first line that is not whole.
pub(super) struct Log {
    pub(super) header: Option<Object>,
    /// The length of the line with the header.
    pub(super) head: u64,
    pub(super) records: Vec<Record>,
    pub(super) end: u64,
}

/// The digest of a content: 16 hexadecimal digits of its SHA-256.
pub fn digest(bytes: &[u8]) -> String {
    let mut digits = sha256(bytes).hex();
    digits.truncate(SUM);
    digits
}

pub(super) fn encode(document: &Value) -> Vec<u8> {
    let text = document.to_string();
    format!("{} {text}\n", digest(text.as_bytes())).into_bytes()
}

/// Reads a log. A line without its checksum ends it: such a line was not synced.
///
/// # Errors
/// When a line has its checksum and is not a record, so that another version wrote it.
pub(super) fn decode(path: &str, bytes: &[u8]) -> Result<Log> {
    let first = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(header) = checked(first) else {
        return Ok(Log { header: None, head: 0, records: Vec::new(), end: 0 });
    };
    let (records, read) = decode_records(path, &bytes[first.len()..])?;
    let head = first.len() as u64;
    Ok(Log { header: Some(header), head, records, end: head + read })
}

/// Reads records, and says how many bytes they have.
pub(super) fn decode_records(path: &str, bytes: &[u8]) -> Result<(Vec<Record>, u64)> {
    let mut records = Vec::new();
    let mut end = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(document) = checked(line) else { break };
        let refused = || TreeError::damaged(path, "a record of the log is of another version");
        records.push(Record::read(document).ok_or_else(refused)?);
        end += line.len() as u64;
    }
    Ok((records, end))
}

fn checked(line: &[u8]) -> Option<Object> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = line.split_once(' ')?;
    if digest(text.as_bytes()) != sum {
        return None;
    }
    serde_json::from_str(text).ok()
}

impl Record {
    pub(super) fn document(&self) -> Value {
        let ops: Vec<Value> = self.ops.iter().map(Op::document).collect();
        json!({"ops": ops, "detail": self.detail})
    }

    fn read(mut document: Object) -> Option<Self> {
        let Some(Value::Object(detail)) = document.remove("detail") else { return None };
        let ops = document.get("ops")?.as_array()?.iter();
        Some(Self { ops: ops.map(Op::read).collect::<Option<_>>()?, detail })
    }
}

impl Op {
    fn document(&self) -> Value {
        match self {
            Self::Put { path, text, was } => json!({"put": path, "text": text, "was": was}),
            Self::Move { from, to } => json!({"move": from, "to": to}),
            Self::Append { path, at, text } => json!({"append": path, "at": at, "text": text}),
            Self::Remove { path } => json!({"remove": path}),
            Self::Folder { path } => json!({"folder": path}),
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
        if let Some(path) = text("append") {
            let at = document.get("at")?.as_u64()?;
            return Some(Self::Append { path, at, text: text("text")? });
        }
        let removed = text("remove").map(|path| Self::Remove { path });
        removed.or_else(|| text("folder").map(|path| Self::Folder { path }))
    }
}
