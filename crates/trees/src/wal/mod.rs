//! A write-ahead log: many small commits to a tree, with one sync for a whole group of them.
//!
//! A [`journal`](crate::journal) is a file per commit, and every file of the commit is synced
//! before the next one. That is right for a few commits an hour. A log is one file that grows: the
//! records of a group are appended and synced together, the files follow without syncs, and one
//! sync of the tree makes the log empty again.
//!
//! Invariants:
//! - a commit has happened once its record is synced;
//! - a process applies its records after the sync, and the last group of others when it takes the
//!   lock, unless they did. So the files follow every group before the next one is written, and a
//!   group that they followed is not applied again: others may have undone it since;
//! - a process gets the lock only a few times in a row while another one waits for it;
//! - a file that was changed by others after a record is not overwritten. After a restart of the
//!   machine a file may be older than the log, or damaged: then it is;
//! - so is a file that a failure of the file system left empty or cut off while the machine ran on,
//!   when a process reads the log for the first time: if it was not written after it followed the
//!   log (the log says when that was);
//! - the log is emptied only after everything that it says is synced. A process that writes much
//!   to it syncs the tree before, too, so that this takes less time;
//! - the [committed state](Committed) is what the head of the log and its records add up to. It
//!   outlives the records: an emptied log begins with it.

mod early;
mod net_effect;
mod overlay;
mod record;
mod repair;
mod state;
pub(crate) mod worker_pool;

use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_contract::{Object, Value};
use serde_json::json;

use crate::disk::{Disk, Entry};
use crate::lock::now_ms;
use crate::{Kind, Result, TreeError, atomic, limits};
use early::EarlySync;
use net_effect::{Net, Trust, apply_shared};
use overlay::Overlay;
use record::{Added, decode, decode_records, encode, encode_group, followed};

pub use net_effect::Skipped;
pub use record::{ANYTHING, Op, Record, digest};
pub use state::Committed;

/// A log is emptied when its records are longer than this.
const FULL: u64 = 4 * 1024 * 1024;

/// A log is not emptied before its records are this many times as long as its head, so that a
/// large committed state is written rarely.
const PER_HEAD: u64 = 4;

/// The most memory of a group that is kept for the next one.
const LARGEST_BUFFER: usize = 1024 * 1024;

/// How long it takes the files to follow a group, at the most. The log was written before.
const FOLLOWING_MS: i64 = 30_000;

/// How often a process may take the lock while another one waits for it.
const IN_A_ROW: u32 = 8;

pub struct Wal<S = ()> {
    disk: Arc<dyn Disk>,
    folder: String,
    /// Which start of the machine this is.
    boot: String,
    seen: Option<Position>,
    /// When the log was written last, as far as this process knows.
    written_ms: Option<i64>,
    state: S,
    head: u64,
    /// How often this process took the lock without waiting for its turn.
    in_a_row: u32,
    /// How long the last sync of a group took.
    sync_time: Duration,
    /// The memory of the last group, for the next one.
    buffer: Vec<u8>,
    early: EarlySync,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Position {
    /// Logs are numbered. An emptied log gets the next number.
    number: u64,
    /// The bytes up to the position.
    offset: u64,
}

/// A log whose lock this process holds until this value is dropped.
pub struct LockedWal<'w, S = ()> {
    wal: &'w mut Wal<S>,
    news: News,
    at: Position,
    staged: Vec<Record>,
    _folders: Box<dyn Send>,
    _guard: Box<dyn Send>,
}

/// What happened to the tree since this process held the lock the last time.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// These commits of other processes, which are applied.
    Records(Vec<Record>),
    /// Anything: the tree must be read again. Pending commits are applied.
    Unknown,
}

/// A tree as it is once the files follow everything that is committed.
pub struct Preview<S> {
    pub state: S,
    /// The files. Changes of them stay in memory.
    pub disk: Arc<dyn Disk>,
}

impl<S: Committed> Wal<S> {
    /// The log in a folder of a tree. `boot` names the start of the machine.
    pub fn new(disk: Arc<dyn Disk>, folder: &str, boot: &str) -> Self {
        Self {
            disk,
            folder: folder.to_owned(),
            boot: boot.to_owned(),
            seen: None,
            written_ms: None,
            state: S::default(),
            head: 0,
            in_a_row: 0,
            sync_time: Duration::ZERO,
            buffer: Vec::new(),
            early: EarlySync::default(),
        }
    }

