//! Lists of open questions: merged from those that every reader sees and those of drafts.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use accord_base::ProjectId;
use accord_contract::time::Time;
use accord_memory_core::PackageId;
use accord_store::{DamagedRow, Drafts, QuestionQuery, QuestionRow, Result, Table};
use rusqlite::params;

use super::column::Row;
use super::questions::{ALL_READERS, BEHIND_DRAFTS, DRAFTS, drafts_of};
use super::sources::{self, Source};
use super::{Unit, limit};
use crate::error::damaged;
use crate::stamp::{self, Span};

/// A question with the newest package that asks it, in the order of the list.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct OpenQuestion {
    newest: Reverse<(String, i64)>,
    ordinal: i64,
    text: String,
    sources: String,
    /// The index of its audience among those of the query.
    audience: usize,
}

impl Unit<'_> {
    pub(super) fn questions(
        &self,
        (owner, project): (&ProjectId, i64),
        query: &QuestionQuery<'_>,
    ) -> Result<Vec<QuestionRow>> {
        let since = query.since.map(stamp::key).unwrap_or_default();
        let audiences = self.audiences(project, query.drafts)?;
        let mut questions = Vec::new();
        for (place, audience) in audiences.iter().enumerate() {
            let sql = "SELECT asked_key, package, ordinal, text, sources FROM question
                WHERE project = ?1 AND audience = ?2 AND asked_key >= ?3
                ORDER BY asked_key DESC, package DESC, ordinal LIMIT ?4";
            let values = params![project, audience, since, limit(query.limit)];
            questions.extend(self.many(sql, values, |row| {
                Ok(OpenQuestion {
                    newest: Reverse((row.text(0)?, row.integer(1)?)),
                    ordinal: row.integer(2)?,
                    text: row.text(3)?,
                    sources: row.text(4)?,
                    audience: place,
                })
            })?);
        }
        if audiences.len() > 1 {
            questions.sort();
            let mut given = BTreeSet::new();
            questions.retain(|question: &OpenQuestion| given.insert(question.text.clone()));
            questions.truncate(query.limit);
            self.add_sources(project, &audiences, &mut questions)?;
        }
        let questions = questions.into_iter().filter_map(|question| {
            let sources = named(&question.sources, &since, query.sources);
            self.keep(sources.map_err(|error| DamagedRow {
                table: Table::Question,
                project_id: Some(owner.clone()),
                id: question.text.clone(),
                what: error.detail().to_owned(),
            }))
            .map(|sources| QuestionRow { text: question.text, sources })
        });
        Ok(questions.collect())
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
                    WHERE project = ?1 AND audience = ?2 AND asked_key >= ?3 AND asked_key < ?4";
                let values = params![project, ALL_READERS, key, Span::Hour.end(key)];
                self.one(sql, values, count)?
            }
        };
        let whole_hours = whole_hours.unwrap_or_default();
        Ok(whole_hours.saturating_add(begun_hour.unwrap_or_default()))
    }

    /// Adds the packages that ask the same questions in other audiences.
    fn add_sources(
        &self,
        project: i64,
        audiences: &[String],
        questions: &mut [OpenQuestion],
    ) -> Result<()> {
        for question in questions {
            let others = audiences.iter().enumerate();
            for (_, audience) in others.filter(|(place, _)| *place != question.audience) {
                let Some(known) = self.known_question(project, audience, &question.text)? else {
                    continue;
                };
                // Unreadable sources are reported when the question is returned or verified.
                for source in sources::read(&known.sources).filter_map(Result::ok) {
                    if let Ok(Some(more)) = sources::add(&question.sources, source) {
                        question.sources = more;
                    }
                }
            }
        }
        Ok(())
    }

    /// The audiences of a reader; of draft audiences only those that have questions.
    fn audiences(&self, project: i64, drafts: Drafts<'_>) -> Result<Vec<String>> {
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
