//! Terms of packages that are waiting to be indexed. SQLite flushes the buffered part of a
//! full-text index at every savepoint. With one savepoint per job every package would become its
//! own index segment. So terms wait until every job of the group is done, and are indexed together.
//! A search within a job indexes them earlier.

use std::collections::BTreeMap;

use accord_memory_core::Package;
use accord_store::{PARTS, PackageIndex, Result};
use rusqlite::params;

use super::column::Row;
use super::{Unit, number};

#[derive(Clone)]
struct Change {
    project: i64,
    package: i64,
    /// Whether the package was indexed before.
    replaces: bool,
    /// The number of its terms.
    terms: u64,
    columns: [String; PARTS],
}

#[derive(Default)]
pub(super) struct Pending {
    /// Of finished jobs.
    group: Vec<Change>,
    /// Of the running job.
    job: Vec<Change>,
    /// Changes of the group that were indexed since the job began: lost if it is rolled back.
    brought: Vec<Change>,
}

impl Pending {
    /// Adds the terms of a package; `replaces` says whether the package was indexed before.
    pub(super) fn add(&mut self, project: i64, package: i64, index: &PackageIndex, replaces: bool) {
        let columns = index.terms().each_ref().map(|terms| column(project, terms));
        let terms = index.terms().iter().map(|terms| terms.split_terminator(' ').count() as u64);
        let terms = terms.sum();
        self.job.push(Change { project, package, replaces, terms, columns });
    }

    /// Whether the running job has pending or indexed changes.
    pub(super) fn is_touched(&self) -> bool {
        !self.job.is_empty() || !self.brought.is_empty()
    }

    pub(super) fn keep_job(&mut self) {
        self.brought.clear();
        self.group.append(&mut self.job);
    }

    pub(super) fn undo_job(&mut self) {
        self.job.clear();
        // They precede anything that was added since.
        let later = std::mem::take(&mut self.group);
        self.group = std::mem::take(&mut self.brought);
        self.group.extend(later);
    }
}

impl Unit<'_> {
    pub(super) fn index_pending(&self) -> Result<()> {
        let mut pending = self.pending.borrow_mut();
        let group = std::mem::take(&mut pending.group);
        let job = std::mem::take(&mut pending.job);
        let mut terms: BTreeMap<i64, i64> = BTreeMap::new();
        // The group before the job: a replacement must follow the insertion of the same package.
        for change in group.iter().chain(&job) {
            let more = terms.entry(change.project).or_default();
            *more += number(change.terms);
            if change.replaces {
                let lengths = self.lengths_of(change.package)?.unwrap_or_default();
                *more -= number(lengths.iter().sum());
                self.run("DELETE FROM package_terms WHERE rowid = ?1", (change.package,))?;
            }
            let sql =
                "INSERT INTO package_terms (rowid, title, decisions, questions, handoff, body)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let [title, decisions, questions, handoff, body] = &change.columns;
            let values = params![change.package, title, decisions, questions, handoff, body];
            self.run(sql, values)?;
        }
        for (project, more) in terms {
            let sql = "UPDATE counter SET terms = terms + ?2 WHERE project = ?1";
            self.run(sql, (project, more))?;
        }
        // Changes of the job are undone with it. Those of finished jobs must be indexed again.
        pending.brought.extend(group);
        Ok(())
    }
}

impl Unit<'_> {
    /// Indexes all packages again, and counts their terms. A package that cannot be read keeps its
    /// terms: a verification reports it.
    pub(crate) fn index_stored(&mut self) -> Result<()> {
        let stored = self.many("SELECT pk, project FROM package", (), |row| {
            Ok((row.integer(0)?, row.integer(1)?))
        })?;
        for (package, project) in stored {
            let sql = "SELECT text, content_hash FROM package WHERE pk = ?1";
            let read = |row: &Row<'_>| {
                let hash = row.optional_digest(1).ok().flatten();
                Ok(row.text(0).ok().zip(hash))
            };
            let Some(Some((text, hash))) = self.one(sql, (package,), read)? else { continue };
            if let Ok(stored) = Package::from_stored(text, &hash.into()) {
                let index = PackageIndex::of(stored.fields());
                self.pending.get_mut().add(project, package, &index, true);
                // One by one: all packages together may not fit into memory.
                self.index_pending()?;
                self.pending.get_mut().keep_job();
            }
        }
        for project in self.many("SELECT project FROM counter", (), |row| row.integer(0))? {
            self.count_terms(project)?;
        }
        Ok(())
    }
}

/// Terms as the index stores them: each after the number of its project.
fn column(project: i64, terms: &str) -> String {
    let prefix = format!("{project}:");
    terms.split_inclusive(' ').flat_map(|term| [prefix.as_str(), term]).collect()
}
