//! Open questions as they are asked for: merged from those of everybody and those of drafts.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use accord_context::{Instant, PackageId};
use accord_store::{Drafts, QuestionQuery, QuestionRow, Result};
use rusqlite::params;

use super::questions::{BEHIND_DRAFTS, DRAFTS, EVERYBODY, drafts_of};
use super::{Unit, limit};
use crate::error::damaged;
use crate::stamp::{self, Span};

/// A question with the newest package that asks it, in the order of the list.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct Asked {
    newest: Reverse<(String, i64)>,
    ordinal: i64,
    text: String,
    question: i64,
    /// The place of its audience among those that are asked.
    audience: usize,
}

impl Unit<'_> {
    pub(super) fn questions(
        &self,
        project: i64,
        query: &QuestionQuery<'_>,
    ) -> Result<Vec<QuestionRow>> {
        let since = query.since.map(stamp::key).unwrap_or_default();
        let audiences = self.audiences(project, query.drafts)?;
        if let [audience] = &audiences[..] {
            return self.questions_of(project, audience, &since, query);
        }
        let mut asked = Vec::new();
        for (place, audience) in audiences.iter().enumerate() {
            let sql = "SELECT asked_key, package, ordinal, text, pk FROM question
                WHERE project = ?1 AND audience = ?2 AND asked_key >= ?3
                ORDER BY asked_key DESC, package DESC, ordinal LIMIT ?4";
            let values = params![project, audience, since, limit(query.limit)];
            asked.extend(self.many(sql, values, |row| {
                Ok(Asked {
                    newest: Reverse((row.text(0)?, row.integer(1)?)),
                    ordinal: row.integer(2)?,
                    text: row.text(3)?,
                    question: row.integer(4)?,
                    audience: place,
                })
            })?);
        }
        asked.sort();
        let mut given = BTreeSet::new();
        asked.retain(|asked| given.insert(asked.text.clone()));
        asked.truncate(query.limit);
        let questions = asked.into_iter().map(|asked| {
            let sources = match query.sources {
                0 => Vec::new(),
                wanted => self.sources(project, &audiences, &asked, &since, wanted)?,
            };
            Ok(QuestionRow {
                text: asked.text,
                sources,
            })
        });
        questions.collect()
    }

    /// The questions of one audience, which each stand there once.
    fn questions_of(
        &self,
        project: i64,
        audience: &str,
        since: &str,
        query: &QuestionQuery<'_>,
    ) -> Result<Vec<QuestionRow>> {
        // The sources in the same query: a query for each question would take most of the time.
        let sql = "SELECT q.text, (SELECT group_concat(package_id, char(0)) FROM
                (SELECT package_id FROM question_use
                 WHERE question = q.pk AND asked_key >= ?3
                 ORDER BY asked_key DESC, package DESC LIMIT ?5))
            FROM question q WHERE q.project = ?1 AND q.audience = ?2 AND q.asked_key >= ?3
            ORDER BY q.asked_key DESC, q.package DESC, q.ordinal LIMIT ?4";
        let (questions, sources) = (limit(query.limit), limit(query.sources));
        let values = params![project, audience, since, questions, sources];
        self.many(sql, values, |row| {
            let ids = row.optional_text(1)?;
            let ids = ids.iter().flat_map(|ids| ids.split('\0'));
            let sources = ids.map(|id| id.parse().map_err(|_| damaged("an id")));
            Ok(QuestionRow {
                text: row.text(0)?,
                sources: sources.collect::<Result<_>>()?,
            })
        })
    }

    pub(super) fn question_count(&self, project: i64, since: Option<Instant>) -> Result<u64> {
        let since = since.map(stamp::key);
        let whole_hours = "SELECT coalesce(sum(questions), 0) FROM question_tally
            WHERE project = ?1 AND hour > ?2";
        let hour = since.as_deref().map_or("", |key| Span::Hour.of(key));
        let whole_hours = self.one(whole_hours, (project, hour), |row| row.count(0))?;
        let begun_hour = match &since {
            None => None,
            Some(key) => {
                let sql = "SELECT count(*) FROM question
                    WHERE project = ?1 AND audience = ?2 AND asked_key >= ?3 AND asked_key < ?4";
                let values = params![project, EVERYBODY, key, Span::Hour.end(key)];
                self.one(sql, values, |row| row.count(0))?
            }
        };
        Ok(whole_hours.unwrap_or_default() + begun_hour.unwrap_or_default())
    }

    /// The newest packages that ask a question, in whichever audience.
    fn sources(
        &self,
        project: i64,
        audiences: &[String],
        asked: &Asked,
        since: &str,
        wanted: usize,
    ) -> Result<Vec<PackageId>> {
        let sql = "SELECT asked_key, package, package_id FROM question_use
            WHERE question = ?1 AND asked_key >= ?2
            ORDER BY asked_key DESC, package DESC LIMIT ?3";
        let mut sources = Vec::new();
        for (place, audience) in audiences.iter().enumerate() {
            let question = if place == asked.audience {
                Some(asked.question)
            } else {
                let known = self.known_question(project, audience, &asked.text)?;
                known.map(|known| known.question)
            };
            // A question is looked up first: joined to it, SQLite would sort everything that asks.
            if let Some(question) = question {
                let values = params![question, since, limit(wanted)];
                sources.extend(self.many(sql, values, |row| {
                    Ok(((row.text(0)?, row.integer(1)?), row.id::<PackageId>(2)?))
                })?);
            }
        }
        sources.sort_by(|(a, _), (b, _)| b.cmp(a));
        sources.truncate(wanted);
        Ok(sources.into_iter().map(|(_, package)| package).collect())
    }

    /// The audiences that a reader belongs to; of those of drafts, the ones that have a question.
    fn audiences(&self, project: i64, drafts: Drafts<'_>) -> Result<Vec<String>> {
        let mut audiences = vec![EVERYBODY.to_owned()];
        match drafts {
            Drafts::None => {}
            Drafts::Of(author) => {
                let drafts = drafts_of(author);
                let sql = "SELECT 1 FROM question WHERE project = ?1 AND audience = ?2 LIMIT 1";
                let any = self.one(sql, params![project, drafts], |row| row.integer(0))?;
                audiences.extend(any.map(|_| drafts));
            }
            Drafts::All => {
                // From one to the next through the index, however many questions each has.
                let sql = "SELECT audience FROM question
                    WHERE project = ?1 AND audience > ?2 AND audience < ?3
                    ORDER BY audience LIMIT 1";
                let mut last = DRAFTS.to_owned();
                while let Some(next) =
                    self.one(sql, params![project, last, BEHIND_DRAFTS], |row| {
                        row.text(0)
                    })?
                {
                    audiences.push(next.clone());
                    last = next;
                }
            }
        }
        Ok(audiences)
    }
}
