//! Packages: their rows, and the derived data that is updated with them.

use std::collections::BTreeMap;

use accord_base::{ProjectId, SessionId};
use accord_contract::time::Time;
use accord_memory_core::PackageId;
use accord_memory_core::deposit::LinkTargets;
use accord_memory_core::package::{Links, PackageType, ReviewType, Significance, Status};
use accord_store::{
    DamagedRow, Drafts, HighlightQuery, PackageIndex, PackageQuery, PackageRow, PackageState,
    PackageWrites, Packages, Quarantine, QuestionQuery, QuestionRow, Result, RevisionRow,
    StoreError, Stored, Table, Tally,
};
use rusqlite::params;

use super::column::Row;
use super::damage::{examine, examine_of};
use super::questions::{Asking, audience};
use super::tallies::Kind;
use super::{Unit, number};
use crate::error::damaged;
use crate::stamp;

/// The columns that [`row`] reads.
macro_rules! columns {
    () => {
        "p.package_id, p.pk, p.created_at, p.actor_type, p.actor_id, p.session_id, p.package_type, \
         p.significance, p.deposited_at, p.deposited_hash, p.quarantined_at, p.quarantine_reason, \
         p.revision, p.status, p.review_type, p.content_hash, p.text, p.created_key"
    };
}

impl Packages for Unit<'_> {
    fn package(&self, project: &ProjectId, package: &PackageId) -> Result<Option<PackageRow>> {
        let Some(pk) = self.find(project)? else {
            return Ok(None);
        };
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM package p WHERE p.package_id = ?1 AND p.project = ?2"
        );
        let found =
            self.one(sql, (package.as_str(), pk), |columns| Ok(stored(columns, project)))?;
        self.refuse_damaged(found)
    }

    fn packages_named(&self, package: &PackageId) -> Result<Vec<PackageRow>> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            ", j.project_id FROM package p JOIN project j ON j.pk = p.project
             WHERE p.package_id = ?1 ORDER BY j.project_id"
        );
        self.many_sound(sql, (package.as_str(),), |columns| {
            examine_of(columns, Table::Package, 18, row)
        })
    }

    fn package_ids(
        &self,
        prefix: &str,
        within: Option<&ProjectId>,
        limit: usize,
    ) -> Result<Vec<(ProjectId, PackageId)>> {
        let project = match within.map(|within| self.find(within)).transpose()? {
            Some(None) => return Ok(Vec::new()),
            found => found.flatten(),
        };
        // The second condition ends the range in the index; the third is exact.
        let sql = "SELECT p.package_id, j.project_id
            FROM package p JOIN project j ON j.pk = p.project
            WHERE p.package_id >= ?1 AND p.package_id < ?1 || char(0x10ffff)
                AND substr(p.package_id, 1, length(?1)) = ?1
                AND (?2 IS NULL OR p.project = ?2)
            ORDER BY p.package_id, j.project_id LIMIT ?3";
        self.many_sound(sql, params![prefix, project, super::limit(limit)], |columns| {
            examine_of(columns, Table::Package, 1, |row, project| Ok((project.clone(), row.id(0)?)))
        })
    }

    fn packages(&self, project: &ProjectId, query: &PackageQuery<'_>) -> Result<Vec<PackageRow>> {
        let Some(pk) = self.find(project)? else {
            return Ok(Vec::new());
        };
        self.fill(query.limit, |limit| {
            let places = self.page(pk, &PackageQuery { limit, ..*query })?;
            self.rows_of(places.into_iter().map(|(_, package)| package), project)
        })
    }

    fn packages_of_session(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<Vec<PackageId>> {
        let Some(pk) = self.find(project)? else {
            return Ok(Vec::new());
        };
        let sql = "SELECT package_id FROM package
            WHERE project = ?1 AND session_id = ?2 AND quarantined_at IS NULL
            ORDER BY created_key, pk";
        self.many_sound(sql, (pk, session.as_str()), |row| {
            examine(row, Table::Package, project, |row, _| row.id(0))
        })
    }

    fn revisions(&self, project: &ProjectId, package: &PackageId) -> Result<Vec<RevisionRow>> {
        let Some(pk) = self.find(project)? else {
            return Ok(Vec::new());
        };
        let sql = "SELECT r.seq, r.text FROM package p JOIN revision r ON r.package = p.pk
            WHERE p.package_id = ?1 AND p.project = ?2 ORDER BY r.seq";
        let found = self.many(sql, (package.as_str(), pk), |columns| {
            let entry = examine(columns, Table::Revision, project, |row, _| {
                Ok(RevisionRow { seq: row.count(0)?, text: row.text(1)? })
            });
            Ok(entry.map_err(|damaged| DamagedRow { id: package.as_str().to_owned(), ..damaged }))
        })?;
        let found = found.into_iter().map(|entry| self.sound(entry));
        found.collect()
    }

    fn tallies(&self, project: &ProjectId, since: Option<Time>) -> Result<Vec<Tally>> {
        match self.find(project)? {
            Some(pk) => self.tallies_since((project, pk), since),
            None => Ok(Vec::new()),
        }
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
        let Some(pk) = self.find(project)? else {
            return Ok(Vec::new());
        };
        self.fill(query.limit, |limit| {
            let places = self.weightiest(pk, &HighlightQuery { limit, ..*query })?;
            self.rows_of(places, project)
        })
    }

    fn questions(
        &self,
        project: &ProjectId,
        query: &QuestionQuery<'_>,
    ) -> Result<Vec<QuestionRow>> {
        match self.find(project)? {
            Some(pk) => self.list_questions((project, pk), query),
            None => Ok(Vec::new()),
        }
    }

    fn superseded(
        &self,
        project: &ProjectId,
        packages: &mut dyn Iterator<Item = &PackageId>,
    ) -> Result<BTreeMap<PackageId, Vec<PackageId>>> {
        self.superseded_of(project, packages)
    }

    fn link_targets(
        &self,
        project: &ProjectId,
        links: &Links,
        drafts: Drafts<'_>,
    ) -> Result<LinkTargets> {
        // No project has the number 0.
        self.targets_of(self.find(project)?.unwrap_or_default(), links, drafts)
    }

    fn open_question_count(&self, project: &ProjectId, since: Option<Time>) -> Result<u64> {
        match self.find(project)? {
            Some(pk) => self.question_count(pk, since),
            None => Ok(0),
        }
    }
}

