//! Counts of packages, by day, hour and minute.
//!
//! A window is counted from whole days, from the hours of the day in which it begins and from the
//! minutes of that hour; only the packages of its first minute are read one by one. So the
//! cost of a count does not depend on the number of packages.

use std::collections::BTreeMap;

use accord_base::{ActorKey, ProjectId};
use accord_contract::time::Time;
use accord_memory_core::package::{PackageType, Status};
use accord_store::{DamagedRow, PackageRow, Result, Stored, Table, Tally};
use rusqlite::params;

use super::Unit;
use super::column::Row;
use super::damage::examine;
use crate::stamp::{self, Span};

/// The members by which packages are counted, and when one of them was created.
pub(super) struct Kind<'a> {
    created_key: String,
    package_type: &'a PackageType,
    actor: &'a ActorKey,
    status: Status,
}

impl<'a> Kind<'a> {
    pub(super) fn of(row: &'a PackageRow) -> Self {
        Self {
            created_key: stamp::key(row.created_at.time()),
            package_type: &row.package_type,
            actor: &row.actor,
            status: row.state.status,
        }
    }
}

impl Unit<'_> {
    /// Adds to the count of a kind.
    pub(super) fn tally(&self, project: i64, kind: &Kind<'_>, more: i64) -> Result<()> {
        let sql = "INSERT INTO tally (kind, unit, span, packages) VALUES
            (?1, 'day', ?2, ?5), (?1, 'hour', ?3, ?5), (?1, 'minute', ?4, ?5)
            ON CONFLICT DO UPDATE SET packages = packages + excluded.packages";
        let key = &kind.created_key;
        let values = params![
            self.kind(project, kind)?,
            Span::Day.of(key),
            Span::Hour.of(key),
            Span::Minute.of(key),
            more
        ];
        self.run(sql, values)?;
        Ok(())
    }

    pub(super) fn tallies_since(
        &self,
        (owner, project): (&ProjectId, i64),
        since: Option<Time>,
    ) -> Result<Vec<Tally>> {
        let mut counts = BTreeMap::new();
        let mut add = |tally: Tally| {
            let key = (tally.package_type, tally.actor, tally.status);
            let count: &mut u64 = counts.entry(key).or_default();
            *count = count.saturating_add(tally.packages);
        };
        let mut add = |row: Stored<Tally>| {
            if let Some(tally) = self.keep(row) {
                add(tally);
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
                let key = stamp::key(since);
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
                    Span::Day.of(&key),
                    Span::Hour.of(&key),
                    Span::Day.end(&key),
                    Span::Minute.of(&key),
                    Span::Hour.end(&key),
                ];
                self.each(whole, values, read, &mut add)?;
                let begun = "SELECT package_type, actor_type, actor_id, status, 1 FROM package
                    WHERE project = ?1 AND status = ?2 AND quarantined_at IS NULL
                    AND created_key >= ?3 AND created_key < ?4";
                for status in Status::ALL {
                    let values = params![project, status.as_str(), key, Span::Minute.end(&key)];
                    self.each(begun, values, read, &mut add)?;
                }
            }
        }
        let tally = |((package_type, actor, status), packages)| Tally {
            package_type,
            actor,
            status,
            packages,
        };
        let counts = counts.into_iter().filter(|(_, packages)| *packages > 0);
        Ok(counts.map(tally).collect())
    }

    /// The number of a kind, which is added if it is new.
    fn kind(&self, project: i64, kind: &Kind<'_>) -> Result<i64> {
        let values = params![
            project,
            kind.package_type.as_str(),
            kind.actor.kind.as_str(),
            kind.actor.id.as_str(),
            kind.status.as_str(),
        ];
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
    stored.map_err(|damaged| DamagedRow {
        id: [0, 1, 2, 3].map(|at| row.label(at)).join(" "),
        ..damaged
    })
}

fn tally(row: &Row<'_>) -> Result<Tally> {
    Ok(Tally {
        package_type: row.parsed(0, "a package type", PackageType::parse)?,
        actor: row.actor(1)?,
        status: row.parsed(3, "a status", Status::parse)?,
        packages: row.count(4)?,
    })
}