    /// How long the last sync of a group took. To wait a part of it for more commits saves syncs.
    pub fn sync_time(&self) -> Duration {
        self.sync_time
    }

    /// The committed state, without the lock and without changing anything: a commit that happens
    /// at the same time may be missing. `None` if there is no log.
    pub fn peek(&self) -> Result<Option<S>> {
        Ok(self.look()?.map(|(state, ..)| state))
    }

    /// The records of the log since it was emptied last, without the lock.
    pub fn records(&self) -> Result<Vec<Record>> {
        Ok(self.look()?.map(|(.., added)| added.records).unwrap_or_default())
    }

    /// The committed state, and the files with what they do not have of it yet, for example
    /// because the disk is full. As [`Wal::peek`], it takes no lock and changes nothing.
    pub fn preview(&self) -> Result<Option<Preview<S>>> {
        let Some((state, header, added)) = self.look()? else { return Ok(None) };
        let (pending, trust) = match self.is_same_boot(&header) {
            true => (added.unsettled(), Trust::Files),
            false => (&*added.records, Trust::Log),
        };
        let mut disk = self.disk.clone();
        if !pending.is_empty() {
            disk = Arc::new(Overlay::new(disk));
            apply_shared(&Arc::from(pending), &disk, &self.temporary(), trust)?;
        }
        Ok(Some(Preview { state, disk }))
    }

    /// The committed state, with the head and the records that it comes from.
    fn look(&self) -> Result<Option<(S, Object, Added)>> {
        let Some(number) = self.newest()? else { return Ok(None) };
        let path = self.path(number);
        let read = self.read(&path, 0)?;
        let log = decode(&path, &read.bytes)?;
        let Some(header) = log.header else { return Ok(None) };
        log.added.check(&path, log.end)?;
        let mut state = S::load(header.get("state").and_then(Value::as_object));
        log.added.records.iter().for_each(|record| state.apply(record));
        Ok(Some((state, header, log.added)))
    }

    /// Whether a log was begun since the machine was started.
    fn is_same_boot(&self, header: &Object) -> bool {
        header.get("boot").and_then(Value::as_str) == Some(self.boot.as_str())
    }

