//! Rebuilds derived tables and columns.

use accord_base::ProjectId;
use accord_contract::Timestamp;
use accord_store::{PackageSource, Repair, Result, RevisionRow, StoreErrorKind, time_key};
use rusqlite::params;

use super::Unit;

impl Repair for Unit<'_> {
    fn package_source(&self, project: &ProjectId, package: i64) -> Result<Option<PackageSource>> {
        let pk = self.or_none(project)?;
        let sql = "SELECT text, deposited_at FROM package WHERE pk = ?1 AND project = ?2";
        let found = self.one(sql, (package, pk), |row| Ok((row.text(0).ok(), row.time(1).ok())))?;
        let Some((text, deposited_at)) = found else { return Ok(None) };
        let sql = "SELECT seq, text FROM revision WHERE package = ?1 ORDER BY seq";
        let log = self.many(sql, (package,), |row| {
            let (seq, text) = (row.count(0).ok(), row.text(1).ok());
            Ok(seq.zip(text).map(|(seq, text)| RevisionRow { seq, text }))
        })?;
        Ok(Some(PackageSource { text, log: log.into_iter().flatten().collect(), deposited_at }))
    }

    fn forget_derived(&mut self) -> Result<()> {
        for sql in [
            "DELETE FROM tally",
            "DELETE FROM kind",
            "DELETE FROM question_use",
            "DELETE FROM question",
            "DELETE FROM question_tally",
            "DELETE FROM embedding",
            "DELETE FROM answer",
            "DELETE FROM supersession",
            "DELETE FROM inbox_item WHERE origin GLOB 'package/*' OR origin GLOB 'question/*'",
            // Deleting by package would leave the entries that belong to no package.
            "INSERT INTO package_terms (package_terms) VALUES ('delete-all')",
        ] {
            self.run(sql, ())?;
        }
        Ok(())
    }

    fn recount(&mut self, project: &ProjectId) -> Result<()> {
        let pk = self.must_find(project)?;
        self.run("INSERT INTO counter (project) VALUES (?1) ON CONFLICT DO NOTHING", (pk,))?;
        // Missing events stay missing; the gap in their numbers shows it.
        let sql = "UPDATE counter SET
            packages = (SELECT count(*) FROM package WHERE project = ?1),
            newest_event = max(newest_event,
                coalesce((SELECT max(seq) FROM event WHERE project = ?1), 0)),
            oldest_event = max(1, min(oldest_event,
                coalesce((SELECT min(seq) FROM event WHERE project = ?1), oldest_event)))
            WHERE project = ?1";
        self.run(sql, (pk,))?;
        self.index_pending()?;
        self.count_terms(pk)?;
        self.place_facts(pk)?;
        self.place_sessions(pk)?;
        self.place_decisions(pk)
    }
}

impl Unit<'_> {
    fn place_facts(&self, project: i64) -> Result<()> {
        let sql = "SELECT pk, valid_from, from_key, valid_to, to_key FROM fact WHERE project = ?1";
        let rows = self.many(sql, (project,), |row| {
            let pk = row.integer(0)?;
            // Unreadable rows are not changed, and are reported.
            let (Ok(from), Ok(to)) = (row.time(1), row.optional_time(3)) else { return Ok(None) };
            let (from, to) = (key(&from), to.as_ref().map(key));
            let is_placed = from == row.label(2) && to.clone().unwrap_or_default() == row.label(4);
            Ok((!is_placed).then_some((pk, from, to)))
        })?;
        for (pk, from, to) in rows.into_iter().flatten() {
            let sql = "UPDATE fact SET from_key = ?2, to_key = ?3 WHERE pk = ?1";
            match self.run(sql, params![pk, from, to]) {
                // Another fact of the chain also has no end.
                Err(error) if error.kind() == StoreErrorKind::Conflict => {}
                done => drop(done?),
            }
        }
        Ok(())
    }

    fn place_sessions(&self, project: i64) -> Result<()> {
        let read = "SELECT pk, started_at, started_key FROM session WHERE project = ?1";
        self.place(project, read, "UPDATE session SET started_key = ?2 WHERE pk = ?1")
    }

    fn place_decisions(&self, project: i64) -> Result<()> {
        let read = "SELECT pk, decided_at, decided_key FROM decision WHERE project = ?1";
        self.place(project, read, "UPDATE decision SET decided_key = ?2 WHERE pk = ?1")
    }

    /// Corrects the sort keys of rows: `read` gives number, time and key, `write` sets the key.
    fn place(&self, project: i64, read: &str, write: &str) -> Result<()> {
        let rows = self.many(read, (project,), |row| {
            let Ok(at) = row.time(1) else { return Ok(None) };
            let key = key(&at);
            Ok((key != row.label(2)).then_some((row.integer(0)?, key)))
        })?;
        for (pk, key) in rows.into_iter().flatten() {
            self.run(write, params![pk, key])?;
        }
        Ok(())
    }
}

fn key(time: &Timestamp) -> String {
    time_key::of(time.time())
}
