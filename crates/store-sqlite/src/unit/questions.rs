//! Stored open questions: each once per audience, the readers who may see the packages that ask it.

use accord_base::ActorKey;
use accord_canon::sha256;
use accord_memory_core::package::Status;
use accord_store::{MAX_SOURCES, PackageRow, Result};
use rusqlite::params;

use super::sources::{self, Source};
use super::{Unit, limit};
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
    audience: String,
}

impl<'a> Asking<'a> {
    /// The package of a row, which has this number.
    pub(super) fn of(project: i64, package: i64, row: &'a PackageRow) -> Self {
        Self {
            project,
            package,
            package_id: row.package_id.as_str(),
            created_key: stamp::key(row.created_at.time()),
            audience: audience(row),
        }
    }
}

pub(super) fn drafts_of(author: &ActorKey) -> String {
    format!("{DRAFTS}{} {}", author.kind, author.id)
}

/// A stored question, with the position of the newest package that asks it.
pub(super) struct Recorded {
    question: i64,
    project: i64,
    audience: String,
    newest: (String, i64),
    pub(super) sources: String,
}

impl Unit<'_> {
    /// Adds the questions of a package.
    pub(super) fn ask<'t>(
        &self,
        asking: &Asking<'_>,
        questions: impl Iterator<Item = &'t str>,
    ) -> Result<()> {
        let (project, package) = (asking.project, asking.package);
        let (asked_key, audience) = (asking.created_key.as_str(), asking.audience.as_str());
        let source = Source { key: asked_key, package, id: asking.package_id };
        for (ordinal, text) in questions.enumerate() {
            let ordinal = limit(ordinal);
            let found = self.known_question(project, audience, text)?;
            let question = match found {
                None => {
                    let sql = "INSERT INTO question
                        (project, audience, digest, text, asked_key, package, ordinal, sources)
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
                    let (digest, sources) = (digest(text), sources::write([source]));
                    let values = params![
                        project, audience, digest, text, asked_key, package, ordinal, sources
                    ];
                    self.run(sql, values)?;
                    let question = self.connection.last_insert_rowid();
                    self.count_question(project, audience, asked_key, 1)?;
                    question
                }
                Some(known) => {
                    self.ask_again(&known, source, ordinal)?;
                    known.question
                }
            };
            // A question that a package asks twice has the position of the first time.
            let sql = "INSERT INTO question_use (question, asked_key, package, ordinal, package_id)
                VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
            let values = params![question, asked_key, package, ordinal, asking.package_id];
            self.run(sql, values)?;
        }
        Ok(())
    }

    /// Removes the questions of a package. Returns them in their order.
    pub(super) fn take_questions(&self, package: i64) -> Result<Vec<String>> {
        let uses = "SELECT q.pk, q.project, q.audience, q.asked_key, q.package, q.sources, q.text
            FROM question_use u JOIN question q ON q.pk = u.question
            WHERE u.package = ?1 ORDER BY u.ordinal";
        let uses = self.many(uses, (package,), |row| {
            let known = Recorded {
                question: row.integer(0)?,
                project: row.integer(1)?,
                audience: row.text(2)?,
                newest: (row.text(3)?, row.integer(4)?),
                sources: row.text(5)?,
            };
            Ok((known, row.text(6)?))
        })?;
        self.run("DELETE FROM question_use WHERE package = ?1", (package,))?;
        for (known, _) in &uses {
            self.look_again(known)?;
        }
        Ok(uses.into_iter().map(|(_, text)| text).collect())
    }

    /// A question of an audience.
    pub(super) fn known_question(
        &self,
        project: i64,
        audience: &str,
        text: &str,
    ) -> Result<Option<Recorded>> {
        let sql = "SELECT pk, asked_key, package, sources FROM question
            WHERE project = ?1 AND audience = ?2 AND digest = ?3 AND text = ?4";
        self.one(sql, params![project, audience, digest(text), text], |row| {
            Ok(Recorded {
                question: row.integer(0)?,
                project,
                audience: audience.to_owned(),
                newest: (row.text(1)?, row.integer(2)?),
                sources: row.text(3)?,
            })
        })
    }

    /// Adds a package to a stored question.
    fn ask_again(&self, known: &Recorded, source: Source<'_>, ordinal: i64) -> Result<()> {
        // Unreadable sources must not block a deposit; a verification reports that some are
        // missing.
        let sources =
            sources::add(&known.sources, source).unwrap_or_else(|_| Some(sources::write([source])));
        let Some(sources) = sources else {
            return Ok(());
        };
        let (key, package) = &known.newest;
        if (key.as_str(), *package) < (source.key, source.package) {
            return self.set_newest(known, source, ordinal, &sources);
        }
        let sql = "UPDATE question SET sources = ?2 WHERE pk = ?1";
        self.run(sql, params![known.question, sources])?;
        Ok(())
    }

    /// Updates a question after a package no longer asks it. A question that no package asks is
    /// deleted.
    fn look_again(&self, known: &Recorded) -> Result<()> {
        let sql = "SELECT asked_key, package, package_id, ordinal FROM question_use
            WHERE question = ?1 ORDER BY asked_key DESC, package DESC LIMIT ?2";
        let uses = self.many(sql, (known.question, limit(MAX_SOURCES)), |row| {
            Ok((row.text(0)?, row.integer(1)?, row.text(2)?, row.integer(3)?))
        })?;
        let sources =
            uses.iter().map(|(key, package, id, _)| Source { key, package: *package, id });
        let sources: Vec<Source<'_>> = sources.collect();
        match (sources.first(), uses.first()) {
            (Some(newest), Some((.., ordinal))) => {
                self.set_newest(known, *newest, *ordinal, &sources::write(sources.clone()))
            }
            _ => {
                self.run("DELETE FROM question WHERE pk = ?1", (known.question,))?;
                self.count_question(known.project, &known.audience, &known.newest.0, -1)
            }
        }
    }

    fn set_newest(
        &self,
        known: &Recorded,
        newest: Source<'_>,
        ordinal: i64,
        sources: &str,
    ) -> Result<()> {
        let sql = "UPDATE question SET asked_key = ?2, package = ?3, ordinal = ?4, sources = ?5
            WHERE pk = ?1";
        let Source { key, package, .. } = newest;
        self.run(sql, params![known.question, key, package, ordinal, sources])?;
        // A question that was asked last in another hour is counted there.
        if Span::Hour.of(key) == Span::Hour.of(&known.newest.0) {
            return Ok(());
        }
        self.count_question(known.project, &known.audience, &known.newest.0, -1)?;
        self.count_question(known.project, &known.audience, key, 1)
    }

    /// Changes the count of questions that were asked last in an hour. Those of drafts and of
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

/// The digest by which a question is looked up. The texts are compared afterwards.
pub(super) fn digest(text: &str) -> i64 {
    let digest = sha256(text.as_bytes());
    // Eight bytes are enough for an index, and a text may be long.
    let [a, b, c, d, e, f, g, h, ..] = *digest.as_bytes();
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}
