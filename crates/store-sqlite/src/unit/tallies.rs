//! Counts of packages, by day, hour and minute.

use accord_base::ProjectId;
use accord_contract::Time;
use accord_memory_core::package::{PackageType, Status};
use accord_store::derived::{TallyChange, TallySums, TallyWindow};
use accord_store::time_key::Span;
use accord_store::{DamagedRow, Result, Stored, Table, Tally};
use rusqlite::params;

use super::Unit;
use super::column::Row;
use super::damage::examine;

impl Unit<'_> {
    /// Adds to the counts of a kind.
    pub(super) fn tally(&self, project: i64, change: &TallyChange<'_>) -> Result<()> {
        let sql = "INSERT INTO tally (kind, unit, span, packages) VALUES
            (?1, 'day', ?2, ?5), (?1, 'hour', ?3, ?5), (?1, 'minute', ?4, ?5)
            ON CONFLICT DO UPDATE SET packages = packages + excluded.packages";
        let [day, hour, minute] =
            [Span::Day, Span::Hour, Span::Minute].map(|span| change.span(span));
        self.write(sql, params![self.kind(project, change)?, day, hour, minute, change.more])
    }

    pub(super) fn tallies_since(
        &self,
        (owner, project): (&ProjectId, i64),
        since: Option<Time>,
    ) -> Result<Vec<Tally>> {
        let mut sums = TallySums::default();
        let mut add = |row: Stored<Tally>| {
            if let Some(tally) = self.keep(row) {
                sums.add(tally);
            }
            true
        };
        let read = |row: &Row<'_>| Ok(stored(row, owner));
        match since {
            None => {
                let all = "SELECT package_type, actor_type, actor_id, status,
                    (SELECT CAST(total(packages) AS INTEGER)
                    FROM tally WHERE kind = pk AND unit = 'day')
                    FROM kind WHERE project = ?1";
                self.each(all, (project,), read, &mut add)?;
            }
            Some(since) => {
                let window = TallyWindow::since(since);
                let whole = "SELECT package_type, actor_type, actor_id, status,
                    (SELECT CAST(total(packages) AS INTEGER) FROM tally
                     WHERE kind = pk AND unit = 'day' AND span > ?2)
                    + (SELECT CAST(total(packages) AS INTEGER) FROM tally
                     WHERE kind = pk AND unit = 'hour' AND span > ?3 AND span < ?4)
                    + (SELECT CAST(total(packages) AS INTEGER) FROM tally
                     WHERE kind = pk AND unit = 'minute' AND span > ?5 AND span < ?6)
                    FROM kind WHERE project = ?1";
                let values = params![
                    project,
                    window.begun(Span::Day),
                    window.begun(Span::Hour),
                    window.end(Span::Day),
                    window.begun(Span::Minute),
                    window.end(Span::Hour),
                ];
                self.each(whole, values, read, &mut add)?;
                let begun = "SELECT package_type, actor_type, actor_id, status, 1 FROM package
                    WHERE project = ?1 AND status = ?2 AND quarantined_at IS NULL
                    AND created_key >= ?3 AND created_key < ?4";
                for status in Status::ALL {
                    let (first, end) = (window.key(), window.end(Span::Minute));
                    let values = params![project, status.as_str(), first, end];
                    self.each(begun, values, read, &mut add)?;
                }
            }
        }
        Ok(sums.into_tallies())
    }

    /// The number of a kind, which is added if it is new.
    fn kind(&self, project: i64, kind: &TallyChange<'_>) -> Result<i64> {
        let (actor_type, actor_id) = (kind.actor.kind.as_str(), kind.actor.id.as_str());
        let (package_type, status) = (kind.package_type.as_str(), kind.status.as_str());
        let values = params![project, package_type, actor_type, actor_id, status];
        let sql = "SELECT pk FROM kind WHERE project = ?1 AND package_type = ?2
            AND actor_type = ?3 AND actor_id = ?4 AND status = ?5";
        if let Some(known) = self.one(sql, values, |row| row.integer(0))? {
            return Ok(known);
        }
        let sql = "INSERT INTO kind (project, package_type, actor_type, actor_id, status)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        self.run(sql, values)?;
        Ok(self.connection.last_insert_rowid())
    }
}

fn stored(row: &Row<'_>, project: &ProjectId) -> Stored<Tally> {
    let stored = examine(row, Table::Tally, project, |row, _| tally(row));
    let id = || [0, 1, 2, 3].map(|at| row.label(at)).join(" ");
    stored.map_err(|damaged| DamagedRow { id: id(), ..damaged })
}

fn tally(row: &Row<'_>) -> Result<Tally> {
    Ok(Tally {
        package_type: row.parsed(0, "a package type", PackageType::parse)?,
        actor: row.actor(1)?,
        status: row.parsed(3, "a status", Status::parse)?,
        packages: row.count(4)?,
    })
}