    /// Waits for the lock, and applies what other processes committed. A failure loses nothing.
    pub fn lock(&mut self) -> Result<LockedWal<'_, S>> {
        let guard = match self.take_turn() {
            Err(error) if error.is_absent() => {
                atomic::make_folders(self.disk.as_ref(), &self.folder)?;
                self.take_turn()?
            }
            guard => guard?,
        };
        let folders = self.disk.keep_folders();
        let (news, at) = match self.unchanged()? {
            Some(seen) => (News::Records(Vec::new()), seen),
            None => {
                let (news, at) = self.catch_up()?;
                self.seen = Some(at);
                self.written_ms = self.modified(at.number)?;
                (news, at)
            }
        };
        let staged = Vec::new();
        Ok(LockedWal { wal: self, news, at, staged, _folders: folders, _guard: guard })
    }

    /// Takes the lock file. The process that waits for it next holds the gate, so that the last
    /// holder cannot take it again and again while others wait. It may a few times: if every
    /// commit were a change of processes, most of the time would go into waking them.
    fn take_turn(&mut self) -> Result<Box<dyn Send>> {
        let lock = format!("{}/lock", self.folder);
        if self.in_a_row < IN_A_ROW
            && let Some(guard) = self.disk.try_guard(&lock)?
        {
            self.in_a_row += 1;
            return Ok(guard);
        }
        self.in_a_row = 0;
        let _gate = self.disk.guard(&format!("{}/lock-gate", self.folder))?;
        self.disk.guard(&lock)
    }

    /// The end of the log, if no one wrote to it since this process did.
    fn unchanged(&self) -> Result<Option<Position>> {
        let Some(seen) = self.seen else { return Ok(None) };
        let found = self.disk.stat(&self.path(seen.number))?;
        let is_same = found.is_some_and(|found| {
            found.kind == Kind::File
                && found.length == seen.offset
                && Some(found.modified_ms) == self.written_ms
        });
        // A log is removed only after the next one has begun.
        let is_last = is_same && self.disk.stat(&self.path(seen.number + 1))?.is_none();
        Ok(is_last.then_some(seen))
    }

    fn apply(&self, records: &Arc<[Record]>, trust: Trust) -> Result<Vec<Skipped>> {
        apply_shared(records, &self.disk, &self.temporary(), trust)
    }

    /// Mends files that a failure of the file system cut off, after so many records at these times.
    fn repair(&self, records: &[Record], followed: &[(usize, i64)]) -> Result<()> {
        let net = Net::of_followed(records, followed);
        repair::repair(&net, self.disk.as_ref(), &self.temporary())
    }

    fn temporary(&self) -> String {
        format!("{}/next", self.folder)
    }

    fn path(&self, number: u64) -> String {
        format!("{}/log-{number:012}", self.folder)
    }

    fn newest(&self) -> Result<Option<u64>> {
        if let Some(Position { number, .. }) = self.seen {
            // A log is removed only after the next one has begun.
            let is_there = |number| -> Result<bool> {
                let found = self.disk.stat(&self.path(number))?;
                Ok(found.is_some_and(|found| found.kind == Kind::File))
            };
            if is_there(number)? && !is_there(number + 1)? {
                return Ok(Some(number));
            }
        }
        let entries = self.disk.list(&self.folder)?.unwrap_or_default();
        let mut numbers: Vec<u64> = entries.iter().filter_map(number_of).collect();
        numbers.sort_unstable();
        // A log is begun as a whole. One of several without a header is not Accord's.
        while numbers.len() > 1 && !self.has_header(numbers[numbers.len() - 1])? {
            numbers.pop();
        }
        Ok(numbers.pop())
    }

    fn has_header(&self, number: u64) -> Result<bool> {
        let path = self.path(number);
        match self.read(&path, 0) {
            Ok(read) => Ok(decode(&path, &read.bytes)?.header.is_some()),
            Err(error) if error.is_unreadable() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A log from an offset on. Of a log that others made larger than any, the beginning is read.
    fn read(&self, path: &str, from: u64) -> Result<ReadLog> {
        let Some(content) = self.disk.open(path)? else { return Ok(ReadLog::default()) };
        let length = content.length()?;
        let wanted = length.saturating_sub(from).min(limits::DOCUMENT);
        let bytes = content.read_at(from, usize::try_from(wanted).unwrap_or(usize::MAX))?;
        let rest = length.saturating_sub(from + bytes.len() as u64);
        Ok(ReadLog { bytes, rest, length })
    }

    /// Cuts off what is not whole: a group that was not synced, whose callers got no answer, or
    /// what is not Accord's. `used` are the bytes of whole records. Fails if a record may continue
    /// behind what was read.
    fn cut(&self, path: &str, from: u64, read: &ReadLog, used: u64) -> Result<()> {
        let left = &read.bytes[usize::try_from(used).unwrap_or(read.bytes.len())..];
        if left.is_empty() && read.rest == 0 {
            return Ok(());
        }
        if read.rest > 0 && (left.len() as u64) < limits::LINE && !left.contains(&b'\n') {
            return Err(TreeError::TooLarge { path: path.to_owned(), limit: limits::DOCUMENT });
        }
        self.disk.truncate(path, from + used)
    }

    fn catch_up(&mut self) -> Result<(News, Position)> {
        let last = self.seen.map_or(0, |seen| seen.number);
        let Some(number) = self.newest()?.filter(|number| *number >= last) else {
            // There was none, or others removed it. This process still has its state.
            return Ok((News::Unknown, self.begin(last + 1, None)?));
        };
        if let Some(seen) = self.seen.filter(|seen| seen.number == number) {
            return self.follow(seen);
        }
        let path = self.path(number);
        let written_ms = self.modified(number)?.unwrap_or(0);
        let read = self.read(&path, 0)?;
        let log = decode(&path, &read.bytes)?;
        let Some(header) = log.header else {
            // The machine went down while the log was begun: everything before it is synced.
            return Ok((News::Unknown, self.begin(number + 1, None)?));
        };
        let end = Position { number, offset: log.end };
        log.added.check(&path, log.end)?;
        self.cut(&path, 0, &read, log.end)?;
        let Added { records, settled, followed, .. } = log.added;
        self.state = S::load(header.get("state").and_then(Value::as_object));
        records.iter().for_each(|record| self.state.apply(record));
        self.head = log.head;
        if !self.is_same_boot(&header) {
            self.apply(&Arc::from(records), Trust::Log)?;
            return Ok((News::Unknown, self.begin(number + 1, Some(end))?));
        }
        let is_first = self.seen.is_none();
        if is_first {
            self.repair(&records[..settled], &followed)?;
        }
        let pending: Arc<[Record]> = Arc::from(&records[settled..]);
        self.apply(&pending, Trust::Files)?;
        if is_first && !pending.is_empty() {
            // The line that says when the files followed the last group may be lost, too. All
            // records: files of earlier groups may have moved with their folders.
            let last = (records.len(), written_ms.saturating_add(FOLLOWING_MS));
            self.repair(&records, &[followed, vec![last]].concat())?;
        }
        // This process may have seen all of the log before.
        let after = self.seen.map(position);
        let has_seen = after.is_some() && header.get("after") == after.as_ref();
        let news = if has_seen { News::Records(records) } else { News::Unknown };
        Ok((news, end))
    }

    fn follow(&mut self, seen: Position) -> Result<(News, Position)> {
        let path = self.path(seen.number);
        let read = self.read(&path, seen.offset)?;
        if read.length < seen.offset {
            // Others removed or cut it. This process still has its state.
            return Ok((News::Unknown, self.begin(seen.number + 1, None)?));
        }
        // No process appended to it, and yet it was written.
        if read.length == seen.offset
            && self.written_ms != self.modified(seen.number)?
            && !self.is_whole(seen)?
        {
            return Ok((News::Unknown, self.begin(seen.number + 1, None)?));
        }
        let added = decode_records(&path, &read.bytes)?;
        let end = Position { offset: seen.offset + added.length, ..seen };
        added.check(&path, end.offset)?;
        self.cut(&path, seen.offset, &read, added.length)?;
        self.apply(&Arc::from(added.unsettled()), Trust::Files)?;
        added.records.iter().for_each(|record| self.state.apply(record));
        Ok((News::Records(added.records), end))
    }

    /// Whether the log up to a position is what was written.
    fn is_whole(&self, at: Position) -> Result<bool> {
        let path = self.path(at.number);
        let read = self.read(&path, 0)?;
        Ok(decode(&path, &read.bytes).is_ok_and(|log| log.end == at.offset))
    }

    fn modified(&self, number: u64) -> Result<Option<i64>> {
        Ok(self.disk.stat(&self.path(number))?.map(|stat| stat.modified_ms))
    }

    /// Begins a log. Everything that earlier logs say is synced first.
    fn begin(&mut self, number: u64, after: Option<Position>) -> Result<Position> {
        self.early.end()?;
        let disk = self.disk.as_ref();
        disk.sync_tree()?;
        let mut header = Object::new();
        header.insert("log".into(), number.into());
        header.insert("boot".into(), self.boot.as_str().into());
        header.insert("after".into(), after.map_or(Value::Null, position));
        header.insert("state".into(), Value::Object(self.state.save()));
        let bytes = encode(&Value::Object(header));
        // No log has this number. Something else may have its name.
        disk.remove_tree(&self.path(number))?;
        atomic::write(disk, &self.path(number), &bytes)?;
        for entry in disk.list(&self.folder)?.unwrap_or_default() {
            // A process that was killed may have left a temporary file.
            let is_left = atomic::is_temporary(&entry.name);
            if is_left || number_of(&entry).is_some_and(|other| other != number) {
                disk.remove_tree(&format!("{}/{}", self.folder, entry.name))?;
            }
        }
        self.head = bytes.len() as u64;
        Ok(Position { number, offset: self.head })
    }
}

#[derive(Default)]
struct ReadLog {
    bytes: Vec<u8>,
    /// How many bytes follow that were not read.
    rest: u64,
    length: u64,
}

/// The largest number of a log. Counting does not reach it.
const MAX_NUMBER: u64 = 1 << 60;

fn number_of(entry: &Entry) -> Option<u64> {
    let number = entry.name.strip_prefix("log-")?.parse().ok()?;
    (number < MAX_NUMBER && entry.kind == Kind::File).then_some(number)
}

fn position(at: Position) -> Value {
    json!([at.number, at.offset])
}

impl<S: Committed> LockedWal<'_, S> {
    pub fn news(&self) -> &News {
        &self.news
    }

    /// The committed state. Staged records are not in it yet.
    pub fn state(&self) -> &S {
        &self.wal.state
    }

    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.wal.disk
    }

    /// Adds a commit to the group. It has not happened before [`LockedWal::commit`].
    pub fn stage(&mut self, record: Record) {
        self.staged.push(record);
    }

    /// Commits the group: one write and one sync, however many records it has. Then the files
    /// follow. Answers which files were left alone, because others changed them. After
    /// [`TreeError::Unfinished`] the commits have happened, and the next holder of the lock
    /// continues; after [`TreeError::Uncertain`] they may have; otherwise nothing was committed.
    pub fn commit(&mut self) -> Result<Vec<Skipped>> {
        if self.staged.is_empty() {
            return Ok(Vec::new());
        }
        let staged: Arc<[Record]> = std::mem::take(&mut self.staged).into();
        let disk = self.wal.disk.as_ref();
        let mut bytes = std::mem::take(&mut self.wal.buffer);
        bytes.clear();
        encode_group(&staged, disk.lanes(), &mut bytes);
        let path = self.wal.path(self.at.number);
        let written = disk.append(&path, &bytes).and_then(|()| {
            let began = Instant::now();
            let synced = disk.sync(&path);
            self.wal.sync_time = began.elapsed();
            synced
        });
        if let Err(error) = written {
            // Half a group must not come before the next one.
            return match disk.truncate(&path, self.at.offset).and_then(|()| disk.sync(&path)) {
                Ok(()) => Err(error),
                Err(_) => Err(TreeError::uncertain(&path, error)),
            };
        }
        let applied = self.wal.apply(&staged, Trust::Files);
        let length = bytes.len() as u64;
        self.at.offset += length;
        if bytes.capacity() <= LARGEST_BUFFER {
            self.wal.buffer = bytes;
        }
        let mut is_marked = false;
        // A record that could not be applied is applied by the next holder, also by this process.
        if applied.is_ok() {
            let mark = followed(now_ms());
            // Not synced: after a restart everything is applied again.
            is_marked = disk.append(&path, &mark).is_ok();
            if is_marked {
                self.at.offset += mark.len() as u64;
            }
            self.wal.seen = Some(self.at);
            staged.iter().for_each(|record| self.wal.state.apply(record));
        }
        let skipped = applied.map_err(|error| TreeError::unfinished(&path, error))?;
        let stat = self.wal.disk.stat(&path).ok().flatten();
        self.wal.written_ms = stat.map(|stat| stat.modified_ms);
        if is_marked && stat.is_none_or(|stat| stat.length != self.at.offset) {
            // Others wrote to the log at the same time, so that a reader would not find the group.
            self.checkpoint().map_err(|error| TreeError::unfinished(&path, error))?;
            return Ok(skipped);
        }
        let records = self.at.offset.saturating_sub(self.wal.head);
        let full = FULL.max(self.wal.head.saturating_mul(PER_HEAD));
        if records > full {
            // The group has happened. The log is emptied later, for example if the disk is full.
            drop(self.checkpoint());
        } else {
            self.wal.early.note(length, full, &self.wal.disk);
        }
        Ok(skipped)
    }

    /// Syncs the tree and empties the log. If it fails, the log stays.
    pub fn checkpoint(&mut self) -> Result<()> {
        self.at = self.wal.begin(self.at.number + 1, Some(self.at))?;
        self.wal.seen = Some(self.at);
        self.wal.written_ms = self.wal.modified(self.at.number)?;
        Ok(())
    }
}
