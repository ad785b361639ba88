//! Reading the events of a tree by their numbers.
//!
//! A tree numbers its events 1, 2, 3, … without a gap. They are in one log per day, by the time of
//! the event: when the clock was set back, the next event can be in an older log. Lines of other
//! programs have other numbers and are skipped. Reading takes no lock.

use accord_contract::codes::Failure;
use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};
use accord_trees::Disk;
use serde_json::json;

use crate::Tree;
use crate::tree::failure;

/// How much of a log is read at once.
const CHUNK: usize = 256 * 1024;
/// The longest line. A longer one is not an event.
const MAX_LINE: usize = 32 * 1024 * 1024;

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
    let logs = logs(disk)?;
    while found.len() < limit {
        let before = place.number;
        // The logs after that of the place come first: a new day is the usual reason.
        let last = place.log.as_ref().map(|(log, _)| log.clone()).unwrap_or_default();
        let later = logs.iter().position(|log| *log > last).unwrap_or(logs.len());
        for log in logs[later..].iter().chain(&logs[..later]) {
            // The log of the place was read to its end.
            if *log != last && place.number == before {
                place = read_log(disk, log, 0, place, limit, &mut found)?;
            }
        }
        if place.number == before {
            break;
        }
    }
    Ok((found, place))
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
fn logs(disk: &dyn Disk) -> accord_trees::Result<Vec<String>> {
    let entries = disk.list("events")?.unwrap_or_default().into_iter();
    let mut logs: Vec<String> = entries
        .filter(|entry| entry.name.ends_with(".jsonl") && entry.name != "events.jsonl")
        .map(|entry| format!("events/{}", entry.name))
        .collect();
    logs.sort();
    Ok(logs)
}
