//! The record of a decision: its changes, events and decisions of people, for the log.

use accord_base::decision::DecisionRecord;
use accord_contract::{Object, Value};
use accord_tasks_core::TaskId;
use accord_tasks_core::event::TaskEvent;
use accord_trees::wal::{ANYTHING, Op, Record, digest};
use accord_trees::{Disk, Kind};

use super::Work;
use crate::committed::CONFIRMED;
use crate::decisions;
use crate::explained::FRONT;
use crate::layout::{DECISIONS, OLD_WHOLE, WHOLE, WHOLE_FILE, WRITER, events};

impl Work<'_> {
    /// Task files are alike, so that git takes a new one for a renamed other one, and would mix
    /// them; and outputs are what was approved, byte by byte. A tree of an earlier version does not
    /// say so.
    fn keep_tasks_whole(&mut self) {
        if self.staged.contains_key(WHOLE_FILE) {
            return;
        }
        match self.disk.stat(WHOLE_FILE) {
            Ok(None) => self.stage(WHOLE_FILE.to_owned(), WHOLE.to_owned(), None),
            Ok(Some(stat))
                if stat.length == OLD_WHOLE.len() as u64
                    && self.text(WHOLE_FILE).ok().flatten().as_deref() == Some(OLD_WHOLE) =>
            {
                let was = Some(digest(OLD_WHOLE.as_bytes()));
                self.stage(WHOLE_FILE.to_owned(), WHOLE.to_owned(), was);
            }
            _ => {}
        }
    }

    /// Makes a record of the present decision.
    pub(super) fn close(&mut self) {
        let is_written = !self.ops.is_empty() || self.is_first;
        let is_written = is_written || !self.events.is_empty();
        if is_written && std::mem::take(&mut self.index.is_new_writer) {
            let text = self.index.writers.text();
            self.ops.push(Op::Put { path: WRITER.into(), text, was: Some(ANYTHING.to_owned()) });
        }
        if is_written && self.index.is_in_git {
            self.keep_tasks_whole();
        }
        let mut ops = std::mem::take(&mut self.ops);
        let events = std::mem::take(&mut self.events);
        let touched = std::mem::take(&mut self.touched);
        let broken = std::mem::take(&mut self.broken);
        let is_empty = ops.is_empty() && events.is_empty() && touched.is_empty();
        let is_first = std::mem::take(&mut self.is_first);
        if is_empty && broken.is_empty() && !is_first {
            return;
        }
        ops.extend(self.event_lines(&events));
        let decisions = std::mem::take(&mut self.decisions);
        ops.extend(self.decision_lines(&decisions));
        let entry = |id: TaskId| self.held(id).map_or(Value::Null, |held| held.entry_in(id, &ops));
        let tasks: Object = touched.into_iter().map(|id| (id.to_string(), entry(id))).collect();
        let mut detail = Object::new();
        detail.insert("tasks".into(), Value::Object(tasks));
        detail.insert("event".into(), self.index.last_event.into());
        if !broken.is_empty() {
            detail.insert("broken".into(), Value::Object(broken));
        }
        if let Some(key) = self.confirmed.take() {
            detail.insert(CONFIRMED.into(), key.into());
        }
        if !decisions.is_empty() {
            detail.insert("decision".into(), self.last_decision.clone().into());
        }
        self.records.push(Record { ops, detail });
    }

    /// The lines of events, appended to the logs of their days.
    fn event_lines(&mut self, list: &[TaskEvent]) -> Vec<Op> {
        let mut ops: Vec<Op> = Vec::new();
        let is_signed = self.index.is_in_git && !list.is_empty();
        let key = if is_signed { self.index.writers.key() } else { None };
        for event in list {
            self.index.last_event += 1;
            let mut line = event.line(self.index.last_event);
            let front = event.task.and_then(|id| self.fronts.get(&id));
            if let Value::Object(line) = &mut line {
                line.extend(front.map(|front| (FRONT.to_owned(), front.as_str().into())));
                if let Some(key) = &key {
                    key.sign(line);
                }
            }
            let line = format!("{line}\n");
            let path = events(event.at, self.index.writers.current());
            let (at, line) = self.appended(&path, line);
            match ops.last_mut() {
                Some(Op::Append { path: last, text, .. }) if *last == path => text.push_str(&line),
                _ => ops.push(Op::Append { path, at, text: line }),
            }
        }
        ops
    }

    fn decision_lines(&mut self, list: &[DecisionRecord]) -> Vec<Op> {
        let appended = list.iter().map(|record| {
            let (line, digest) = decisions::line(record, self.last_decision.as_deref());
            self.last_decision = Some(digest);
            let (at, text) = self.appended(DECISIONS, line);
            Op::Append { path: DECISIONS.to_owned(), at, text }
        });
        appended.collect()
    }

    /// Where a line is appended to a record, and the line.
    fn appended(&mut self, path: &str, line: String) -> (u64, String) {
        let known = self.index.lengths.get(path).copied();
        let (at, line) = match known.or_else(|| self.last_length(path)) {
            Some(at) => (at, line),
            None => end(self.disk, path, line),
        };
        self.index.lengths.insert(path.to_owned(), at + line.len() as u64);
        (at, line)
    }

    /// The length of a log that this process appended to before this group, if it has that length.
    fn last_length(&self, path: &str) -> Option<u64> {
        let last = self.index.last_lengths.get(path).copied()?;
        let found = self.disk.stat(path).ok().flatten()?;
        (found.kind == Kind::File && found.length == last).then_some(last)
    }
}

/// Where a line is appended. Another program may have left out the end of the last line.
fn end(disk: &dyn Disk, path: &str, line: String) -> (u64, String) {
    let content = disk.open(path).ok().flatten();
    let length = content.as_ref().and_then(|content| content.length().ok()).unwrap_or(0);
    let last =
        content.filter(|_| length > 0).and_then(|content| content.read_at(length - 1, 1).ok());
    let is_open = last.is_some_and(|last| last != b"\n");
    (length, if is_open { format!("\n{line}") } else { line })
}
