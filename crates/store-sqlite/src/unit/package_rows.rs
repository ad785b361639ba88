//! Writes the rows of packages, their counts and their terms.

use accord_base::{ProjectId, SessionId};
use accord_memory_core::PackageId;
use accord_memory_core::package::Status;
use accord_store::derived::{PackageRows, TallyChange, TermSample};
use accord_store::{
    DamagedRow, PackageIndex, PackageRow, PackageState, Quarantine, Result, RevisionRow,
    StoreErrorKind, time_key,
};
use rusqlite::params;

use super::{Unit, number};

/// The columns of a package but its text, after the number by which it is found.
macro_rules! values {
    ($number:expr, $row:expr $(, $text:expr)?) => {
        params![
            $number,
            $row.package_id.as_str(),
                time_key::of($row.created_at.time()),
            $row.created_at.as_str(),
            $row.actor.kind.as_str(),
            $row.actor.id.as_str(),
            $row.session_id.as_ref().map(SessionId::as_str),
            $row.package_type.as_str(),
            $row.significance.number(),
            $row.deposited_at.as_str(),
            $row.deposited_hash.digest().as_bytes(),
            $row.quarantine.as_ref().map(|quarantine| quarantine.at.as_str()),
            $row.quarantine.as_ref().map(|quarantine| quarantine.reason.as_str()),
            number($row.state.revision),
            $row.state.status.as_str(),
            $row.state.review_type.as_str(),
            $row.state.content_hash.digest().as_bytes(),
            $row.outline.rank,
            $row.outline.hands_over,
            $row.outline.parent.as_ref().map(PackageId::as_str),
            $row.state.has_note,
            $($text,)?
        ]
    };
}

impl PackageRows for Unit<'_> {
    fn note_damage(&self, row: DamagedRow) {
        self.met.borrow_mut().insert(row);
    }

    fn add_package(&mut self, row: &PackageRow, log: &[RevisionRow]) -> Result<i64> {
        let project = self.must_find(&row.project_id)?;
        let sql = "INSERT INTO package (project, package_id, created_key, created_at, actor_type,
            actor_id, session_id, package_type, significance, deposited_at, deposited_hash,
            quarantined_at, quarantine_reason, revision, status, review_type, content_hash,
            rank, hands_over, parent_id, has_note, text)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                ?17, ?18, ?19, ?20, ?21, ?22)";
        self.run(sql, values!(project, row, row.state.text))?;
        let package = self.connection.last_insert_rowid();
        self.append_revisions(package, log)?;
        let is_reviewed =
            matches!(row.state.status, Status::AwaitingReview | Status::RevisionRequested);
        if is_reviewed || row.quarantine.is_some() {
            self.touch_package(package);
        }
        self.run("UPDATE counter SET packages = packages + 1 WHERE project = ?1", (project,))?;
        Ok(package)
    }

    fn set_package_state(
        &mut self,
        package: i64,
        state: &PackageState,
        revisions: &[RevisionRow],
    ) -> Result<()> {
        let sql = "UPDATE package SET revision = ?2, status = ?3, review_type = ?4,
            content_hash = ?5, has_note = ?6, text = ?7 WHERE pk = ?1";
        let (revision, hash) = (number(state.revision), state.content_hash.digest().as_bytes());
        let (status, review) = (state.status.as_str(), state.review_type.as_str());
        let note = state.has_note;
        self.run(sql, params![package, revision, status, review, hash, note, state.text])?;
        self.touch_package(package);
        self.append_revisions(package, revisions)
    }

    fn set_quarantine(&mut self, package: i64, quarantine: Option<&Quarantine>) -> Result<()> {
        let sql = "UPDATE package SET quarantined_at = ?2, quarantine_reason = ?3 WHERE pk = ?1";
        self.touch_package(package);
        let (at, reason) = quarantine.map(|held| (held.at.as_str(), &held.reason)).unzip();
        self.write(sql, params![package, at, reason])
    }

    fn rewrite_package(&mut self, package: i64, row: &PackageRow) -> Result<bool> {
        let sql = "UPDATE package SET package_id = ?2, created_key = ?3, created_at = ?4,
            actor_type = ?5, actor_id = ?6, session_id = ?7, package_type = ?8, significance = ?9,
            deposited_at = ?10, deposited_hash = ?11, quarantined_at = ?12, quarantine_reason = ?13,
            revision = ?14, status = ?15, review_type = ?16, content_hash = ?17,
            rank = ?18, hands_over = ?19, parent_id = ?20, has_note = ?21 WHERE pk = ?1";
        self.touch_package(package);
        match self.run(sql, values!(package, row)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == StoreErrorKind::Conflict => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn log_texts(&self, package: i64) -> Result<Vec<String>> {
        let sql = "SELECT text FROM revision WHERE package = ?1 ORDER BY seq";
        self.many(sql, (package,), |row| Ok(row.text(0).unwrap_or_default()))
    }

    fn count_packages(&mut self, project: &ProjectId, change: &TallyChange<'_>) -> Result<()> {
        self.tally(self.must_find(project)?, change)
    }

    fn count_open_questions(&mut self, project: &ProjectId, hour: &str, more: i64) -> Result<()> {
        let sql = "INSERT INTO question_tally (project, hour, questions) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET questions = questions + excluded.questions";
        self.write(sql, params![self.must_find(project)?, hour, more])
    }

    fn put_terms(
        &mut self,
        project: &ProjectId,
        package: i64,
        index: &PackageIndex,
        replaces: bool,
    ) -> Result<()> {
        let project = self.must_find(project)?;
        self.pending.get_mut().add(project, package, index, replaces);
        Ok(())
    }

    fn has_terms(&self, of: &ProjectId, id: i64, sample: &TermSample<'_>) -> Result<Option<bool>> {
        let project = self.or_none(of)?;
        let Some(lengths) = self.lengths_of(id)? else { return Ok(None) };
        let quoted = |term| format!("\"{project}:{term}\"");
        let terms: Vec<String> = sample.terms.iter().map(quoted).collect();
        // Without an operator between them, SQLite looks for rows that have all of them.
        let sql = "SELECT 1 FROM package_terms WHERE package_terms MATCH ?1 AND rowid = ?2";
        let is_found = terms.is_empty()
            || self.one(sql, params![terms.join(" "), id], |row| row.integer(0))?.is_some();
        Ok(Some(lengths == sample.lengths && is_found))
    }
}

impl Unit<'_> {
    fn append_revisions(&self, package: i64, revisions: &[RevisionRow]) -> Result<()> {
        let sql = "INSERT INTO revision (package, seq, text) VALUES (?1, ?2, ?3)";
        for revision in revisions {
            self.run(sql, params![package, number(revision.seq), revision.text])?;
        }
        Ok(())
    }
}
