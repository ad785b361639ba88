//! The terms of packages, on their way into the index.
//!
//! SQLite writes what it has gathered of an index to the disk at every savepoint. One savepoint a
//! job would make a piece of index of every package; so terms wait until every job of the group is
//! done, and go into the index together. A search within a job brings them there earlier.

use accord_store::{PARTS, PackageIndex, Result};
use rusqlite::params;

use super::Unit;

/// A change of the index.
#[derive(Clone)]
struct Change {
    package: i64,
    /// Whether the package has been there.
    replaces: bool,
    columns: [String; PARTS],
}

/// Changes that wait.
#[derive(Default)]
pub(super) struct Pending {
    /// Of jobs that are kept.
    group: Vec<Change>,
    /// Of the job that runs.
    job: Vec<Change>,
    /// Those of the group that are in the index since the job began, and so go if it is undone.
    brought: Vec<Change>,
}

impl Pending {
    pub(super) fn insert(&mut self, project: i64, package: i64, index: &PackageIndex) {
        self.add(project, package, index, false);
    }

    pub(super) fn replace(&mut self, project: i64, package: i64, index: &PackageIndex) {
        self.add(project, package, index, true);
    }

    /// Whether the job that runs has left something here or brought something to the index.
    pub(super) fn is_touched(&self) -> bool {
        !self.job.is_empty() || !self.brought.is_empty()
    }

    pub(super) fn keep_job(&mut self) {
        self.brought.clear();
        self.group.append(&mut self.job);
    }

    pub(super) fn undo_job(&mut self) {
        self.job.clear();
        // They stood before anything that was added since.
        let later = std::mem::take(&mut self.group);
        self.group = std::mem::take(&mut self.brought);
        self.group.extend(later);
    }

    fn add(&mut self, project: i64, package: i64, index: &PackageIndex, replaces: bool) {
        self.job.push(Change {
            package,
            replaces,
            columns: index.terms().each_ref().map(|terms| column(project, terms)),
        });
    }
}

impl Unit<'_> {
    /// Brings what waits into the index.
    pub(super) fn index_pending(&self) -> Result<()> {
        let mut pending = self.pending.borrow_mut();
        let group = std::mem::take(&mut pending.group);
        let job = std::mem::take(&mut pending.job);
        for change in group.iter().chain(&job) {
            if change.replaces {
                self.run(
                    "DELETE FROM package_terms WHERE rowid = ?1",
                    (change.package,),
                )?;
            }
            let sql = "INSERT INTO package_terms
                (rowid, title, decisions, questions, handoff, body) VALUES (?1, ?2, ?3, ?4, ?5,
                ?6)";
            let [title, decisions, questions, handoff, body] = &change.columns;
            let values = params![change.package, title, decisions, questions, handoff, body];
            self.run(sql, values)?;
        }
        pending.brought.extend(group);
        Ok(())
    }
}

/// Terms as the index stores them: each after the number of its project.
fn column(project: i64, terms: &str) -> String {
    let prefix = format!("{project}:");
    let mut column = String::with_capacity(terms.len() * 2);
    for term in terms.split_inclusive(' ') {
        column.push_str(&prefix);
        column.push_str(term);
    }
    column
}
