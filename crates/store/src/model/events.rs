//! Events in the model.

use std::sync::Arc;

use accord_base::ProjectId;
use accord_contract::{Time, Timestamp};

use super::State;
use crate::{EventEntry, EventRange, EventRow, EventWrites, Events, Result, StoreError};

impl Events for State {
    fn events(&self, project: &ProjectId, after: u64, limit: usize) -> Result<Vec<EventRow>> {
        let Some(project) = self.at(project) else { return Ok(Vec::new()) };
        let row = |(seq, entry): (&u64, &Arc<EventEntry>)| EventRow {
            seq: *seq,
            entry: entry.as_ref().clone(),
        };
        Ok(project.events.entries_after(&after).take(limit).map(row).collect())
    }

    fn event_range(&self, project: &ProjectId) -> Result<EventRange> {
        let Some(project) = self.at(project) else {
            let newest = self.removals.get(project).map_or(0, |removal| removal.event);
            return Ok(EventRange { oldest: newest + 1, newest });
        };
        let newest = project.newest_event;
        let oldest = project.events.first().map_or(newest + 1, |(seq, _)| *seq);
        Ok(EventRange { oldest, newest })
    }

    fn newest_event_at(&self, project: &ProjectId) -> Result<Option<Timestamp>> {
        let Some(found) = self.at(project) else {
            return Ok(self.removals.get(project).map(|removal| removal.at.clone()));
        };
        Ok(found.events.last().map(|(_, entry)| entry.at.clone()))
    }

    fn events_before(&self, project: &ProjectId, instant: Time) -> Result<u64> {
        let kept = self.event_range(project)?;
        let events = self.at(project).into_iter().flat_map(|project| project.events.values());
        let before = events.take_while(|event| event.at.time() < instant).count();
        Ok(kept.oldest - 1 + before as u64)
    }
}

impl EventWrites for State {
    fn append_event(&mut self, project: &ProjectId, entry: &EventEntry) -> Result<u64> {
        let stream = self.at_mut(project)?;
        stream.newest_event += 1;
        let seq = stream.newest_event;
        stream.events.insert(seq, Arc::new(entry.clone()));
        self.advanced.insert(project.clone(), seq);
        Ok(seq)
    }

    fn rewrite_event(&mut self, project: &ProjectId, seq: u64, text: &str) -> Result<()> {
        let events = &mut self.at_mut(project)?.events;
        let Some(known) = events.get(&seq) else {
            return Err(StoreError::conflict("event", "does not exist"));
        };
        let entry = EventEntry { text: text.to_owned(), ..known.as_ref().clone() };
        events.insert(seq, Arc::new(entry));
        Ok(())
    }

    fn trim_events(&mut self, project: &ProjectId, through: u64) -> Result<u64> {
        let Some(project) = self.projects.get_mut(project) else { return Ok(0) };
        let before = project.events.len();
        project.events.retain(|seq, _| *seq > through);
        Ok((before - project.events.len()) as u64)
    }
}
