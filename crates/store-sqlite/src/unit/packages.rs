//! Packages: their rows, and the derived data that is updated with them.

use std::collections::BTreeMap;

use accord_base::{ProjectId, SessionId};
use accord_contract::Time;
use accord_memory_core::PackageId;
use accord_memory_core::bundle::Outline;
use accord_memory_core::deposit::LinkTargets;
use accord_memory_core::package::{Links, PackageType, ReviewType, Significance, Status};
use accord_store::{
    DamagedRow, Drafts, HighlightQuery, PackageQuery, PackageRow, PackageState, Packages,
    Quarantine, QuestionQuery, QuestionRow, Result, RevisionRow, Stored, Table, Tally, derived,
    fill,
};
use rusqlite::params;

use super::Unit;
use super::column::Row;
use super::damage::{examine, examine_of};
use crate::error::damaged;

/// The columns that [`row`] reads.
macro_rules! select {
    ($rest:literal) => {
        select!("p.rank, p.hands_over, p.parent_id, p.has_note", $rest)
    };
    ($outline:literal, $rest:literal) => {
        concat!(
            "SELECT p.package_id, p.pk, p.created_at, p.actor_type, p.actor_id, p.session_id, \
         p.package_type, p.significance, p.deposited_at, p.deposited_hash, p.quarantined_at, \
         p.quarantine_reason, \
         p.revision, p.status, p.review_type, p.content_hash, p.text, p.created_key, ",
            $outline,
            $rest
        )
    };
}

impl Packages for Unit<'_> {
    fn package(&self, project: &ProjectId, package: &PackageId) -> Result<Option<PackageRow>> {
        let pk = self.or_none(project)?;
        let sql = select!(" FROM package p WHERE p.package_id = ?1 AND p.project = ?2");
        self.one_sound(sql, (package.as_str(), pk), |columns| stored(columns, project))
    }

    fn packages_named(&self, package: &PackageId) -> Result<Vec<PackageRow>> {
        let sql = select!(
            ", j.project_id FROM package p JOIN project j ON j.pk = p.project
             WHERE p.package_id = ?1 ORDER BY j.project_id"
        );
        self.many_sound(sql, (package.as_str(),), |columns| {
            examine_of(columns, Table::Package, 22, row)
        })
    }

    fn package_ids(
        &self,
        prefix: &str,
        within: Option<&ProjectId>,
        limit: usize,
    ) -> Result<Vec<(ProjectId, PackageId)>> {
        // The second condition ends the range in the index; the third is exact.
        let sql = "SELECT p.package_id, j.project_id
            FROM package p JOIN project j ON j.pk = p.project
            WHERE p.package_id >= ?1 AND p.package_id < ?1 || char(0x10ffff)
                AND substr(p.package_id, 1, length(?1)) = ?1
                AND (?2 IS NULL OR p.project = ?2)
            ORDER BY p.package_id, j.project_id LIMIT ?3";
        self.ids_with(Table::Package, sql, prefix, within, limit)
    }

    fn packages(&self, project: &ProjectId, query: &PackageQuery<'_>) -> Result<Vec<PackageRow>> {
        let pk = self.or_none(project)?;
        fill(query.limit, |limit| {
            let places = self.page(pk, &PackageQuery { limit, ..*query })?;
            self.rows_of(places.into_iter().map(|(_, package)| package), project)
        })
    }

    fn packages_of_session(&self, of: &ProjectId, session: &SessionId) -> Result<Vec<PackageId>> {
        let pk = self.or_none(of)?;
        let sql = "SELECT package_id FROM package
            WHERE project = ?1 AND session_id = ?2 AND quarantined_at IS NULL
            ORDER BY created_key, pk";
        self.many_sound(sql, (pk, session.as_str()), |row| {
            examine(row, Table::Package, of, |row, _| row.id(0))
        })
    }

    fn revisions(&self, project: &ProjectId, package: &PackageId) -> Result<Vec<RevisionRow>> {
        let pk = self.or_none(project)?;
        let sql = "SELECT r.seq, r.text FROM package p JOIN revision r ON r.package = p.pk
            WHERE p.package_id = ?1 AND p.project = ?2 ORDER BY r.seq";
        let found = self.many(sql, (package.as_str(), pk), |columns| {
            let entry = examine(columns, Table::Revision, project, |row, _| {
                Ok(RevisionRow { seq: row.count(0)?, text: row.text(1)? })
            });
            Ok(entry.map_err(|damaged| DamagedRow { id: package.as_str().to_owned(), ..damaged }))
        })?;
        found.into_iter().map(|entry| self.sound(entry)).collect()
    }

    fn tallies(&self, project: &ProjectId, since: Option<Time>) -> Result<Vec<Tally>> {
        self.tallies_since((project, self.or_none(project)?), since)
    }

    fn package_count(&self, project: &ProjectId, status: Status) -> Result<u64> {
        let sql = "SELECT CAST(total(t.packages) AS INTEGER)
            FROM project j JOIN kind k ON k.project = j.pk
            JOIN tally t ON t.kind = k.pk AND t.unit = 'day'
            WHERE j.project_id = ?1 AND k.status = ?2";
        let count = self.many_sound(sql, (project.as_str(), status.as_str()), |row| {
            let counted = examine(row, Table::Tally, project, |row, _| row.count(0));
            counted.map_err(|damaged| DamagedRow { id: status.as_str().to_owned(), ..damaged })
        })?;
        Ok(count.into_iter().sum())
    }

    fn highlights(&self, project: &ProjectId, query: &HighlightQuery) -> Result<Vec<PackageRow>> {
        let pk = self.or_none(project)?;
        fill(query.limit, |limit| {
            let places = self.weightiest(pk, &HighlightQuery { limit, ..*query })?;
            self.rows_of(places, project)
        })
    }

    fn questions(&self, of: &ProjectId, query: &QuestionQuery<'_>) -> Result<Vec<QuestionRow>> {
        derived::list_questions(self, of, query)
    }

    fn superseded(
        &self,
        project: &ProjectId,
        packages: &mut dyn Iterator<Item = &PackageId>,
    ) -> Result<BTreeMap<PackageId, Vec<PackageId>>> {
        self.superseded_of(project, packages)
    }

    fn link_targets(&self, of: &ProjectId, links: &Links, with: Drafts<'_>) -> Result<LinkTargets> {
        derived::link_targets(self, of, links, with)
    }

    fn open_question_count(&self, project: &ProjectId, since: Option<Time>) -> Result<u64> {
        self.question_count(self.or_none(project)?, since)
    }
}

