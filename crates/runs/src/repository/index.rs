//! The index of a run's records, stored in a file.
//!
//! The file says how much of each record it covers, with digests of the first and last bytes of
//! that part. If they still match, only later lines are read; otherwise the records are read from
//! the start. So the file can be deleted at any time.

use accord_canon::sha256;
use accord_contract::{Object, Value};
use accord_runs_core::{RunId, RunIndex, build};

use accord_trees::record::RecordLines;
use accord_trees::{Disk, Result, TreeError, atomic, read_file};

use super::{RecordFile, layout, limits};

/// The version of the file; files of other versions are ignored.
const VERSION: u64 = 3;

/// How many bytes at both ends of the covered part are digested.
const EDGE: u64 = 4096;

/// How many new lines, or bytes of them, are read each time before the file is written again.
const STORE_AFTER: Fresh = Fresh { lines: 64, bytes: 256 * 1024 };

pub(super) struct Loaded {
    pub(super) index: RunIndex,
    history: Covered,
    ledger: Covered,
    fresh: Fresh,
}

/// How much was read that the file does not cover.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Fresh {
    lines: u64,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Covered {
    length: u64,
    lines: u64,
}

/// What the records say about a run.
pub(super) fn load(disk: &dyn Disk, run: Option<&RunId>) -> Result<Loaded> {
    stored(disk, run)?.unwrap_or_else(|| Loaded::empty(run)).read(disk)
}

/// The same, from the records alone.
pub(super) fn rebuild(disk: &dyn Disk, run: Option<&RunId>) -> Result<Loaded> {
    Loaded::empty(run).read(disk)
}

/// The line of the history at a position that the index names; `None` if no line begins there.
pub(super) fn history_line(disk: &dyn Disk, position: u64) -> Result<Option<Object>> {
    let path = RecordFile::History.path();
    let mut lines = RecordLines::open(disk, path.as_str(), position, 0)?;
    match lines.next() {
        Some(Ok(line)) => Ok(Some(line.object)),
        // The position is in the middle of a line.
        None | Some(Err(TreeError::Damaged { .. })) => Ok(None),
        Some(Err(error)) => Err(error),
    }
}

impl Loaded {
    fn empty(run: Option<&RunId>) -> Self {
        let covered = Covered::default();
        let fresh = Fresh::default();
        Self { index: RunIndex::new(run), history: covered, ledger: covered, fresh }
    }

    fn read(mut self, disk: &dyn Disk) -> Result<Self> {
        let Self { index, history, ledger, fresh } = &mut self;
        let before = [*history, *ledger];
        history.read(disk, RecordFile::History, |line, at| index.add_history(line, Some(at)))?;
        ledger.read(disk, RecordFile::Ledger, |line, _| index.add_ledger(line))?;
        for (now, before) in [*history, *ledger].into_iter().zip(before) {
            fresh.lines += now.lines - before.lines;
            fresh.bytes += now.length - before.length;
        }
        Ok(self)
    }

    /// Stores the index if enough of it is new, and returns whether it did. It can be rebuilt, so
    /// errors do not matter.
    pub(super) fn store(&self, disk: &dyn Disk) -> bool {
        // A few long lines cost as much to read as many short ones.
        if self.fresh.lines < STORE_AFTER.lines && self.fresh.bytes < STORE_AFTER.bytes {
            return false;
        }
        let Ok(document) = self.document(disk) else { return false };
        let text = Value::Object(document).to_string();
        atomic::write(disk, &layout::index(), text.as_bytes()).is_ok()
    }

    fn document(&self, disk: &dyn Disk) -> Result<Object> {
        let covered = |record: RecordFile, covered: Covered| -> Result<Value> {
            // A record that became shorter meanwhile gets digests that never match.
            let (head, tail) = edges(disk, record, covered.length)?.unwrap_or_default();
            let covered = [
                ("length", covered.length.into()),
                ("lines", covered.lines.into()),
                ("head", head.into()),
                ("tail", tail.into()),
            ];
            Ok(build(covered).into())
        };
        Ok(build([
            ("version", VERSION.into()),
            ("history", covered(RecordFile::History, self.history)?),
            ("ledger", covered(RecordFile::Ledger, self.ledger)?),
            ("index", self.index.document().into()),
        ]))
    }
}

impl Covered {
    /// Continues to read. Each line is given with its position.
    fn read(
        &mut self,
        disk: &dyn Disk,
        record: RecordFile,
        mut add: impl FnMut(&Object, u64),
    ) -> Result<()> {
        let path = record.path();
        for line in RecordLines::open(disk, path.as_str(), self.length, self.lines)? {
            let line = line?;
            add(&line.object, self.length);
            self.lines = line.number;
            // A torn line is not covered: it is read again once it is complete.
            self.length = line.end;
        }
        Ok(())
    }
}

fn stored(disk: &dyn Disk, run: Option<&RunId>) -> Result<Option<Loaded>> {
    let bytes = read_file(disk, &layout::index(), limits::DOCUMENT);
    let Ok(Some(bytes)) = bytes else { return Ok(None) };
    // Anything that is not our own format is rebuilt from the records.
    let Ok(document) = serde_json::from_slice::<Object>(&bytes) else { return Ok(None) };
    if document.get("version").and_then(Value::as_u64) != Some(VERSION) {
        return Ok(None);
    }
    let part = |name: &str| document.get(name).and_then(Value::as_object);
    let index = part("index").and_then(RunIndex::read);
    let is_own = |index: &RunIndex| index.run_id() == run.map(RunId::as_str);
    let Some(index) = index.filter(is_own) else { return Ok(None) };
    let matching = |record: RecordFile, stamp: Option<&Object>| -> Result<Option<Covered>> {
        let number = |name: &str| stamp.and_then(|stamp| stamp.get(name)?.as_u64());
        let text = |name: &str| stamp.and_then(|stamp| stamp.get(name)?.as_str());
        let Some((length, lines)) = number("length").zip(number("lines")) else { return Ok(None) };
        let edges = edges(disk, record, length)?;
        let same = edges
            .is_some_and(|(head, tail)| text("head") == Some(&head) && text("tail") == Some(&tail));
        Ok(same.then_some(Covered { length, lines }))
    };
    let history = matching(RecordFile::History, part("history"))?;
    let ledger = matching(RecordFile::Ledger, part("ledger"))?;
    let fresh = Fresh::default();
    Ok(history.zip(ledger).map(|(history, ledger)| Loaded { index, history, ledger, fresh }))
}

/// Digests of the first and last bytes of the covered part; `None` if the record is shorter.
fn edges(disk: &dyn Disk, record: RecordFile, length: u64) -> Result<Option<(String, String)>> {
    let content = disk.open(record.path().as_str())?;
    let present = content.as_ref().map_or(Ok(0), |content| content.length())?;
    if present < length {
        return Ok(None);
    }
    let Some(content) = content else { return Ok(Some((sha256(b"").hex(), sha256(b"").hex()))) };
    let edge = length.min(EDGE);
    let head = content.read_at(0, edge as usize)?;
    let tail = content.read_at(length - edge, edge as usize)?;
    Ok(Some((sha256(&head).hex(), sha256(&tail).hex())))
}
