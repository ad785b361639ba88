//! The rows of what packages answer and supersede.

use std::collections::BTreeMap;

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use accord_memory_core::package::{Links, QuestionKey};
use accord_store::derived::{AnswerRow, LinkRows, SupersessionRow, add_links};
use accord_store::{MAX_SOURCES, Result};
use rusqlite::params;

use super::column::Row;
use super::{Unit, limit};

/// The columns that [`answer`] reads.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT package, ordinal, asked_id, asked_index, question, asked_key, until, through",
            $rest
        )
    };
}

/// The packages `b` that supersede the package `t`, as `Side::supersedes` decides it.
macro_rules! superseding {
    () => {
        "supersession s JOIN package b ON b.pk = s.package
         WHERE s.project = t.project AND s.target = t.package_id AND s.holds = 1
         AND (s.outranks OR t.actor_type <> 'human')
         AND NOT ((b.created_key, b.package_id) < (t.created_key, t.package_id)
            AND EXISTS (SELECT 1 FROM supersession m
                WHERE m.package = t.pk AND m.target = b.package_id AND m.holds = 1
                AND (m.outranks OR b.actor_type <> 'human')))"
    };
}
pub(super) use superseding;

impl LinkRows for Unit<'_> {
    fn put_answer(&mut self, project: &ProjectId, answer: &AnswerRow) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO answer (project, package, ordinal, asked_id, asked_index,
            question, asked_key, until, through) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let AnswerRow { package, ordinal, asked, question, asked_key, until, through } = answer;
        let (id, index) = asked.as_ref().map(|(id, index)| (id, index)).unzip();
        let question = question.as_ref().map(|key| key.digest().as_bytes());
        let project = self.must_find(project)?;
        let asked =
            params![project, package, ordinal, id, index, question, asked_key, until, through];
        self.write(sql, asked)
    }

    fn put_supersession(&mut self, project: &ProjectId, row: &SupersessionRow) -> Result<()> {
        let sql = "INSERT INTO supersession (project, package, target, holds, outranks)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET holds = excluded.holds, outranks = excluded.outranks";
        let SupersessionRow { package, target, holds, outranks } = row;
        self.write(sql, params![self.must_find(project)?, package, target, holds, outranks])
    }

    fn delete_links(&mut self, package: i64) -> Result<()> {
        self.run("DELETE FROM answer WHERE package = ?1", (package,))?;
        self.write("DELETE FROM supersession WHERE package = ?1", (package,))
    }

    fn answers_of(&self, package: i64) -> Result<Vec<Option<AnswerRow>>> {
        let sql = select!(" FROM answer WHERE package = ?1 ORDER BY ordinal");
        self.many(sql, (package,), |row| Ok(answer(row).ok()))
    }

    fn supersessions_of(&self, package: i64) -> Result<Vec<SupersessionRow>> {
        let sql = "SELECT target, holds, outranks FROM supersession WHERE package = ?1";
        self.many(sql, (package,), |row| {
            let (holds, outranks) = (row.integer(1)? == 1, row.integer(2)? == 1);
            Ok(SupersessionRow { package, target: row.label(0), holds, outranks })
        })
    }

    fn answers_naming(&self, project: &ProjectId, package_id: &str) -> Result<Vec<AnswerRow>> {
        let sql = select!(" FROM answer WHERE project = ?1 AND asked_id = ?2");
        self.many(sql, (self.or_none(project)?, package_id), answer)
    }

    fn answered_through(&self, project: &ProjectId, question: &QuestionKey) -> Result<String> {
        let sql = "SELECT coalesce(max(through), '') FROM answer
            WHERE project = ?1 AND question = ?2";
        let values = params![self.or_none(project)?, question.digest().as_bytes()];
        Ok(self.one(sql, values, |row| row.text(0))?.unwrap_or_default())
    }

    fn answers_to(&self, project: &ProjectId, question: &QuestionKey) -> Result<Vec<PackageId>> {
        let sql = "SELECT p.package_id FROM answer a JOIN package p ON p.pk = a.package
            WHERE a.project = ?1 AND a.question = ?2 AND a.through <> ''
            GROUP BY a.package ORDER BY max(a.through) DESC, p.created_key DESC, p.pk DESC
            LIMIT ?3";
        let project = self.or_none(project)?;
        let values = params![project, question.digest().as_bytes(), limit(MAX_SOURCES)];
        let ids = self.many(sql, values, |row| Ok(row.id(0).ok()))?;
        // A package with an unreadable id is reported by a verification.
        Ok(ids.into_iter().flatten().collect())
    }
}

impl Unit<'_> {
    /// Those of the packages that are superseded, and by which.
    pub(super) fn superseded_of(
        &self,
        project: &ProjectId,
        packages: &mut dyn Iterator<Item = &PackageId>,
    ) -> Result<BTreeMap<PackageId, Vec<PackageId>>> {
        let mut marks = BTreeMap::new();
        let pk = self.or_none(project)?;
        let sql = concat!(
            "SELECT b.package_id FROM package t JOIN ",
            superseding!(),
            " AND t.package_id = ?1 AND t.project = ?2
             ORDER BY b.created_key DESC, b.pk DESC LIMIT ?3"
        );
        for id in packages {
            let values = params![id.as_str(), pk, limit(MAX_SOURCES)];
            let by = self.many(sql, values, |row| Ok(row.id(0).ok()))?;
            // A package with an unreadable id is reported by a verification.
            let by: Vec<PackageId> = by.into_iter().flatten().collect();
            if !by.is_empty() {
                marks.insert(id.clone(), by);
            }
        }
        Ok(marks)
    }

    /// Adds the links of packages that were stored in format 1, which had no rows for them.
    pub(crate) fn link_stored(&mut self) -> Result<()> {
        // There are many packages and few links: one pass in the order of the table, without
        // look-ups. The words may be anywhere in the text; only texts with them are parsed.
        let sql = "SELECT pk, text FROM package NOT INDEXED";
        let found = self.many(sql, (), |row| {
            let has_links = row.has_text(1, &["x-answers", "x-supersedes"]);
            has_links.then(|| row.integer(0)).transpose()
        })?;
        let sql =
            "SELECT project_id FROM project WHERE pk = (SELECT project FROM package WHERE pk = ?1)";
        for package in found.into_iter().flatten() {
            let project = self.one(sql, (package,), |row| row.id(0));
            // A damaged row is left to a verification.
            if let Ok(Some(project)) = project
                && let Some(Ok(row)) = self.numbered_before_5(package, &project)?
            {
                add_links(self, package, &row, &Links::read(&row.state.text))?;
            }
        }
        Ok(())
    }
}

fn answer(row: &Row<'_>) -> Result<AnswerRow> {
    let index = || row.integer(3);
    let asked = row.optional_text(2)?.map(|id| index().map(|index| (id, index))).transpose()?;
    Ok(AnswerRow {
        package: row.integer(0)?,
        ordinal: row.integer(1)?,
        asked,
        question: row.optional_digest(4)?.map(QuestionKey::from),
        asked_key: row.text(5)?,
        until: row.text(6)?,
        through: row.text(7)?,
    })
}