impl Unit<'_> {
    /// The ids that begin with a prefix, each with its project.
    pub(super) fn ids_with<T: std::str::FromStr>(
        &self,
        table: Table,
        sql: &str,
        prefix: &str,
        within: Option<&ProjectId>,
        limit: usize,
    ) -> Result<Vec<(ProjectId, T)>> {
        let project = within.map(|within| self.or_none(within)).transpose()?;
        self.many_sound(sql, params![prefix, project, super::limit(limit)], |columns| {
            examine_of(columns, table, 1, |row, project| Ok((project.clone(), row.id(0)?)))
        })
    }

    pub(super) fn numbered(&self, at: i64, of: &ProjectId) -> Result<Option<Stored<PackageRow>>> {
        let sql = select!(" FROM package p WHERE p.pk = ?1");
        self.one(sql, (at,), |columns| Ok(stored(columns, of)))
    }

    /// The same in a store before format 5, whose packages have no outline.
    pub(super) fn numbered_before_5(
        &self,
        at: i64,
        of: &ProjectId,
    ) -> Result<Option<Stored<PackageRow>>> {
        let sql = select!("0, 0, NULL, 0", " FROM package p WHERE p.pk = ?1");
        self.one(sql, (at,), |columns| Ok(stored(columns, of)))
    }

    /// The row of a package that an index refers to, if both are undamaged.
    pub(super) fn row_of(&self, package: i64, project: &ProjectId) -> Result<Option<PackageRow>> {
        let found = self.numbered(package, project)?;
        let (table, project_id) = (Table::Search, Some(project.clone()));
        let what = "there is no package of that number".to_owned();
        let missing = || Err(DamagedRow { table, project_id, id: package.to_string(), what });
        Ok(self.keep(found.unwrap_or_else(missing)))
    }

    pub(super) fn rows_of(
        &self,
        packages: impl IntoIterator<Item = i64>,
        project: &ProjectId,
    ) -> Result<Vec<Option<PackageRow>>> {
        packages.into_iter().map(|package| self.row_of(package, project)).collect()
    }
}

fn stored(columns: &Row<'_>, project: &ProjectId) -> Stored<PackageRow> {
    examine(columns, Table::Package, project, row)
}

fn row(columns: &Row<'_>, project: &ProjectId) -> Result<PackageRow> {
    let created_at = columns.time(2)?;
    columns.stands_at(17, created_at.time())?;
    let quarantined_at = columns.optional_time(10)?;
    let reason = columns.optional_text(11)?.unwrap_or_default();
    let significance = Significance::new(columns.count(7)?);
    Ok(PackageRow {
        project_id: project.clone(),
        package_id: columns.id(0)?,
        seq: columns.count(1)?,
        created_at,
        actor: columns.actor(3)?,
        session_id: columns.optional_id(5)?,
        package_type: columns.parsed(6, "a package type", PackageType::parse)?,
        significance: significance.ok_or_else(|| damaged("a significance"))?,
        outline: Outline {
            rank: u8::try_from(columns.integer(18)?).map_err(|_| damaged("a rank"))?,
            hands_over: columns.integer(19)? == 1,
            parent: columns.optional_id(20)?,
        },
        deposited_at: columns.time(8)?,
        deposited_hash: columns.hash(9)?,
        quarantine: quarantined_at.map(|at| Quarantine { at, reason }),
        state: PackageState {
            revision: columns.count(12)?,
            status: columns.parsed(13, "a status", Status::parse)?,
            review_type: columns.parsed(14, "a review type", ReviewType::parse)?,
            has_note: columns.integer(21)? == 1,
            content_hash: columns.hash(15)?,
            text: columns.text(16)?,
        },
    })
}
