//! Lists of questions: open ones are merged from those that every reader sees and those of drafts.

use std::cmp::Reverse;

use accord_base::ProjectId;
use accord_contract::time::Time;
use accord_memory_core::PackageId;
use accord_memory_core::package::QuestionKey;
use accord_memory_core::query::{PackagePosition, QuestionPosition};
use accord_store::{DamagedRow, Drafts, QuestionQuery, QuestionRow, Result, Table};
use rusqlite::params;

use super::column::Row;
use super::questions::{ALL_READERS, BEHIND_DRAFTS, DRAFTS, Recorded, drafts_of};
use super::select::{Select, text};
use super::sources::{self, Source};
use super::{Unit, limit, number};
use crate::error::damaged;
use crate::stamp::{self, Span};

/// A question with the newest package that asks it, in the order of the list.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct OpenQuestion {
    newest: Reverse<(String, i64)>,
    ordinal: i64,
    text: String,
    sources: String,
    open: bool,
    /// Whether a package answers it, now or before it was asked again.
    answered: bool,
    /// The index of its audience among those of the query.
    audience: usize,
}

impl OpenQuestion {
    fn position(&self) -> Result<QuestionPosition> {
        let Reverse((key, package)) = &self.newest;
        let created_at = stamp::time(key).ok_or_else(|| damaged("a time"))?;
        let seq = u64::try_from(*package).map_err(|_| damaged("a number"))?;
        let index = u32::try_from(self.ordinal).map_err(|_| damaged("an index"))?;
        Ok(QuestionPosition { package: PackagePosition { created_at, seq }, index })
    }
}

