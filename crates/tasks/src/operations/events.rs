//! The events of a tree after a number. It takes no lock and writes nothing. The numbers in a log
//! grow, so that the place of a number is found by bisection: a reader that follows the log reads
//! what is new, however much there is.

use std::collections::{BTreeMap, VecDeque};

use accord_contract::{Failure, Object, Wire as _};
use accord_tasks_core::event;
use accord_tasks_core::operations::{AofEvent, DEFAULT_EVENTS, EventsAnswer, EventsQuery};
use accord_trees::record::{self, RecordLines};
use accord_trees::{Content, Disk, Result as TreeResult};

use crate::Tree;
use crate::event_log::{EventPlace, all_logs, events_after, logs, writers};
use crate::tree::failure;

/// How many events are read at once.
const PAGE: usize = 500;

/// How many bytes are read at once while the place of a number is searched.
const STEP: usize = 8 * 1024;

/// How many of the newest logs are asked for the last number: the clock may have been set back.
const NEWEST: usize = 3;

impl Tree {
    /// The events after a number, in their order.
    pub fn events(&self, request: &EventsQuery) -> Result<EventsAnswer, Failure> {
        if request.copies {
            return events_of_copies(self.disk(), request).map_err(|error| failure(&error));
        }
        let limit = usize::try_from(request.limit.unwrap_or(DEFAULT_EVENTS)).unwrap_or(usize::MAX);
        let task = request.task_id.as_deref();
        let after = request.after.unwrap_or(0);
        let last = last_number(self.disk()).map_err(|error| failure(&error))?;
        let mut place = place_of(self.disk(), after).map_err(|error| failure(&error))?;
        let mut events = Vec::new();
        loop {
            let (lines, next) = events_after(self, place, PAGE)?;
            let is_end = lines.len() < PAGE;
            for line in lines {
                let event = AofEvent::from_document(line.object.into())
                    .ok()
                    .filter(|event| task.is_none_or(|task| event.task_id.as_deref() == Some(task)));
                let Some(event) = event else { continue };
                if events.len() == limit {
                    return Ok(EventsAnswer { events, last_event: last, more: true });
                }
                events.push(event);
            }
            if is_end {
                let last_event = last.max(next.number);
                return Ok(EventsAnswer { events, last_event, more: false });
            }
            place = next;
        }
    }
}

/// The events of all copies of a tree, by their times. Those of one copy stay in their order.
fn events_of_copies(disk: &dyn Disk, request: &EventsQuery) -> TreeResult<EventsAnswer> {
    let own = writers(disk)?.unwrap_or_default();
    let mut copies: BTreeMap<String, VecDeque<AofEvent>> = BTreeMap::new();
    for log in all_logs(disk)? {
        let writer = own.writer_of(&log);
        let copy = Some(writer.clone()).filter(|_| !own.has(&log));
        let lines = RecordLines::open(disk, &log, 0, 0)?.filter_map(Result::ok);
        let lines = lines.filter(|line| event::number(&line.object).is_some());
        let events = lines.filter_map(|line| AofEvent::from_document(line.object.into()).ok());
        let events = events.map(|event| AofEvent { copy: copy.clone(), ..event });
        copies.entry(writer).or_default().extend(events);
    }
    let task = request.task_id.as_deref();
    let limit = usize::try_from(request.limit.unwrap_or(DEFAULT_EVENTS)).unwrap_or(usize::MAX);
    let after = usize::try_from(request.after.unwrap_or(0)).unwrap_or(usize::MAX);
    let (mut events, mut count, mut more) = (Vec::new(), 0, false);
    while let Some(next) = earliest(&mut copies) {
        if task.is_some_and(|task| next.task_id.as_deref() != Some(task)) {
            continue;
        }
        count += 1;
        match events.len() < limit {
            true if count > after => events.push(next),
            true => {}
            false => more = true,
        }
    }
    Ok(EventsAnswer { events, last_event: last_number(disk)?, more })
}

/// Takes the next event: of those that come first in their copies, the earliest one.
fn earliest(copies: &mut BTreeMap<String, VecDeque<AofEvent>>) -> Option<AofEvent> {
    let first = |events: &VecDeque<AofEvent>| Some(events.front()?.timestamp.time());
    let times = copies.iter().filter_map(|(writer, events)| Some((first(events)?, writer)));
    let writer = times.min()?.1.clone();
    copies.get_mut(&writer)?.pop_front()
}

/// The place after the event with a number.
fn place_of(disk: &dyn Disk, number: u64) -> TreeResult<EventPlace> {
    let logs = logs(disk)?;
    for log in logs.iter().rev() {
        // The newest log that begins at or before the next event.
        if first_number(disk, log)?.is_some_and(|first| first <= number + 1)
            && let Some(content) = disk.open(log)?
        {
            let start = start_of(content.as_ref(), number)?;
            return Ok(EventPlace { number, log: Some((log.clone(), start)) });
        }
    }
    Ok(EventPlace { number, log: None })
}

fn first_number(disk: &dyn Disk, log: &str) -> TreeResult<Option<u64>> {
    let mut lines = RecordLines::open(disk, log, 0, 0)?;
    Ok(lines.find_map(|line| number(&line.ok()?.object)))
}

fn last_number(disk: &dyn Disk) -> TreeResult<u64> {
    let mut last = 0;
    for log in logs(disk)?.iter().rev().take(NEWEST) {
        let line = record::last_lines(disk, log, 1)?.pop();
        last = last.max(line.as_ref().and_then(number).unwrap_or(0));
    }
    Ok(last)
}

fn number(event: &Object) -> Option<u64> {
    event.get("eventId")?.as_u64()
}

/// The start of a line at or before the first line with a number past `after`.
fn start_of(content: &dyn Content, after: u64) -> TreeResult<u64> {
    let (mut low, mut high) = (0, content.length()?);
    // `low` is the start of a line whose number is not past `after`, or of the log.
    while high - low > STEP as u64 {
        let middle = low + (high - low) / 2;
        match line_at(content, middle, high)? {
            Some((start, number)) if number <= after => low = start,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The first whole line at or after an offset, with its number.
fn line_at(content: &dyn Content, from: u64, before: u64) -> TreeResult<Option<(u64, u64)>> {
    let mut bytes = Vec::new();
    let mut at = from;
    loop {
        let more = content.read_at(at, STEP)?;
        if more.is_empty() {
            return Ok(None);
        }
        at += more.len() as u64;
        bytes.extend(more);
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let ends: Vec<usize> = ends.map(|(at, _)| at).collect();
        for pair in ends.windows(2) {
            let start = from + pair[0] as u64 + 1;
            if start >= before {
                return Ok(None);
            }
            let line = serde_json::from_slice(&bytes[pair[0] + 1..pair[1]]);
            if let Some(number) = line.ok().as_ref().and_then(number) {
                return Ok(Some((start, number)));
            }
        }
    }
}
