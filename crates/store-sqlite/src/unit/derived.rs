//! Compares derived data with its source.

use accord_memory_core::package::Status;
use accord_store::derived::ALL_READERS;
use accord_store::time_key::Span;
use accord_store::{DamagedRow, Result, Table};
use rusqlite::params;

use super::{Unit, limit, number};

/// How many differences of one kind are reported. With more, the problem is not single rows.
const NAMED: usize = 1_000;

/// The table, the id of the row, and what is wrong with it.
pub(super) type Wrong = (Table, String, String);

impl Unit<'_> {
    /// Entries of the index of terms that belong to no package.
    pub(super) fn stray_terms(&self) -> Result<Vec<DamagedRow>> {
        let sql = "SELECT id FROM package_terms_docsize d
            WHERE NOT EXISTS (SELECT 1 FROM package p WHERE p.pk = d.id) LIMIT ?1";
        self.many(sql, (limit(NAMED),), |row| {
            let what = "it belongs to no package".to_owned();
            Ok(DamagedRow { table: Table::Search, project_id: None, id: row.label(0), what })
        })
    }

    pub(super) fn wrong_counters(&self, project: i64) -> Result<Vec<Wrong>> {
        let sql = "SELECT c.packages, c.newest_event, c.oldest_event, c.terms,
            (SELECT count(*) FROM package WHERE project = ?1 AND quarantined_at IS NULL)
            + (SELECT count(*) FROM package WHERE project = ?1 AND quarantined_at IS NOT NULL),
            coalesce((SELECT max(seq) FROM event WHERE project = ?1), 0),
            coalesce((SELECT min(seq) FROM event WHERE project = ?1), c.oldest_event)
            FROM counter c WHERE c.project = ?1";
        let counted = self.one(sql, (project,), |row| {
            let mut found = [0; 7];
            for (at, number) in found.iter_mut().enumerate() {
                *number = row.integer(at)?;
            }
            Ok(found)
        })?;
        let wrong = |name: &str, what: String| (Table::Counter, name.to_owned(), what);
        let Some([packages, newest, oldest, terms, there, last, first]) = counted else {
            return Ok(vec![wrong("counter", "it is missing".to_owned())]);
        };
        let mut found = Vec::new();
        if packages != there {
            let what = format!("it has {packages} packages, and there are {there}");
            found.push(wrong("packages", what));
        }
        match self.terms_of(project) {
            Ok(indexed) if number(indexed) != terms => {
                let what = format!("it has {terms} terms, and the index has {indexed}");
                found.push(wrong("terms", what));
            }
            // An unreadable entry of the index is reported with its package.
            Ok(_) | Err(_) => {}
        }
        // All events may have been trimmed, so the counter may be ahead of the rows, never behind.
        if newest < last {
            let what = format!("its newest event is {newest}, and there is {last}");
            found.push(wrong("newest_event", what));
        }
        if oldest > first || oldest < 1 {
            let what = format!("its oldest event is {oldest}, and there is {first}");
            found.push(wrong("oldest_event", what));
        }
        Ok(found)
    }

    /// Compares the counts of packages day by day, to have only one day in memory.
    pub(super) fn wrong_tallies(&self, project: i64) -> Result<Vec<Wrong>> {
        let days = "SELECT substr(t.span, 1, 10) FROM kind k JOIN tally t ON t.kind = k.pk
            WHERE k.project = ?1
            UNION SELECT substr(created_key, 1, 10) FROM package
            WHERE project = ?1 AND quarantined_at IS NULL ORDER BY 1";
        let days = self.many(days, (project,), |row| Ok(row.label(0)))?;
        let statuses = Status::ALL.iter().map(|status| format!("'{}'", status.as_str()));
        let statuses: Vec<String> = statuses.collect();
        let of_day = |unit: &str, length: usize| {
            format!(
                "SELECT package_type, actor_type, actor_id, status, '{unit}' AS unit,
                    substr(created_key, 1, {length}) AS span, count(*) AS there, 0 AS kept
                 FROM package WHERE project = ?1 AND quarantined_at IS NULL
                    AND status IN ({}) AND created_key >= ?2 AND created_key < ?3
                 GROUP BY 1, 2, 3, 4, 6",
                statuses.join(", ")
            )
        };
        let sql = format!(
            "SELECT package_type || ' ' || actor_type || ' ' || actor_id || ' ' || status
                || ' ' || unit || ' ' || span, total(there), total(kept)
             FROM ({} UNION ALL {} UNION ALL {} UNION ALL
                SELECT k.package_type, k.actor_type, k.actor_id, k.status, t.unit, t.span, 0,
                t.packages
                FROM kind k JOIN tally t ON t.kind = k.pk
                WHERE k.project = ?1 AND t.unit IN ('day', 'hour', 'minute')
                    AND t.span >= ?2 AND t.span < ?3)
             GROUP BY package_type, actor_type, actor_id, status, unit, span
             HAVING total(there) <> total(kept)",
            of_day("day", 10),
            of_day("hour", 13),
            of_day("minute", 16)
        );
        let mut found = Vec::new();
        for day in days {
            if found.len() >= NAMED {
                break;
            }
            let values = params![project, day, Span::Day.end(&day)];
            found.extend(self.many(&sql, values, |row| {
                let (there, kept) = (row.real(1)?, row.real(2)?);
                let what = format!("it has {kept}, and there are {there}");
                Ok((Table::Tally, row.label(0), what))
            })?);
        }
        let strange = "SELECT k.pk || ' ' || t.unit || ' ' || t.span
            FROM kind k JOIN tally t ON t.kind = k.pk
            WHERE k.project = ?1 AND t.unit NOT IN ('day', 'hour', 'minute')";
        found.extend(self.many(strange, (project,), |row| {
            let what = "it does not count a span of time".to_owned();
            Ok((Table::Tally, row.label(0), what))
        })?);
        Ok(found)
    }

    pub(super) fn wrong_question_tallies(&self, project: i64) -> Result<Vec<Wrong>> {
        let sql = "SELECT hour, total(there), total(kept) FROM (
                SELECT substr(asked_key, 1, 13) AS hour, count(*) AS there, 0 AS kept FROM question
                WHERE project = ?1 AND audience = ?2 AND open = 1 GROUP BY 1
                UNION ALL
                SELECT hour, 0, questions FROM question_tally WHERE project = ?1)
            GROUP BY hour HAVING total(there) <> total(kept) LIMIT ?3";
        self.many(sql, params![project, ALL_READERS, limit(NAMED)], |row| {
            let (there, kept) = (row.real(1)?, row.real(2)?);
            let what = format!("it has {kept} open questions, and there are {there}");
            Ok((Table::Tally, format!("questions {}", row.label(0)), what))
        })
    }
}