impl Unit<'_> {
    pub(super) fn list_questions(
        &self,
        (owner, project): (&ProjectId, i64),
        query: &QuestionQuery<'_>,
    ) -> Result<Vec<QuestionRow>> {
        let since = query.since.map(stamp::key).unwrap_or_default();
        let drafts = if query.answered { Drafts::None } else { query.drafts };
        let audiences = self.audiences(project, drafts)?;
        let questions = self.fill(query.limit, |limit| {
            let query = QuestionQuery { limit, ..*query };
            let mut questions = Vec::new();
            for (place, audience) in audiences.iter().enumerate() {
                questions.extend(self.questions_of(project, (place, audience), &since, &query)?);
            }
            questions.sort();
            questions.truncate(limit);
            let merged = questions.into_iter().map(|it| self.merge(project, &audiences, it));
            merged.collect()
        })?;
        let mut rows = Vec::with_capacity(questions.len());
        for question in questions {
            let read = named(&question.sources, &since, query.sources)
                .and_then(|sources| Ok((sources, question.position()?)));
            let read = self.keep(read.map_err(|error| DamagedRow {
                table: Table::Question,
                project_id: Some(owner.clone()),
                id: question.text.clone(),
                what: error.detail().to_owned(),
            }));
            if let Some((sources, position)) = read {
                let OpenQuestion { text, open, answered, .. } = question;
                let answers = if answered {
                    self.answers_to(project, &QuestionKey::of(&text))?
                } else {
                    Vec::new()
                };
                rows.push(QuestionRow { text, sources, open, answers, position });
            }
        }
        Ok(rows)
    }

    /// The questions of an audience.
    fn questions_of(
        &self,
        project: i64,
        (place, audience): (usize, &str),
        since: &str,
        query: &QuestionQuery<'_>,
    ) -> Result<Vec<OpenQuestion>> {
        let mut select = Select::new(
            "SELECT asked_key, package, ordinal, text, sources, open,
                EXISTS (SELECT 1 FROM answer a
                    WHERE a.project = q.project AND a.question = q.folded)
             FROM question q
             WHERE project = ? AND audience = ? AND asked_key >= ?",
            [project.into(), text(audience), text(since)],
        );
        if !query.answered {
            select.add("AND open = 1", []);
        }
        if let Some(QuestionPosition { package, index }) = query.after {
            let (key, seq) = (text(&stamp::key(package.created_at)), number(package.seq));
            select.add(
                "AND asked_key <= ? AND (asked_key < ? OR package < ?
                    OR (package = ? AND ordinal > ?))",
                [key.clone(), key, seq.into(), seq.into(), i64::from(index).into()],
            );
        }
        let wanted = limit(query.limit).into();
        select.add("ORDER BY asked_key DESC, package DESC, ordinal LIMIT ?", [wanted]);
        select.run(self, |row| {
            Ok(OpenQuestion {
                newest: Reverse((row.text(0)?, row.integer(1)?)),
                ordinal: row.integer(2)?,
                text: row.text(3)?,
                sources: row.text(4)?,
                open: row.integer(5)? == 1,
                answered: row.integer(6)? == 1,
                audience: place,
            })
        })
    }

    pub(super) fn question_count(&self, project: i64, since: Option<Time>) -> Result<u64> {
        let since = since.map(stamp::key);
        let whole_hours = "SELECT CAST(total(questions) AS INTEGER) FROM question_tally
            WHERE project = ?1 AND hour > ?2";
        let hour = since.as_deref().map_or("", |key| Span::Hour.of(key));
        // A negative count is damage, which a verification reports.
        let count = |row: &Row<'_>| Ok(row.count(0).unwrap_or_default());
        let whole_hours = self.one(whole_hours, (project, hour), count)?;
        let begun_hour = match &since {
            None => None,
            Some(key) => {
                let sql = "SELECT count(*) FROM question
                    WHERE project = ?1 AND audience = ?2 AND open = 1
                    AND asked_key >= ?3 AND asked_key < ?4";
                let values = params![project, ALL_READERS, key, Span::Hour.end(key)];
                self.one(sql, values, count)?
            }
        };
        let whole_hours = whole_hours.unwrap_or_default();
        Ok(whole_hours.saturating_add(begun_hour.unwrap_or_default()))
    }

    /// Adds the packages that ask the same question in other audiences; `None` if one of those is
    /// newer, because the question then has the position of that one.
    fn merge(
        &self,
        project: i64,
        audiences: &[String],
        mut question: OpenQuestion,
    ) -> Result<Option<OpenQuestion>> {
        let others = audiences.iter().enumerate();
        for (_, audience) in others.filter(|(place, _)| *place != question.audience) {
            let known = self.known_question(project, audience, &question.text)?;
            let Some(known) = known.filter(Recorded::is_open) else {
                continue;
            };
            if known.newest > question.newest.0 {
                return Ok(None);
            }
            // Unreadable sources are reported when the question is returned or verified.
            for source in sources::read(&known.sources).filter_map(Result::ok) {
                if let Ok(Some(more)) = sources::add(&question.sources, source) {
                    question.sources = more;
                }
            }
        }
        Ok(Some(question))
    }

    /// The audiences of a reader; of draft audiences only those that have questions.
    pub(super) fn audiences(&self, project: i64, drafts: Drafts<'_>) -> Result<Vec<String>> {
        let mut audiences = vec![ALL_READERS.to_owned()];
        match drafts {
            Drafts::None => {}
            Drafts::Of(author) => {
                let drafts = drafts_of(author);
                let sql = "SELECT 1 FROM question WHERE project = ?1 AND audience = ?2 LIMIT 1";
                let any = self.one(sql, params![project, drafts], |row| row.integer(0))?;
                audiences.extend(any.map(|_| drafts));
            }
            Drafts::All => {
                // Skips from one audience to the next in the index, whatever the number of
                // questions.
                let sql = "SELECT audience FROM question
                    WHERE project = ?1 AND audience > ?2 AND audience < ?3
                    ORDER BY audience LIMIT 1";
                let mut last = DRAFTS.to_owned();
                while let Some(next) =
                    self.one(sql, params![project, last, BEHIND_DRAFTS], |row| row.text(0))?
                {
                    audiences.push(next.clone());
                    last = next;
                }
            }
        }
        Ok(audiences)
    }
}

/// At most `wanted` packages of a text that were created at a key or later.
fn named(sources: &str, since: &str, wanted: usize) -> Result<Vec<PackageId>> {
    let sources = sources::read(sources).take(wanted);
    let sources = sources.map(|source| {
        let Source { key, id, .. } = source?;
        let id = (key >= since).then(|| id.parse::<PackageId>());
        id.transpose().map_err(|_| damaged("an id"))
    });
    sources.filter_map(Result::transpose).collect()
}
