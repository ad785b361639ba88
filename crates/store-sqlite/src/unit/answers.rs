//! What packages answer, and until when a question is answered.
//!
//! A row of `answer` is kept for every link, also while its package is not complete or the package
//! that it names is missing, so that later writes can complete it.

use std::collections::BTreeSet;

use accord_memory_core::PackageId;
use accord_memory_core::lifecycle::Standing;
use accord_memory_core::package::{AnswerLink, Links, QuestionKey};
use accord_store::{MAX_SOURCES, PackageRow, Result};
use rusqlite::params;

use super::column::Row;
use super::{Unit, limit, number};
use crate::stamp;

/// A row of `answer`, without its package.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Answer {
    asked: Option<(String, i64)>,
    question: Option<QuestionKey>,
    asked_key: String,
    until: String,
    through: String,
}

impl Answer {
    /// Columns that [`Self::read`] reads.
    const COLUMNS: &'static str = "asked_id, asked_index, question, asked_key, until, through";

    fn read(row: &Row<'_>) -> Result<Self> {
        let asked = match row.optional_text(0)? {
            Some(id) => Some((id, row.integer(1)?)),
            None => None,
        };
        Ok(Self {
            asked,
            question: row.optional_digest(2)?.map(QuestionKey::from),
            asked_key: row.text(3)?,
            until: row.text(4)?,
            through: row.text(5)?,
        })
    }

    /// The same answer, given until a key; empty if it does not hold.
    fn given(self, until: &str) -> Self {
        let through = if until.is_empty() { "" } else { until.max(self.asked_key.as_str()) };
        Self { through: through.to_owned(), until: until.to_owned(), ..self }
    }
}

