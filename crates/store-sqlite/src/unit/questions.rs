//! Stored questions: each once per audience, the readers who may see the packages that ask it.
//!
//! A question is open while a package asks it that no answer covers. Its newest packages are then
//! those that keep it open, otherwise all that ask it.

use accord_base::ActorKey;
use accord_canon::sha256;
use accord_memory_core::lifecycle::Standing;
use accord_memory_core::package::{QuestionKey, Status};
use accord_store::{IndexedQuestion, MAX_SOURCES, PackageRow, Result};
use rusqlite::params;

use super::column::Row;
use super::sources::{self, Source};
use super::{Unit, limit};
use crate::error::damaged;
use crate::stamp::{self, Span};

/// The audience of all readers of the project.
pub(super) const ALL_READERS: &str = "";
/// The prefix of the audiences of drafts.
pub(super) const DRAFTS: &str = "draft ";
/// Sorts after every audience of drafts.
pub(super) const BEHIND_DRAFTS: &str = "draft!";
/// The audience of quarantined packages: no reader. They may be released later.
const QUARANTINED: &str = "quarantine";

/// The audience of the questions of a package.
pub(super) fn audience(row: &PackageRow) -> String {
    match (&row.quarantine, row.state.status) {
        (Some(_), _) => QUARANTINED.to_owned(),
        (None, Status::Draft) => drafts_of(&row.actor),
        (None, _) => ALL_READERS.to_owned(),
    }
}

/// A package that asks.
pub(super) struct Asking<'a> {
    project: i64,
    package: i64,
    package_id: &'a str,
    created_key: String,
    /// When it asked, to compare with answers.
    ask_key: String,
    audience: String,
}

impl<'a> Asking<'a> {
    /// The package of a row, which has this number.
    pub(super) fn of(project: i64, package: i64, row: &'a PackageRow, standing: &Standing) -> Self {
        Self {
            project,
            package,
            package_id: row.package_id.as_str(),
            created_key: stamp::key(row.created_at.time()),
            ask_key: stamp::key(standing.asked_at),
            audience: audience(row),
        }
    }
}

pub(super) fn drafts_of(author: &ActorKey) -> String {
    format!("{DRAFTS}{} {}", author.kind, author.id)
}

/// A stored question, with the position of its newest package.
pub(super) struct Recorded {
    question: i64,
    project: i64,
    pub(super) audience: String,
    key: QuestionKey,
    open: bool,
    pub(super) newest: (String, i64),
    pub(super) sources: String,
}

/// The columns that [`Recorded::read`] reads.
macro_rules! columns {
    () => {
        "q.pk, q.project, q.audience, q.text, q.open, q.asked_key, q.package, q.sources"
    };
}

impl Recorded {
    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            question: row.integer(0)?,
            project: row.integer(1)?,
            audience: row.text(2)?,
            key: QuestionKey::of(&row.text(3)?),
            open: row.integer(4)? == 1,
            newest: (row.text(5)?, row.integer(6)?),
            sources: row.text(7)?,
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }
}

