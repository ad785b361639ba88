//! Compares derived data with its source.

use std::collections::BTreeSet;

use accord_memory_core::package::{QuestionKey, Status};
use accord_store::{DamagedRow, PackageIndex, PackageRow, Result, Table};
use rusqlite::params;

use super::questions::{ALL_READERS, NewestUse, audience, digest};
use super::sources;
use super::{Unit, limit, number};
use crate::stamp::{self, Span};

/// How many differences of one kind are reported. With more, the problem is not single rows.
const NAMED: usize = 1_000;

/// How many terms of a package are looked up in the index. All of them would take too long.
const LOOKED_UP: usize = 8;

/// The `ask_key` of questions that were stored in format 1.
const ASKED_IN_FORMAT_1: &str = "0";

/// The table, the id of the row, and what is wrong with it.
pub(super) type Wrong = (Table, String, String);

impl Unit<'_> {
    /// Whether the stored questions of a package are those in its text.
    pub(super) fn asks(
        &self,
        project: i64,
        row: &PackageRow,
        index: &PackageIndex,
    ) -> Result<bool> {
        let sql = "SELECT q.text, q.audience, q.project, u.asked_key, u.package_id, u.ask_key
            FROM question_use u JOIN question q ON q.pk = u.question
            WHERE u.package = ?1 ORDER BY u.ordinal";
        let kept = self.many(sql, (number(row.seq),), |row| {
            let question = (row.label(0), row.label(1), row.integer(2)?, row.label(3));
            Ok((question, row.label(4), row.label(5)))
        })?;
        let (audience, key) = (audience(row), stamp::key(row.created_at.time()));
        let mut given = BTreeSet::new();
        // A question that is asked twice has the position of the first time.
        let asked =
            index.open_questions().iter().filter(|question| given.insert(question.text.as_str()));
        let asked: Vec<_> = asked
            .map(|question| (question.text.clone(), audience.clone(), project, key.clone()))
            .collect();
        if asked.is_empty() {
            return Ok(kept.is_empty());
        }
        let ask_key = stamp::key(self.standing(row, number(row.seq))?.asked_at);
        Ok(asked.len() == kept.len()
            && asked.into_iter().zip(kept).all(|(asked, (question, package_id, kept_key))| {
                asked == question
                    && package_id == row.package_id.as_str()
                    && (kept_key == ask_key || kept_key == ASKED_IN_FORMAT_1)
            }))
    }

    /// What is wrong with the terms of a package in the index: it must have as many in every part
    /// as its text, and some of them are looked up.
    pub(super) fn wrong_terms(
        &self,
        project: i64,
        row: &PackageRow,
        index: &PackageIndex,
    ) -> Result<Option<&'static str>> {
        let package = number(row.seq);
        let Some(lengths) = self.lengths_of(package)? else {
            return Ok(Some("the package is not in the search index"));
        };
        let parts = index.terms().each_ref();
        let counted = parts.map(|terms| terms.split_terminator(' ').count() as u64);
        let all: BTreeSet<&str> =
            parts.into_iter().flat_map(|terms| terms.split_terminator(' ')).collect();
        let some = all.iter().step_by(all.len() / LOOKED_UP + 1);
        let lookup: Vec<String> = some.map(|term| format!("\"{project}:{term}\"")).collect();
        // Without an operator between them, SQLite looks for rows that have all of them.
        let sql = "SELECT 1 FROM package_terms WHERE package_terms MATCH ?1 AND rowid = ?2";
        let is_found = lookup.is_empty()
            || self.one(sql, params![lookup.join(" "), package], |row| row.integer(0))?.is_some();
        let is_right = lengths == counted && is_found;
        Ok((!is_right).then_some("the search index has other words of the package than its text"))
    }

    /// Entries of the index of terms that belong to no package.
    pub(super) fn stray_terms(&self) -> Result<Vec<DamagedRow>> {
        let sql = "SELECT id FROM package_terms_docsize d
            WHERE NOT EXISTS (SELECT 1 FROM package p WHERE p.pk = d.id) LIMIT ?1";
        self.many(sql, (limit(NAMED),), |row| {
            Ok(DamagedRow {
                table: Table::Search,
                project_id: None,
                id: row.label(0),
                what: "it belongs to no package".to_owned(),
            })
        })
    }

    pub(super) fn wrong_counters(&self, project: i64) -> Result<Vec<Wrong>> {
        let sql = "SELECT c.packages, c.newest_event, c.oldest_event,
            (SELECT count(*) FROM package WHERE project = ?1 AND quarantined_at IS NULL)
            + (SELECT count(*) FROM package WHERE project = ?1 AND quarantined_at IS NOT NULL),
            coalesce((SELECT max(seq) FROM event WHERE project = ?1), 0),
            coalesce((SELECT min(seq) FROM event WHERE project = ?1), c.oldest_event)
            FROM counter c WHERE c.project = ?1";
        let counted = self.one(sql, (project,), |row| {
            let mut found = [0; 6];
            for (at, number) in found.iter_mut().enumerate() {
                *number = row.integer(at)?;
            }
            Ok(found)
        })?;
        let wrong = |name: &str, what: String| (Table::Counter, name.to_owned(), what);
        let Some([packages, newest, oldest, there, last, first]) = counted else {
            return Ok(vec![wrong("counter", "it is missing".to_owned())]);
        };
        let mut found = Vec::new();
        if packages != there {
            let what = format!("it has {packages} packages, and there are {there}");
            found.push(wrong("packages", what));
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
        let statuses: Vec<_> =
            (Status::ALL.iter()).map(|status| format!("'{}'", status.as_str())).collect();
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

    /// Finds questions whose stored newest packages or answers are wrong.
    pub(super) fn wrong_questions(&self, project: i64) -> Result<Vec<Wrong>> {
        let sql = "SELECT pk, digest, text, asked_key, package, ordinal, sources, open, folded
            FROM question WHERE project = ?1";
        let mut found = Vec::new();
        let mut check = |row: &super::column::Row<'_>| {
            let (question, text) = (row.integer(0)?, row.label(2));
            let key = QuestionKey::of(&text);
            let through = self.answered_through(project, &key)?;
            let mut uses = self.newest_uses(question, &through)?;
            let is_open = !uses.is_empty();
            if !is_open {
                uses = self.newest_uses(question, "")?;
            }
            let newest = uses.first().map(|newest| (&newest.key, newest.package, newest.ordinal));
            let kept = (row.label(3), row.integer(4)?, row.integer(5)?);
            let what = if newest.is_none() {
                "no package asks it"
            } else if newest != Some((&kept.0, kept.1, kept.2))
                || sources::write(uses.iter().map(NewestUse::source)) != row.label(6)
            {
                "its newest packages are others"
            } else if (row.integer(7)? == 1) != is_open {
                if is_open { "it has no answer" } else { "it has an answer" }
            } else if row.integer(1)? != digest(&text)
                || row.digest(8).ok().as_ref() != Some(key.digest())
            {
                "it cannot be found by its text"
            } else {
                return Ok(());
            };
            found.push((Table::Question, text, what.to_owned()));
            Ok(())
        };
        self.each(sql, (project,), &mut check, |()| true)?;
        found.truncate(NAMED);
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
