//! Reading the events of a tree by their numbers. Each copy of a tree is a writer, which numbers
//! its events without a gap. They are in one log per day, by the time of the event: when the clock
//! was set back, the next event can be in an older log. Lines of other programs have other numbers
//! and are skipped. Reading takes no lock.
//!
//! A [source](sources) of events is one writer. A copy that got another id has several, whose
//! numbers go on: [`events_after`] reads them as one.

use accord_contract::{Code, Failure, Object, Time, Value};
use accord_tasks_core::event::number;
use accord_trees::wal::Wal;
use accord_trees::{Disk, Kind, TreeError, atomic, read_file, record};
use serde_json::json;

use crate::committed::State;
use crate::layout::{OLD_SOURCE, OWN, WRITER};
use crate::scan::readable;
use crate::tree::failure;
use crate::writers::{Writers, day_of, writer_of};
use crate::{Result, Tree};

/// How much of a log is read at once.
const CHUNK: usize = 256 * 1024;
/// The longest line. A longer one is not an event.
const MAX_LINE: usize = 32 * 1024 * 1024;
/// How much of lines that are too long is passed over at once.
const MAX_SKIPPED: usize = 2 * MAX_LINE;
/// How many lines at the end of a log are looked at: other programs may have written some.
const LAST_LINES: usize = 8;
/// The largest file with the ids of writers.
const MAX_SOURCE: u64 = 64 * 1024;
/// The source of events that earlier versions wrote in another copy of the tree.
const OLD_LOGS: &str = "tree";

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct EventPlace {
    /// The number of the last event before it.
    pub number: u64,
    /// The log in which that event is, and where it ends: where the next one is looked for first.
    pub log: Option<(String, u64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EventLine {
    pub number: u64,
    pub kind: String,
    pub at: Time,
    pub object: Object,
    pub after: EventPlace,
}

impl EventPlace {
    pub fn document(&self) -> Value {
        match &self.log {
            Some((log, end)) => json!({"number": self.number, "log": log, "end": end}),
            None => json!({"number": self.number}),
        }
    }

    pub fn read(document: &Value) -> Option<Self> {
        let number = document.get("number")?.as_u64()?;
        let log = document.get("log").and_then(Value::as_str);
        let end = document.get("end").and_then(Value::as_u64);
        Some(Self { number, log: log.map(str::to_owned).zip(end) })
    }
}

/// The sources of the events of a tree: the writers of this copy, and those whose logs came with
/// the files, for example through git.
pub fn sources(tree: &Tree) -> Result<Vec<String>> {
    let known = writers(tree.disk()).map_err(|error| failure(&error))?;
    let all = all_logs(tree.disk()).map_err(|error| failure(&error))?;
    let mut ids = known.as_ref().map(|known| known.ids.clone()).unwrap_or_default();
    if known.is_none() {
        // An earlier version wrote last.
        ids.push(old_source(tree)?);
    }
    let has_old_logs = known.is_none_or(|known| known.has_old_logs);
    for log in all {
        match writer_of(&log) {
            Some(writer) if !ids.iter().any(|id| id == writer) => ids.push(writer.to_owned()),
            None if !has_old_logs && !ids.iter().any(|id| id == OLD_LOGS) => {
                ids.push(OLD_LOGS.to_owned());
            }
            _ => {}
        }
    }
    Ok(ids)
}

/// The sources of the events of this copy of the tree alone.
pub fn own_sources(tree: &Tree) -> Result<Vec<String>> {
    let known = writers(tree.disk()).map_err(|error| failure(&error))?;
    Ok(known.map(|known| known.ids).unwrap_or_default())
}

/// The writers of this copy, as a reader without a lock knows them.
pub(crate) fn writers(disk: &dyn Disk) -> accord_trees::Result<Option<Writers>> {
    let bytes = readable(read_file(disk, WRITER, MAX_SOURCE))?;
    Ok(bytes.and_then(|bytes| Writers::read(&String::from_utf8_lossy(&bytes))))
}

/// The id that earlier versions gave the tree. It is made once, and becomes that of the writer.
fn old_source(tree: &Tree) -> Result<String> {
    let path = OLD_SOURCE;
    let disk = tree.disk();
    let read = || -> accord_trees::Result<Option<String>> {
        let bytes = read_file(disk, path, MAX_SOURCE)?;
        let document = bytes.and_then(|bytes| accord_canon::read(&bytes).ok());
        Ok(document.and_then(|document| document.get("id")?.as_str().map(str::to_owned)))
    };
    let made = || {
        let random = tree.environment().random_number();
        let id = format!("tree_{}{random:08x}", tree.environment().now().unix_millis());
        let document = json!({"id": id}).to_string();
        atomic::make_folders(disk, OWN)?;
        // Another process may be faster: then its id counts.
        atomic::create(disk, path, document.as_bytes())?;
        read()
    };
    let found = read().and_then(|found| if found.is_some() { Ok(found) } else { made() });
    let found = found.map_err(|error| failure(&error))?;
    found.ok_or_else(|| {
        let message = format!("{path} does not name the tree; remove the file");
        Failure::new(Code::AofTaskTreeUnavailable, message)
    })
}

/// At most `limit` events of this copy after a place, and the place after them.
pub fn events_after(
    tree: &Tree,
    place: EventPlace,
    limit: usize,
) -> Result<(Vec<EventLine>, EventPlace)> {
    let read = || {
        let logs = logs(tree.disk())?;
        let last = || {
            let wal: Wal<State> = Wal::new(tree.shared_disk(), OWN, "");
            Ok(wal.peek()?.unwrap_or_default().last_event().unwrap_or(0))
        };
        Logs { disk: tree.disk(), names: logs }.after(&place, limit, last)
    };
    read().map_err(|error: TreeError| failure(&error))
}

/// At most `limit` events of one source after a place, and the place after them.
pub fn events_of(
    tree: &Tree,
    source: &str,
    place: EventPlace,
    limit: usize,
) -> Result<(Vec<EventLine>, EventPlace)> {
    let disk = tree.disk();
    let read = || {
        let known = writers(disk)?;
        let is_first = match &known {
            Some(known) => known.has_old_logs && known.ids.first().is_some_and(|id| id == source),
            None => true,
        };
        let is_of = |log: &String| match writer_of(log) {
            Some(writer) => writer == source,
            None => is_first || source == OLD_LOGS,
        };
        let mut names: Vec<String> = all_logs(disk)?.into_iter().filter(is_of).collect();
        names.sort_by_key(|log| (day_of(log).to_owned(), writer_of(log).is_some()));
        let logs = Logs { disk, names };
        let last = || logs.last_number();
        logs.after(&place, limit, last)
    };
    read().map_err(|error: TreeError| failure(&error))
}

/// Which event is the next one.
#[derive(Clone, Copy)]
enum Next {
    /// The one with the next number.
    InOrder,
    /// One with a later number, up to the last one that was committed.
    UpTo(u64),
}

impl Next {
    fn is(self, number: u64, before: u64) -> bool {
        match self {
            Self::InOrder => number == before + 1,
            Self::UpTo(last) => number > before && number <= last,
        }
    }
}

/// Logs whose numbers go on from one to the next, in the order of their days.
struct Logs<'l> {
    disk: &'l dyn Disk,
    names: Vec<String>,
}

impl Logs<'_> {
    /// The events after a place. `last` is the number of the last event that was committed.
    fn after(
        &self,
        place: &EventPlace,
        limit: usize,
        last: impl Fn() -> accord_trees::Result<u64>,
    ) -> accord_trees::Result<(Vec<EventLine>, EventPlace)> {
        let (found, next) = self.in_order(place.clone(), limit)?;
        // The usual cases: there are some, or none is missing.
        if !found.is_empty() || !self.has_later(place)? {
            return Ok((found, next));
        }
        let last = last()?;
        if last <= place.number {
            // The later one is not Accord's.
            return Ok((found, next));
        }
        // Others removed or changed lines: the next one is elsewhere, or nowhere.
        let (found, next) = self.all(place, Next::InOrder, limit)?;
        if !found.is_empty() {
            return Ok((found, next));
        }
        self.all(place, Next::UpTo(last), limit)
    }

    /// Where the log of a place is among the names. One that is gone was before all of them.
    fn position(&self, place: &EventPlace) -> Option<usize> {
        let (log, _) = place.log.as_ref()?;
        self.names.iter().position(|name| name == log)
    }

    /// Whether a log that was read has an event after a place.
    fn has_later(&self, place: &EventPlace) -> accord_trees::Result<bool> {
        for log in &self.names[self.position(place).unwrap_or(0)..] {
            if last_number(self.disk, log)? > place.number {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The events after a place, from the beginnings of all logs.
    fn all(
        &self,
        place: &EventPlace,
        next: Next,
        limit: usize,
    ) -> accord_trees::Result<(Vec<EventLine>, EventPlace)> {
        let (mut found, mut place) = (Vec::new(), place.clone());
        for log in &self.names {
            place = read_log(self.disk, (log, 0), place, next, limit, &mut found)?;
        }
        Ok((found, place))
    }

    fn in_order(
        &self,
        mut place: EventPlace,
        limit: usize,
    ) -> accord_trees::Result<(Vec<EventLine>, EventPlace)> {
        let (disk, mut found) = (self.disk, Vec::new());
        let at = self.position(&place);
        if let Some((log, end)) = place.log.clone().filter(|_| at.is_some()) {
            place = read_log(disk, (&log, end), place, Next::InOrder, limit, &mut found)?;
        }
        // The usual case: the log of the place grew.
        if !found.is_empty() {
            return Ok((found, place));
        }
        for log in &self.names[at.map_or(0, |at| at + 1)..] {
            place = read_log(disk, (log, 0), place, Next::InOrder, limit, &mut found)?;
        }
        for log in &self.names[..at.unwrap_or(0)] {
            // Only the end of an old log is read, unless the clock was set back.
            if found.len() < limit && last_number(disk, log)? > place.number {
                place = read_log(disk, (log, 0), place, Next::InOrder, limit, &mut found)?;
            }
        }
        Ok((found, place))
    }

    fn last_number(&self) -> accord_trees::Result<u64> {
        let mut last = 0;
        for log in &self.names {
            let lines = match record::last_lines(self.disk, log, LAST_LINES) {
                Ok(lines) => lines,
                Err(TreeError::Damaged { .. }) => continue,
                Err(error) if error.is_unreadable() => continue,
                Err(error) => return Err(error),
            };
            last = last.max(lines.iter().filter_map(number).max().unwrap_or(0));
        }
        Ok(last)
    }
}

/// The number of the last event of a log. At the end of a log that is damaged there can be any.
fn last_number(disk: &dyn Disk, log: &str) -> accord_trees::Result<u64> {
    match record::last_lines(disk, log, LAST_LINES) {
        Ok(lines) => Ok(lines.iter().filter_map(number).max().unwrap_or(0)),
        Err(TreeError::Damaged { .. }) => Ok(u64::MAX),
        Err(error) if error.is_unreadable() => Ok(u64::MAX),
        Err(error) => Err(error),
    }
}

fn read_log(
    disk: &dyn Disk,
    (log, from): (&str, u64),
    mut place: EventPlace,
    next: Next,
    limit: usize,
    found: &mut Vec<EventLine>,
) -> accord_trees::Result<EventPlace> {
    let content = match disk.open(log) {
        // It is set aside with the next event.
        Err(error) if error.is_unreadable() => None,
        content => content?,
    };
    let Some(content) = content else { return Ok(place) };
    let (mut at, mut rest) = (from, Vec::new());
    // The bytes of a line that is too long to be an event, which are passed over.
    let mut skipped = 0;
    while found.len() < limit && skipped <= MAX_SKIPPED {
        let chunk = content.read_at(at + rest.len() as u64, CHUNK)?;
        if chunk.is_empty() {
            break;
        }
        // What is left of the last chunk has no line end.
        let mut searched = rest.len();
        rest.extend_from_slice(&chunk);
        let mut used = 0;
        while found.len() < limit
            && let Some(length) = rest[searched..].iter().position(|byte| *byte == b'\n')
        {
            let line = &rest[used..searched + length];
            used = searched + length + 1;
            searched = used;
            let end = (log.to_owned(), at + used as u64);
            if let Some(event) = event(line, end).filter(|it| next.is(it.number, place.number)) {
                place = event.after.clone();
                found.push(event);
            }
        }
        rest.drain(..used);
        at += used as u64;
        if rest.len() > MAX_LINE {
            // The rest of the line is no event either.
            skipped += rest.len();
            at += rest.len() as u64;
            rest.clear();
        }
    }
    Ok(place)
}

fn event(line: &[u8], end: (String, u64)) -> Option<EventLine> {
    let Ok(Value::Object(object)) = serde_json::from_slice(line) else { return None };
    let number = number(&object)?;
    let kind = object.get("type")?.as_str()?.to_owned();
    let at = Time::parse_rfc3339(object.get("timestamp")?.as_str()?)?;
    Some(EventLine { number, kind, at, object, after: EventPlace { number, log: Some(end) } })
}

/// The logs of this copy, in the order in which it wrote them.
pub(crate) fn logs(disk: &dyn Disk) -> accord_trees::Result<Vec<String>> {
    let all = all_logs(disk)?;
    Ok(match writers(disk)? {
        None => all.into_iter().filter(|log| writer_of(log).is_none()).collect(),
        Some(known) => {
            let mut own: Vec<String> = all.into_iter().filter(|log| known.has(log)).collect();
            own.sort_by_key(|log| (day_of(log).to_owned(), known.position(log)));
            own
        }
    })
}

/// The logs of all writers and programs.
pub(crate) fn all_logs(disk: &dyn Disk) -> accord_trees::Result<Vec<String>> {
    let entries = disk.list("events")?.unwrap_or_default().into_iter();
    let mut logs: Vec<String> = entries
        .filter(|entry| entry.name.ends_with(".jsonl") && entry.name != "events.jsonl")
        // Not through a link, and a pipe or a folder hides no other log.
        .filter(|entry| entry.kind == Kind::File)
        .map(|entry| format!("events/{}", entry.name))
        .collect();
    logs.sort();
    Ok(logs)
}
