//! Events.

use accord_base::ProjectId;
use accord_contract::{Time, Timestamp};
use accord_store::{
    EventEntry, EventRange, EventRow, EventWrites, Events, Projects as _, Result, Table,
};
use rusqlite::params;

use super::column::{Row, actor_columns};
use super::damage::examine;
use super::{Unit, number};
use crate::error::damaged;

impl Events for Unit<'_> {
    fn events(&self, project: &ProjectId, after: u64, wanted: usize) -> Result<Vec<EventRow>> {
        let pk = self.or_none(project)?;
        let sql = "SELECT seq, at, kind, only_for_type, only_for_id, text FROM event
            WHERE project = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
        let values = |limit| (pk, number(after), limit);
        self.fill_sound(wanted, sql, values, |columns| {
            examine(columns, Table::Event, project, |row, _| self::row(row))
        })
    }

    fn event_range(&self, project: &ProjectId) -> Result<EventRange> {
        let sql = "SELECT c.oldest_event, c.newest_event
            FROM counter c JOIN project j ON j.pk = c.project WHERE j.project_id = ?1";
        let kept = self.one(sql, (project.as_str(),), |row| {
            Ok(EventRange { oldest: row.count(0)?, newest: row.count(1)? })
        })?;
        // The first event of a project has the number 1.
        Ok(kept.unwrap_or(EventRange { oldest: 1, newest: 0 }))
    }

    fn newest_event_at(&self, project: &ProjectId) -> Result<Option<Timestamp>> {
        let Some(pk) = self.find(project)? else {
            return Ok(self.removal(project)?.map(|removal| removal.at));
        };
        // An unreadable event must not block writes: the one before it is a lower bound.
        let sql = "SELECT at FROM event WHERE project = ?1 ORDER BY seq DESC";
        let mut newest = None;
        let read = |row: &Row<'_>| Ok(row.time(0).ok());
        self.each(sql, (pk,), read, |at| {
            newest = at;
            newest.is_none()
        })?;
        Ok(newest)
    }

    fn events_before(&self, project: &ProjectId, instant: Time) -> Result<u64> {
        let mut before = self.event_range(project)?.oldest.saturating_sub(1);
        let pk = self.or_none(project)?;
        let sql = "SELECT seq, at FROM event WHERE project = ?1 ORDER BY seq";
        let read = |row: &Row<'_>| Ok((row.count(0)?, row.time(1).ok()));
        self.each(sql, (pk,), read, |(seq, at)| {
            // An unreadable event is deleted with its neighbours.
            let is_before = at.is_none_or(|at| at.time() < instant);
            if is_before {
                before = seq;
            }
            is_before
        })?;
        Ok(before)
    }
}

impl EventWrites for Unit<'_> {
    fn append_event(&mut self, project: &ProjectId, entry: &EventEntry) -> Result<u64> {
        let pk = self.must_find(project)?;
        // Not max(seq): retention deletes events, and a number must never be given out twice.
        let sql = "UPDATE counter SET newest_event = newest_event + 1
            WHERE project = ?1 RETURNING newest_event";
        let seq = self.one(sql, (pk,), |row| row.count(0))?.ok_or_else(|| damaged("a counter"))?;
        let sql = "INSERT INTO event (project, seq, at, kind, only_for_type, only_for_id, text)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (kind, id) = actor_columns(entry.only_for.as_ref());
        let values = params![pk, number(seq), entry.at.as_str(), entry.kind, kind, id, entry.text];
        self.run(sql, values)?;
        self.advanced_by_job.insert(project.clone(), seq);
        Ok(seq)
    }

    fn rewrite_event(&mut self, project: &ProjectId, seq: u64, text: &str) -> Result<()> {
        let pk = self.must_find(project)?;
        let sql = "UPDATE event SET text = ?3 WHERE project = ?1 AND seq = ?2";
        self.change("event", sql, (pk, number(seq), text))
    }

    fn trim_events(&mut self, project: &ProjectId, through: u64) -> Result<u64> {
        let pk = self.or_none(project)?;
        // Limited to existing numbers, because a larger one would overflow when 1 is added.
        let through = number(through.min(self.event_range(project)?.newest));
        let sql = "DELETE FROM event WHERE project = ?1 AND seq <= ?2";
        let removed = self.run(sql, (pk, through))?;
        let sql = "UPDATE counter SET oldest_event = max(oldest_event, ?2 + 1) WHERE project = ?1";
        self.run(sql, (pk, through))?;
        Ok(removed as u64)
    }
}

fn row(columns: &Row<'_>) -> Result<EventRow> {
    Ok(EventRow {
        seq: columns.count(0)?,
        entry: EventEntry {
            at: columns.time(1)?,
            kind: columns.text(2)?,
            only_for: columns.optional_actor(3)?,
            text: columns.text(5)?,
        },
    })
}