impl PackageWrites for Unit<'_> {
    fn insert_package(
        &mut self,
        row: &PackageRow,
        index: &PackageIndex,
        log: &[RevisionRow],
    ) -> Result<u64> {
        row.check_log(log)?;
        let project = self.must_find(&row.project_id)?;
        let sql = "INSERT INTO package (project, package_id, created_key, created_at, actor_type,
            actor_id, session_id, package_type, significance, deposited_at, deposited_hash,
            quarantined_at, quarantine_reason, revision, status, review_type, content_hash, text)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                ?17, ?18)";
        let created_key = stamp::key(row.created_at.time());
        let state = &row.state;
        self.run(
            sql,
            params![
                project,
                row.package_id.as_str(),
                created_key,
                row.created_at.as_str(),
                row.actor.kind.as_str(),
                row.actor.id.as_str(),
                row.session_id.as_ref().map(SessionId::as_str),
                row.package_type.as_str(),
                row.significance.number(),
                row.deposited_at.as_str(),
                row.deposited_hash.digest().as_bytes(),
                row.quarantine.as_ref().map(|quarantine| quarantine.at.as_str()),
                row.quarantine.as_ref().map(|quarantine| quarantine.reason.as_str()),
                number(state.revision),
                state.status.as_str(),
                state.review_type.as_str(),
                state.content_hash.digest().as_bytes(),
                state.text,
            ],
        )?;
        let package = self.connection.last_insert_rowid();
        for revision in log {
            self.append_revision(package, revision)?;
        }
        self.index_links(project, package, row, index)?;
        // Quarantined packages are in no count that readers see.
        if row.quarantine.is_none() {
            self.tally(project, &Kind::of(row), 1)?;
        }
        self.run("UPDATE counter SET packages = packages + 1 WHERE project = ?1", (project,))?;
        self.pending.get_mut().insert(project, package, index);
        u64::try_from(package).map_err(|_| damaged("a number"))
    }

    fn move_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        state: &PackageState,
        revisions: &[RevisionRow],
    ) -> Result<()> {
        let (pk, old) = self.must_find_package(project, package)?;
        old.check_move(state, revisions)?;
        let seq = number(old.seq);
        let sql = "UPDATE package SET revision = ?2, status = ?3, review_type = ?4,
            content_hash = ?5, text = ?6 WHERE pk = ?1";
        self.run(
            sql,
            params![
                seq,
                number(state.revision),
                state.status.as_str(),
                state.review_type.as_str(),
                state.content_hash.digest().as_bytes(),
                state.text,
            ],
        )?;
        for revision in revisions {
            self.append_revision(seq, revision)?;
        }
        let new = PackageRow { state: state.clone(), ..old.clone() };
        self.follow(pk, &old, &new)
    }

    fn quarantine_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        quarantine: Option<&Quarantine>,
    ) -> Result<()> {
        let (pk, old) = self.must_find_package(project, package)?;
        let sql = "UPDATE package SET quarantined_at = ?2, quarantine_reason = ?3 WHERE pk = ?1";
        let at = quarantine.map(|quarantine| quarantine.at.as_str());
        let reason = quarantine.map(|quarantine| quarantine.reason.as_str());
        self.run(sql, params![number(old.seq), at, reason])?;
        let mut new = old.clone();
        new.quarantine = quarantine.cloned();
        self.follow(pk, &old, &new)
    }

    fn reindex_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        index: &PackageIndex,
    ) -> Result<()> {
        let (pk, row) = self.must_find_package(project, package)?;
        let seq = number(row.seq);
        self.unlink(pk, seq)?;
        self.take_questions(seq)?;
        self.index_links(pk, seq, &row, index)?;
        self.pending.get_mut().replace(pk, seq, index);
        Ok(())
    }
}

