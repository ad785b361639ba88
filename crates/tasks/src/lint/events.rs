//! Whether the events of a tree are all there.

use std::collections::{BTreeMap, HashSet};

use accord_contract::{Object, Value};
use accord_tasks_core::event::{completed_task, number};
use accord_tasks_core::{Status, TaskId};
use accord_trees::Result;
use accord_trees::record::RecordLines;

use super::Lint;
use crate::committed::Seal;
use crate::layout::task_file;
use crate::signed::Signed;
use crate::writers::writer_of;

impl Lint<'_> {
    /// Accord's events have numbers without gaps. Lines of other programs are theirs.
    pub(super) fn events(&mut self) -> Result<()> {
        let mut writers: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
        let known = self.state.writers().cloned();
        let mut completed: HashSet<TaskId> = HashSet::new();
        for entry in self.disk.list("events")?.unwrap_or_default() {
            if !entry.name.ends_with(".jsonl") || entry.name == "events.jsonl" {
                continue;
            }
            let path = format!("events/{}", entry.name);
            let of_others = || writer_of(&path).unwrap_or_default().to_owned();
            let writer = known.as_ref().map_or_else(of_others, |known| known.writer_of(&path));
            let numbers = writers.entry(writer).or_default();
            let mut last = 0;
            // Of an older version of the log, which git brought back, the lines say it themselves.
            let sealed = self.state.seal(&path).filter(|_| !self.is_another_commit);
            let own =
                self.is_another_commit && known.as_ref().is_some_and(|known| known.has(&path));
            let key = known.as_ref().and_then(|known| Some(known.key()?.public()));
            let is_signed = |line: &Object| {
                let signed = Signed::of(line);
                signed.as_ref().and_then(Signed::signer) == key.as_deref()
            };
            let mut is_forged = false;
            let mut found = sealed.map(|seal| Seal::after(seal.after));
            let mut lines = match RecordLines::open(self.disk, &path, 0, 0) {
                Err(error) if error.is_unreadable() => {
                    self.error("not_a_file", &path, error.to_string());
                    continue;
                }
                lines => lines?,
            };
            for line in &mut lines {
                let Ok(line) = line.map_err(|error| {
                    self.warning("event_line_damaged", &path, error.to_string());
                }) else {
                    continue;
                };
                self.events += 1;
                if let Some(id) = completed_task(&line.object) {
                    let actor = line.object.get("actor").and_then(Value::as_str);
                    self.completed_by.extend(actor.map(|actor| (id, actor.to_owned())));
                    completed.insert(id);
                }
                let Some(number) = number(&line.object) else { continue };
                if number <= last {
                    let problem = format!("event {number} follows event {last}");
                    self.error("event_order", &path, problem);
                }
                last = number;
                is_forged |= own && !is_signed(&line.object);
                if let Some(found) = &mut found
                    && number > found.after
                    && self.state.last_event().is_some_and(|last| number <= last)
                {
                    found.add(&Value::Object(line.object).to_string());
                }
                numbers.push((number, path.clone()));
            }
            if found.as_ref() != sealed || is_forged {
                // The number tells this finding from that of a commit in progress.
                let committed = self.state.last_event().unwrap_or(0);
                let problem = format!(
                    "a line of Accord was changed, removed or added among those up to {committed}"
                );
                self.error("event_changed", &path, problem);
            }
            if lines.is_torn() {
                self.warning("event_line_torn", &path, "the last line is cut off");
            }
        }
        self.completions(&completed, writers.values().any(|numbers| !numbers.is_empty()));
        let mut last = 0;
        for (writer, mut numbers) in writers {
            // After a clock was set back, the order is not that of the files.
            numbers.sort_unstable();
            numbers.dedup_by_key(|(number, _)| *number);
            // A writer that went on from another one does not begin with 1.
            let first = numbers.first().filter(|_| !writer.is_empty());
            let mut before = first.map_or(0, |(first, _)| first - 1);
            for (number, path) in &numbers {
                if *number != before + 1 {
                    let problem = format!("no event has a number between {before} and {number}");
                    self.error("event_gap", path, problem);
                }
                before = *number;
            }
            if known.as_ref().is_none_or(|known| known.current() == writer) {
                last = last.max(before);
            }
        }
        // A copy that wrote nothing yet has the numbers of the others.
        let is_ours = self.state.end().is_some() && !self.is_another_commit;
        let committed = self.state.last_event().filter(|_| is_ours);
        if let Some(committed) = committed.filter(|committed| *committed > last) {
            let problem = format!("the events after {last} are missing, up to {committed}");
            self.error("event_gap", "events", problem);
        }
        Ok(())
    }

    /// Every task that is done was completed by someone, which the log of the tree says. The log
    /// travels with the files, for example with git. Other tools may keep no log.
    fn completions(&mut self, completed: &HashSet<TaskId>, has_events: bool) {
        let unknown = std::mem::take(&mut self.done).into_iter();
        let is_known = |id: &TaskId, former: &[TaskId]| {
            completed.contains(id) || former.iter().any(|id| completed.contains(id))
        };
        for (id, _) in unknown.filter(|(id, former)| has_events && !is_known(id, former)) {
            let path = task_file(Status::Done, id);
            let problem = "no event says that somebody completed the task";
            self.warning("completion_not_recorded", &path, problem);
        }
    }
}