impl Unit<'_> {
    /// Adds the questions of a package.
    pub(super) fn ask<'t>(
        &self,
        asking: &Asking<'_>,
        questions: impl IntoIterator<Item = &'t IndexedQuestion>,
    ) -> Result<()> {
        let (project, package) = (asking.project, asking.package);
        let (asked_key, audience) = (asking.created_key.as_str(), asking.audience.as_str());
        let source = Source { key: asked_key, package, id: asking.package_id };
        for IndexedQuestion { index, text } in questions {
            let key = QuestionKey::of(text);
            let is_open = asking.ask_key > self.answered_through(project, &key)?;
            let found = self.known_question(project, audience, text)?;
            let question = match found {
                None => {
                    let sql = "INSERT INTO question (project, audience, digest, text, asked_key,
                        package, ordinal, sources, folded, open)
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
                    let (digest, sources) = (digest(text), sources::write([source]));
                    let folded = key.digest().as_bytes();
                    let values = params![
                        project, audience, digest, text, asked_key, package, index, sources,
                        folded, is_open
                    ];
                    self.run(sql, values)?;
                    let question = self.connection.last_insert_rowid();
                    if is_open {
                        self.count_question(project, audience, asked_key, 1)?;
                    }
                    question
                }
                Some(known) => {
                    self.ask_again(&known, source, i64::from(*index), is_open)?;
                    known.question
                }
            };
            // A question that a package asks twice has the position of the first time.
            let sql = "INSERT INTO question_use
                (question, asked_key, package, ordinal, package_id, ask_key)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
            let ask_key = &asking.ask_key;
            let values = params![question, asked_key, package, index, asking.package_id, ask_key];
            self.run(sql, values)?;
        }
        Ok(())
    }

    /// Removes the questions of a package. Returns them in their order.
    pub(super) fn take_questions(&self, package: i64) -> Result<Vec<IndexedQuestion>> {
        let uses = concat!(
            "SELECT ",
            columns!(),
            ", u.ordinal FROM question_use u JOIN question q ON q.pk = u.question
             WHERE u.package = ?1 ORDER BY u.ordinal"
        );
        let uses = self.many(uses, (package,), |row| {
            let index = u32::try_from(row.integer(8)?).map_err(|_| damaged("an index"))?;
            Ok((Recorded::read(row)?, IndexedQuestion { index, text: row.text(3)? }))
        })?;
        self.run("DELETE FROM question_use WHERE package = ?1", (package,))?;
        for (known, _) in &uses {
            self.look_again(known)?;
        }
        Ok(uses.into_iter().map(|(_, question)| question).collect())
    }

    /// A question of an audience.
    pub(super) fn known_question(
        &self,
        project: i64,
        audience: &str,
        text: &str,
    ) -> Result<Option<Recorded>> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM question q
             WHERE q.project = ?1 AND q.audience = ?2 AND q.digest = ?3 AND q.text = ?4"
        );
        self.one(sql, params![project, audience, digest(text), text], Recorded::read)
    }

    /// The stored forms of a question, of all audiences.
    pub(super) fn same_questions(
        &self,
        project: i64,
        question: &QuestionKey,
    ) -> Result<Vec<Recorded>> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM question q WHERE q.project = ?1 AND q.folded = ?2"
        );
        self.many(sql, params![project, question.digest().as_bytes()], Recorded::read)
    }

    /// Adds a package to a stored question.
    fn ask_again(
        &self,
        known: &Recorded,
        source: Source<'_>,
        ordinal: i64,
        is_open: bool,
    ) -> Result<()> {
        let kept = match (known.open, is_open) {
            // It is answered here, and open elsewhere.
            (true, false) => return Ok(()),
            // It is asked again after its answer, so the earlier packages no longer count.
            (false, true) => "",
            _ => known.sources.as_str(),
        };
        // Unreadable sources must not block a deposit; a verification reports that some are
        // missing.
        let sources = if kept.is_empty() {
            Some(sources::write([source]))
        } else {
            sources::add(kept, source).unwrap_or_else(|_| Some(sources::write([source])))
        };
        let Some(sources) = sources else {
            return Ok(());
        };
        let (key, package) = &known.newest;
        if kept.is_empty() || (key.as_str(), *package) < (source.key, source.package) {
            return self.set_newest(known, source, ordinal, &sources, is_open);
        }
        let sql = "UPDATE question SET sources = ?2 WHERE pk = ?1";
        self.run(sql, params![known.question, sources])?;
        Ok(())
    }

    /// Updates a question after a package no longer asks it, or its answers changed. A question
    /// that no package asks is deleted.
    pub(super) fn look_again(&self, known: &Recorded) -> Result<()> {
        let through = self.answered_through(known.project, &known.key)?;
        let mut uses = self.newest_uses(known.question, &through)?;
        let is_open = !uses.is_empty();
        if !is_open {
            uses = self.newest_uses(known.question, "")?;
        }
        let sources = uses.iter().map(NewestUse::source);
        let sources: Vec<Source<'_>> = sources.collect();
        match (sources.first(), uses.first()) {
            (Some(newest), Some(NewestUse { ordinal, .. })) => {
                let sources = sources::write(sources.clone());
                self.set_newest(known, *newest, *ordinal, &sources, is_open)
            }
            _ => {
                self.run("DELETE FROM question WHERE pk = ?1", (known.question,))?;
                if known.open {
                    self.count_question(known.project, &known.audience, &known.newest.0, -1)?;
                }
                Ok(())
            }
        }
    }

    /// The newest packages that ask a question after a key.
    pub(super) fn newest_uses(&self, question: i64, after: &str) -> Result<Vec<NewestUse>> {
        let sql = "SELECT asked_key, package, package_id, ordinal FROM question_use
            WHERE question = ?1 AND ask_key > ?2
            ORDER BY asked_key DESC, package DESC LIMIT ?3";
        self.many(sql, (question, after, limit(MAX_SOURCES)), |row| {
            Ok(NewestUse {
                key: row.text(0)?,
                package: row.integer(1)?,
                id: row.text(2)?,
                ordinal: row.integer(3)?,
            })
        })
    }

    fn set_newest(
        &self,
        known: &Recorded,
        newest: Source<'_>,
        ordinal: i64,
        sources: &str,
        is_open: bool,
    ) -> Result<()> {
        let sql = "UPDATE question
            SET asked_key = ?2, package = ?3, ordinal = ?4, sources = ?5, open = ?6
            WHERE pk = ?1";
        let Source { key, package, .. } = newest;
        self.run(sql, params![known.question, key, package, ordinal, sources, is_open])?;
        // An open question that was asked last in another hour is counted there.
        if (known.open, Span::Hour.of(&known.newest.0)) == (is_open, Span::Hour.of(key)) {
            return Ok(());
        }
        if known.open {
            self.count_question(known.project, &known.audience, &known.newest.0, -1)?;
        }
        if is_open {
            self.count_question(known.project, &known.audience, key, 1)?;
        }
        Ok(())
    }

    /// Changes the count of open questions that were asked last in an hour. Those of drafts and of
    /// quarantined packages are not counted.
    fn count_question(&self, project: i64, audience: &str, key: &str, more: i64) -> Result<()> {
        if audience != ALL_READERS {
            return Ok(());
        }
        let sql = "INSERT INTO question_tally (project, hour, questions) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET questions = questions + excluded.questions";
        self.run(sql, params![project, Span::Hour.of(key), more])?;
        Ok(())
    }
}

/// A package that asks a question.
pub(super) struct NewestUse {
    pub(super) key: String,
    pub(super) package: i64,
    pub(super) id: String,
    pub(super) ordinal: i64,
}

impl NewestUse {
    pub(super) fn source(&self) -> Source<'_> {
        Source { key: &self.key, package: self.package, id: &self.id }
    }
}

/// The digest by which a question is looked up. The texts are compared afterwards.
pub(super) fn digest(text: &str) -> i64 {
    let digest = sha256(text.as_bytes());
    // Eight bytes are enough for an index, and a text may be long.
    let [a, b, c, d, e, f, g, h, ..] = *digest.as_bytes();
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}
