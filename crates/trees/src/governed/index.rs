//! The index of a run's records, kept in a file.
//!
//! The file says how much of the records it covers, and what that begins and ends with. Where
//! that still fits, only what came behind it is read; where it does not, or the file says
//! anything odd, everything is read again. So the file can be deleted at any time.

use accord_canon::sha256;
use accord_contract::wire::{Object, Value};
use accord_runs_core::RunId;
use accord_runs_core::history::RunIndex;

use super::{RecordFile, files};
use crate::disk::{self, Disk};
use crate::{Lines, Result, atomic, limits};

/// The form of the file; another is read again from the records.
const VERSION: u64 = 2;

/// How many bytes of the beginning and the end of a record tell it from another.
const EDGE: u64 = 4096;

/// As many new lines are read each time before the file is written again.
const KEEP_AFTER: u64 = 64;

/// An index, and what it covers.
pub(super) struct Loaded {
    pub(super) index: RunIndex,
    history: Covered,
    ledger: Covered,
    /// How many lines were read that the file does not have.
    fresh: u64,
}

/// How far a record was read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Covered {
    length: u64,
    lines: u64,
}

/// What the records say about a run.
pub(super) fn load(disk: &dyn Disk, run: Option<&RunId>) -> Result<Loaded> {
    let mut loaded = kept(disk, run)?.unwrap_or_else(|| Loaded {
        index: RunIndex::new(run),
        history: Covered::default(),
        ledger: Covered::default(),
        fresh: 0,
    });
    let index = &mut loaded.index;
    let history = loaded.history.read(disk, RecordFile::History, |line| {
        index.add_history(line);
    })?;
    let ledger = loaded.ledger.read(disk, RecordFile::Ledger, |line| {
        index.add_ledger(line);
    })?;
    loaded.fresh = history + ledger;
    Ok(loaded)
}

impl Loaded {
    /// Keeps the index where enough is new in it. It can be made again, so it is no matter if it
    /// cannot be written.
    pub(super) fn keep(&self, disk: &dyn Disk) {
        if self.fresh < KEEP_AFTER {
            return;
        }
        if let Ok(document) = self.document(disk) {
            let text = Value::Object(document).to_string();
            drop(atomic::write(disk, &files::index(), text.as_bytes()));
        }
    }

    fn document(&self, disk: &dyn Disk) -> Result<Object> {
        let covered = |record: RecordFile, covered: Covered| -> Result<Value> {
            let (head, tail) = edges(disk, record, covered.length)?.unwrap_or_default();
            let members = [
                ("length", Value::from(covered.length)),
                ("lines", covered.lines.into()),
                ("head", head.into()),
                ("tail", tail.into()),
            ];
            Ok(object(members).into())
        };
        Ok(object([
            ("version", VERSION.into()),
            ("history", covered(RecordFile::History, self.history)?),
            ("ledger", covered(RecordFile::Ledger, self.ledger)?),
            ("index", self.index.document().into()),
        ]))
    }
}

impl Covered {
    /// Reads on from here; how many lines there were.
    fn read(
        &mut self,
        disk: &dyn Disk,
        record: RecordFile,
        mut add: impl FnMut(&Object),
    ) -> Result<u64> {
        let before = self.lines;
        let path = record.path();
        for line in Lines::open(disk, path.as_str(), self.length, self.lines)? {
            let line = line?;
            add(&line.object);
            self.lines = line.number;
            self.length = line.end;
        }
        Ok(self.lines - before)
    }
}

/// The index that is kept, where it still fits.
fn kept(disk: &dyn Disk, run: Option<&RunId>) -> Result<Option<Loaded>> {
    let bytes = disk::read(disk, &files::index(), limits::DOCUMENT);
    let Ok(Some(bytes)) = bytes else {
        return Ok(None);
    };
    // Our own file, in our own form; anything else is read again from the records.
    let Ok(document) = serde_json::from_slice::<Object>(&bytes) else {
        return Ok(None);
    };
    if document.get("version").and_then(Value::as_u64) != Some(VERSION) {
        return Ok(None);
    }
    let part = |name: &str| document.get(name).and_then(Value::as_object);
    let index = part("index").and_then(RunIndex::read);
    let Some(index) = index.filter(|index| index.run_id() == run.map(RunId::as_str)) else {
        return Ok(None);
    };
    let fits = |record: RecordFile, stamp: Option<&Object>| -> Result<Option<Covered>> {
        let number = |name: &str| stamp.and_then(|stamp| stamp.get(name)?.as_u64());
        let text = |name: &str| stamp.and_then(|stamp| stamp.get(name)?.as_str());
        let Some((length, lines)) = number("length").zip(number("lines")) else {
            return Ok(None);
        };
        let same = edges(disk, record, length)?
            .is_some_and(|(head, tail)| text("head") == Some(&head) && text("tail") == Some(&tail));
        Ok(same.then_some(Covered { length, lines }))
    };
    let history = fits(RecordFile::History, part("history"))?;
    let ledger = fits(RecordFile::Ledger, part("ledger"))?;
    Ok(history.zip(ledger).map(|(history, ledger)| Loaded {
        index,
        history,
        ledger,
        fresh: 0,
    }))
}

/// Digests of how the covered part of a record begins and ends; `None` where it is shorter.
fn edges(disk: &dyn Disk, record: RecordFile, length: u64) -> Result<Option<(String, String)>> {
    let content = disk.open(record.path().as_str())?;
    let there = content.as_ref().map_or(Ok(0), |content| content.length())?;
    if there < length {
        return Ok(None);
    }
    let Some(content) = content else {
        return Ok(Some((sha256(b"").hex(), sha256(b"").hex())));
    };
    let edge = length.min(EDGE);
    let head = content.read_at(0, edge as usize)?;
    let tail = content.read_at(length - edge, edge as usize)?;
    Ok(Some((sha256(&head).hex(), sha256(&tail).hex())))
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Object {
    let members = members.into_iter();
    members
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
