//! The decisions of people about a tree: a record with one line per decision, oldest first.
//!
//! Anyone can write to the file. So each line has the digest of the line before it, and the
//! committed state has the digest of the last one. A line counts if it is reached from there.
//!
//! Invariants:
//! - a decision and its line are one commit;
//! - a line that Accord did not write, or wrote and that was changed, is never read as a decision;
//! - lines are never removed: unlike events, they stay as long as the tree.

use std::collections::HashMap;

use accord_base::decision::DecisionRecord;
use accord_canon::sha256;
use accord_contract::wire::DecodeError;
use accord_contract::{Object, Value, Wire as _};
use accord_trees::wal::Wal;
use accord_trees::{Disk, Result as TreeResult, read_file};
use serde_json::json;

use crate::committed::State;
use crate::layout::{DECISIONS, OWN};
use crate::scan::readable;
use crate::tree::failure;
use crate::{Result, Tree};

/// The largest record that is read. A decision has about one kilobyte.
const MAX_RECORD: u64 = 256 * 1024 * 1024;

/// Decisions, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionList {
    pub records: Vec<DecisionRecord>,
    /// The position after them: the digest of the last line. `None` before the first decision.
    pub position: Option<String>,
    /// Whether lines between them and the position before them are missing or were changed.
    pub is_broken: bool,
}

/// The decisions about a tree after a position. Reading takes no lock.
pub fn decisions_after(tree: &Tree, position: Option<&str>) -> Result<DecisionList> {
    let read = || {
        let wal: Wal<State> = Wal::new(tree.shared_disk(), OWN, "");
        let state = wal.peek()?.unwrap_or_default();
        read_after(tree.disk(), &state, position)
    };
    read().map_err(|error| failure(&error))
}

/// The line of a decision after another line, and its digest.
pub(crate) fn line(record: &DecisionRecord, previous: Option<&str>) -> (String, String) {
    let line = json!({"previous": previous, "decision": record.encode()}).to_string();
    let digest = sha256(line.as_bytes()).hex();
    (line + "\n", digest)
}

pub(crate) fn read_after(
    disk: &dyn Disk,
    state: &State,
    position: Option<&str>,
) -> TreeResult<DecisionList> {
    let last = state.last_decision().map(str::to_owned);
    let mut list = DecisionList { position: last.clone(), ..DecisionList::default() };
    if last.as_deref() == position {
        return Ok(list);
    }
    let bytes = readable(read_file(disk, DECISIONS, MAX_RECORD))?.unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| (sha256(line).hex(), line));
    let lines: HashMap<String, &[u8]> = lines.collect();
    let mut next = last;
    while let Some(digest) = next.filter(|digest| Some(digest.as_str()) != position) {
        let read = lines.get(&digest).and_then(|line| read_line(line).ok());
        let Some((previous, record)) = read else {
            list.is_broken = true;
            break;
        };
        list.records.push(record);
        next = previous;
    }
    list.records.reverse();
    Ok(list)
}

fn read_line(line: &[u8]) -> Result<(Option<String>, DecisionRecord), DecodeError> {
    let mut line: Object = serde_json::from_slice(line).unwrap_or_default();
    let record = DecisionRecord::from_document(line.remove("decision").unwrap_or(Value::Null))?;
    Ok((line.get("previous").and_then(Value::as_str).map(str::to_owned), record))
}
