//! Reading the events of a tree by their numbers.
//!
//! A tree numbers its events 1, 2, 3, … without a gap. They are in one log per day, by the time of
//! the event: when the clock was set back, the next event can be in an older log. Lines of other
//! programs have other numbers and are skipped. Reading takes no lock.

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};
use accord_trees::{Disk, atomic, read_file, record};
use serde_json::json;

use crate::Tree;
use crate::layout::OWN;
use crate::tree::failure;

/// How much of a log is read at once.
const CHUNK: usize = 256 * 1024;
/// The longest line. A longer one is not an event.
const MAX_LINE: usize = 32 * 1024 * 1024;
/// How many lines at the end of a log are looked at: other programs may have written some.
const LAST_LINES: usize = 8;
/// The largest file with the id of a tree.
const MAX_SOURCE: u64 = 4 * 1024;

/// A place between two events.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct EventPlace {
    /// The number of the last event before it.
    pub number: u64,
    /// The log in which that event is, and where it ends: where the next one is looked for first.
    pub log: Option<(String, u64)>,
}

/// An event of a tree.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EventLine {
    /// Its number.
    pub number: u64,
    /// Its type.
    pub kind: String,
    /// When.
    pub at: Time,
    /// The whole line.
    pub object: Object,
    /// The place after it.
    pub after: EventPlace,
}

impl EventPlace {
    /// The place as a document.
    pub fn document(&self) -> Value {
        match &self.log {
            Some((log, end)) => json!({"number": self.number, "log": log, "end": end}),
            None => json!({"number": self.number}),
        }
    }

    /// The place that a document says.
    pub fn read(document: &Value) -> Option<Self> {
        let number = document.get("number")?.as_u64()?;
        let log = document.get("log").and_then(Value::as_str);
        let end = document.get("end").and_then(Value::as_u64);
        Some(Self { number, log: log.map(str::to_owned).zip(end) })
    }
}

/// The id of a tree as a source of events. It is made once, and stays with the tree if that is
/// moved.
///
/// # Errors
/// When it cannot be read or written.
pub fn source(tree: &Tree) -> Result<String, Failure> {
    let path = format!("{OWN}/source.json");
    let disk = tree.disk();
    let read = || -> accord_trees::Result<Option<String>> {
        let bytes = read_file(disk, &path, MAX_SOURCE)?;
        let document = bytes.and_then(|bytes| accord_canon::read(&bytes).ok());
        Ok(document.and_then(|document| document.get("id")?.as_str().map(str::to_owned)))
    };
    let made = || {
        let random = tree.environment().random_number();
        let id = format!("tree_{}{random:08x}", tree.environment().now().unix_millis());
        let document = json!({"id": id}).to_string();
        atomic::make_folders(disk, OWN)?;
        // Another process may be faster: then its id counts.
        atomic::create(disk, &path, document.as_bytes())?;
        read()
    };
    let found = read().map_err(|error| failure(&error))?;
    let found = match found {
        Some(found) => Some(found),
        None => made().map_err(|error| failure(&error))?,
    };
    found.ok_or_else(|| {
        let message = format!("{path} does not name the tree; remove the file");
        Failure::new(Code::AofTaskTreeUnavailable, message)
    })
}

/// At most `limit` events after a place, and the place after them.
///
/// # Errors
/// When a log cannot be read.
pub fn events_after(
    tree: &Tree,
    place: EventPlace,
    limit: usize,
) -> Result<(Vec<EventLine>, EventPlace), Failure> {
    read_after(tree.disk(), place, limit).map_err(|error| failure(&error))
}

fn read_after(
    disk: &dyn Disk,
    place: EventPlace,
    limit: usize,
) -> accord_trees::Result<(Vec<EventLine>, EventPlace)> {
    let mut found = Vec::new();
    let mut place = place;
    if let Some((log, end)) = place.log.clone() {
        place = read_log(disk, &log, end, place, limit, &mut found)?;
    }
    // The usual case: the log of the place grew.
    if !found.is_empty() {
        return Ok((found, place));
    }
    let last = place.log.as_ref().map(|(log, _)| log.clone()).unwrap_or_default();
    let (earlier, later): (Vec<_>, Vec<_>) =
        logs(disk)?.into_iter().filter(|log| *log != last).partition(|log| *log < last);
    for log in later {
        place = read_log(disk, &log, 0, place, limit, &mut found)?;
    }
    for log in earlier {
        // Only the end of an old log is read, unless the clock was set back.
        if found.len() < limit && last_number(disk, &log)? > place.number {
            place = read_log(disk, &log, 0, place, limit, &mut found)?;
        }
    }
    Ok((found, place))
}

/// The number of the last event of a log.
fn last_number(disk: &dyn Disk, log: &str) -> accord_trees::Result<u64> {
    let lines = record::last_lines(disk, log, LAST_LINES)?;
    let numbers = lines.iter().filter_map(|line| line.get("eventId").and_then(Value::as_u64));
    Ok(numbers.max().unwrap_or(0))
}

/// Takes the next events from a log.
fn read_log(
    disk: &dyn Disk,
    log: &str,
    from: u64,
    mut place: EventPlace,
    limit: usize,
    found: &mut Vec<EventLine>,
) -> accord_trees::Result<EventPlace> {
    let Some(content) = disk.open(log)? else { return Ok(place) };
    let (mut at, mut rest) = (from, Vec::new());
    while found.len() < limit {
        let chunk = content.read_at(at + rest.len() as u64, CHUNK)?;
        if chunk.is_empty() {
            break;
        }
        rest.extend_from_slice(&chunk);
        let mut used = 0;
        while found.len() < limit
            && let Some(length) = rest[used..].iter().position(|byte| *byte == b'\n')
        {
            let line = &rest[used..used + length];
            used += length + 1;
            let end = (log.to_owned(), at + used as u64);
            if let Some(event) = event(line, place.number + 1, end) {
                place = event.after.clone();
                found.push(event);
            }
        }
        rest.drain(..used);
        at += used as u64;
        if rest.len() > MAX_LINE {
            break;
        }
    }
    Ok(place)
}

/// The event on a line, if it has a number.
fn event(line: &[u8], number: u64, end: (String, u64)) -> Option<EventLine> {
    let Ok(Value::Object(object)) = serde_json::from_slice(line) else { return None };
    if accord_tasks_core::event::number(&object) != Some(number) {
        return None;
    }
    let kind = object.get("type")?.as_str()?.to_owned();
    let at = Time::parse_rfc3339(object.get("timestamp")?.as_str()?)?;
    Some(EventLine { number, kind, at, object, after: EventPlace { number, log: Some(end) } })
}

/// The logs of a tree, by their days.
pub(crate) fn logs(disk: &dyn Disk) -> accord_trees::Result<Vec<String>> {
    let entries = disk.list("events")?.unwrap_or_default().into_iter();
    let mut logs: Vec<String> = entries
        .filter(|entry| entry.name.ends_with(".jsonl") && entry.name != "events.jsonl")
        .map(|entry| format!("events/{}", entry.name))
        .collect();
    logs.sort();
    Ok(logs)
}