impl Unit<'_> {
    /// The package of a number.
    pub(super) fn numbered(
        &self,
        package: i64,
        project: &ProjectId,
    ) -> Result<Option<Stored<PackageRow>>> {
        let sql = concat!("SELECT ", columns!(), " FROM package p WHERE p.pk = ?1");
        self.one(sql, (package,), |columns| Ok(stored(columns, project)))
    }

    /// The row of a package that an index refers to, if both are undamaged.
    pub(super) fn row_of(&self, package: i64, project: &ProjectId) -> Result<Option<PackageRow>> {
        let found = self.numbered(package, project)?;
        Ok(self.keep(found.unwrap_or_else(|| {
            Err(DamagedRow {
                table: Table::Search,
                project_id: Some(project.clone()),
                id: package.to_string(),
                what: "there is no package of that number".to_owned(),
            })
        })))
    }

    pub(super) fn rows_of(
        &self,
        packages: impl IntoIterator<Item = i64>,
        project: &ProjectId,
    ) -> Result<Vec<Option<PackageRow>>> {
        let rows = packages.into_iter();
        rows.map(|package| self.row_of(package, project)).collect()
    }

    fn must_find_package(
        &self,
        project: &ProjectId,
        package: &PackageId,
    ) -> Result<(i64, PackageRow)> {
        let pk = self.must_find(project)?;
        let found = self.package(project, package)?;
        let row = found.ok_or_else(|| StoreError::conflict("no package", package.as_str()))?;
        Ok((pk, row))
    }

    fn append_revision(&self, package: i64, revision: &RevisionRow) -> Result<()> {
        let sql = "INSERT INTO revision (package, seq, text) VALUES (?1, ?2, ?3)";
        self.run(sql, params![package, number(revision.seq), revision.text])?;
        Ok(())
    }

    /// Adds the questions and the links of a package.
    pub(super) fn index_links(
        &self,
        project: i64,
        package: i64,
        row: &PackageRow,
        index: &PackageIndex,
    ) -> Result<()> {
        self.link(project, package, row, index.links())?;
        if !index.open_questions().is_empty() {
            let standing = self.standing(row, package)?;
            self.ask(&Asking::of(project, package, row, &standing), index.open_questions())?;
        }
        // Answers that name this package may have been stored before it.
        self.resolve(project, row.package_id.as_str())
    }

    /// Updates counts, questions and links after the state of a package changed.
    fn follow(&self, project: i64, old: &PackageRow, new: &PackageRow) -> Result<()> {
        if old.quarantine.is_none() {
            self.tally(project, &Kind::of(old), -1)?;
        }
        if new.quarantine.is_none() {
            self.tally(project, &Kind::of(new), 1)?;
        }
        let package = number(old.seq);
        self.update_links(project, package, new)?;
        // Questions are stored per audience. They move when the package becomes visible to others,
        // for example when a draft is completed.
        if audience(old) == audience(new) {
            return Ok(());
        }
        let questions = self.take_questions(package)?;
        let standing = self.standing(new, package)?;
        self.ask(&Asking::of(project, package, new, &standing), &questions)
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
        deposited_at: columns.time(8)?,
        deposited_hash: columns.hash(9)?,
        quarantine: quarantined_at.map(|at| Quarantine { at, reason }),
        state: PackageState {
            revision: columns.count(12)?,
            status: columns.parsed(13, "a status", Status::parse)?,
            review_type: columns.parsed(14, "a review type", ReviewType::parse)?,
            content_hash: columns.hash(15)?,
            text: columns.text(16)?,
        },
    })
}