impl Unit<'_> {
    /// From when a package asks, answers and supersedes.
    pub(super) fn standing(&self, row: &PackageRow, package: i64) -> Result<Standing> {
        let sql = "SELECT text FROM revision WHERE package = ?1 ORDER BY seq";
        // An unreadable entry is reported by a verification.
        let log = self.many(sql, (package,), |row| Ok(row.text(0).unwrap_or_default()))?;
        let log = log.iter().map(String::as_str);
        Ok(Standing::of(row.created_at.time(), row.actor.kind, row.state.status, log))
    }

    /// Adds what a package answers and supersedes.
    pub(super) fn link(
        &self,
        project: i64,
        package: i64,
        row: &PackageRow,
        links: &Links,
    ) -> Result<()> {
        if links.is_empty() {
            return Ok(());
        }
        let standing = self.standing(row, package)?;
        let mut questions = BTreeSet::new();
        for (ordinal, link) in links.answers.iter().enumerate() {
            let answer = self.answer_of(project, link)?.given(&until(row, &standing));
            questions.extend(answer.question);
            self.put_answer(project, package, limit(ordinal), &answer)?;
        }
        for target in &links.supersedes {
            self.supersede(project, package, target, holds(row, &standing), &standing)?;
        }
        self.review_questions(project, questions)
    }

    /// Adds the links of all packages that were stored in format 1, where links were members like
    /// any other.
    pub(crate) fn link_stored(&self) -> Result<()> {
        // A store has many packages and few links, so the search for them must be fast: one pass
        // in the order of the table, and no look-up in SQL. The words may be anywhere in the text;
        // only texts with them are parsed.
        let sql = "SELECT pk, text FROM package NOT INDEXED";
        let found = self.many(sql, (), |row| {
            let has_links = row.has_text(1, &["x-answers", "x-supersedes"]);
            Ok(if has_links { Some(row.integer(0)?) } else { None })
        })?;
        let sql = "SELECT p.project, j.project_id FROM package p JOIN project j ON j.pk = p.project
            WHERE p.pk = ?1";
        for package in found.into_iter().flatten() {
            let project = self.one(sql, (package,), |row| Ok((row.integer(0)?, row.id(1)?)));
            // A damaged row is left to a verification.
            if let Ok(Some((pk, project))) = project
                && let Some(Ok(row)) = self.numbered(package, &project)?
            {
                self.link(pk, package, &row, &Links::read(&row.state.text))?;
            }
        }
        Ok(())
    }

    /// Removes what a package answers and supersedes.
    pub(super) fn unlink(&self, project: i64, package: i64) -> Result<()> {
        let questions = self.answered_by(package)?;
        self.run("DELETE FROM answer WHERE package = ?1", (package,))?;
        self.run("DELETE FROM supersession WHERE package = ?1", (package,))?;
        self.review_questions(project, questions)
    }

    /// Updates what a package answers and supersedes after its state changed.
    pub(super) fn update_links(&self, project: i64, package: i64, row: &PackageRow) -> Result<()> {
        let any = "SELECT 1 FROM answer WHERE package = ?1
            UNION ALL SELECT 1 FROM supersession WHERE package = ?1 LIMIT 1";
        if self.one(any, (package,), |row| row.integer(0))?.is_none() {
            return Ok(());
        }
        let standing = self.standing(row, package)?;
        let sql = "UPDATE answer SET until = ?2, through = iif(?2 = '', '', max(?2, asked_key))
            WHERE package = ?1";
        self.run(sql, params![package, until(row, &standing)])?;
        let sql = "UPDATE supersession SET holds = ?2, outranks = ?3 WHERE package = ?1";
        let holds = holds(row, &standing);
        self.run(sql, params![package, holds, standing.outranks_people])?;
        self.review_questions(project, self.answered_by(package)?)
    }

    /// Completes the answers that name a package, whose questions have just been stored.
    pub(super) fn resolve(&self, project: i64, package_id: &str) -> Result<()> {
        let sql = "SELECT package, ordinal, asked_index, question, until FROM answer
            WHERE project = ?1 AND asked_id = ?2";
        let named = self.many(sql, (project, package_id), |row| {
            let question = row.optional_digest(3)?.map(QuestionKey::from);
            Ok((row.integer(0)?, row.integer(1)?, row.integer(2)?, question, row.text(4)?))
        })?;
        let mut questions = BTreeSet::new();
        for (package, ordinal, index, before, until) in named {
            let answer = self.asked(project, package_id, index)?.given(&until);
            questions.extend(before);
            questions.extend(answer.question);
            self.put_answer(project, package, ordinal, &answer)?;
        }
        self.review_questions(project, questions)
    }

    /// Up to which key a question is answered; empty if it is not.
    pub(super) fn answered_through(&self, project: i64, question: &QuestionKey) -> Result<String> {
        let sql = "SELECT coalesce(max(through), '') FROM answer
            WHERE project = ?1 AND question = ?2";
        let values = params![project, question.digest().as_bytes()];
        Ok(self.one(sql, values, |row| row.text(0))?.unwrap_or_default())
    }

    /// The packages that answer a question, the latest answer first.
    pub(super) fn answers_to(
        &self,
        project: i64,
        question: &QuestionKey,
    ) -> Result<Vec<PackageId>> {
        let sql = "SELECT p.package_id FROM answer a JOIN package p ON p.pk = a.package
            WHERE a.project = ?1 AND a.question = ?2 AND a.through <> ''
            GROUP BY a.package ORDER BY max(a.through) DESC, p.created_key DESC, p.pk DESC
            LIMIT ?3";
        let values = params![project, question.digest().as_bytes(), limit(MAX_SOURCES)];
        let ids = self.many(sql, values, |row| Ok(row.id(0).ok()))?;
        // A package with an unreadable id is reported by a verification.
        Ok(ids.into_iter().flatten().collect())
    }

    /// Whether the stored links of a package are those of its text.
    pub(super) fn has_links(&self, project: i64, row: &PackageRow, links: &Links) -> Result<bool> {
        let package = number(row.seq);
        let standing = self.standing(row, package)?;
        let mut expected = Vec::with_capacity(links.answers.len());
        for link in &links.answers {
            expected.push(self.answer_of(project, link)?.given(&until(row, &standing)));
        }
        let sql =
            format!("SELECT {} FROM answer WHERE package = ?1 ORDER BY ordinal", Answer::COLUMNS);
        // An unreadable row is not the expected one.
        let stored = self.many(&sql, (package,), |row| Ok(Answer::read(row).ok()))?;
        let same = stored.into_iter().eq(expected.into_iter().map(Some));
        Ok(same && self.has_supersessions(package, links, holds(row, &standing), &standing)?)
    }

    /// A link as a row, as if it did not hold.
    fn answer_of(&self, project: i64, link: &AnswerLink) -> Result<Answer> {
        match link {
            AnswerLink::Question(key) => Ok(Answer {
                asked: None,
                question: Some(*key),
                asked_key: String::new(),
                until: String::new(),
                through: String::new(),
            }),
            AnswerLink::Asked { package_id, index } => {
                self.asked(project, package_id.as_str(), i64::from(*index))
            }
        }
    }

    /// The row of a link to the question at an index of a package.
    fn asked(&self, project: i64, package_id: &str, index: i64) -> Result<Answer> {
        let sql = "SELECT q.text, u.ask_key FROM package p
            JOIN question_use u ON u.package = p.pk AND u.ordinal = ?3
            JOIN question q ON q.pk = u.question
            WHERE p.package_id = ?1 AND p.project = ?2";
        let found = self.one(sql, params![package_id, project, index], |row| {
            Ok((QuestionKey::of(&row.text(0)?), row.text(1)?))
        })?;
        let (question, asked_key) = found.unzip();
        Ok(Answer {
            asked: Some((package_id.to_owned(), index)),
            question,
            asked_key: asked_key.unwrap_or_default(),
            until: String::new(),
            through: String::new(),
        })
    }

    fn put_answer(&self, project: i64, package: i64, ordinal: i64, answer: &Answer) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO answer (package, ordinal, project, asked_id, asked_index,
            question, asked_key, until, through) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let (asked_id, asked_index) = answer.asked.clone().unzip();
        let question = answer.question.as_ref().map(|key| key.digest().as_bytes());
        let Answer { asked_key, until, through, .. } = answer;
        let values = params![
            package,
            ordinal,
            project,
            asked_id,
            asked_index,
            question,
            asked_key,
            until,
            through
        ];
        self.run(sql, values)?;
        Ok(())
    }

    /// The questions that a package answers, as far as they are known.
    fn answered_by(&self, package: i64) -> Result<BTreeSet<QuestionKey>> {
        let sql = "SELECT DISTINCT question FROM answer
            WHERE package = ?1 AND question IS NOT NULL";
        let questions = self.many(sql, (package,), |row| row.digest(0))?;
        Ok(questions.into_iter().map(QuestionKey::from).collect())
    }

    /// Looks again at stored questions whose answers changed.
    fn review_questions(
        &self,
        project: i64,
        questions: impl IntoIterator<Item = QuestionKey>,
    ) -> Result<()> {
        for question in questions {
            for known in self.same_questions(project, &question)? {
                self.look_again(&known)?;
            }
        }
        Ok(())
    }
}

/// Whether a package answers and supersedes.
fn holds(row: &PackageRow, standing: &Standing) -> bool {
    row.quarantine.is_none() && standing.answers_until.is_some()
}

/// The key until which a package answers; empty if it does not.
fn until(row: &PackageRow, standing: &Standing) -> String {
    let until = standing.answers_until.filter(|_| holds(row, standing));
    until.map(stamp::key).unwrap_or_default()
}
