//! Removal of a project. Invariant: after a removal no table has a row of the project, except
//! `project` and `counter`, and `live_session`, whose rows then belong to no project. A test looks
//! into every table of the schema. Rows that refer to a package with ON DELETE CASCADE are deleted
//! with it.

use accord_base::ProjectId;
use accord_contract::Timestamp;
use accord_store::{Audit as _, Result};
use rusqlite::params;

use super::{Unit, number};
use crate::error::damaged;

/// Deletes what refers to packages, for the whole project.
const BEFORE_PACKAGES: &[&str] = &[
    "DELETE FROM question_use WHERE question IN (SELECT pk FROM question WHERE project = ?1)",
    "DELETE FROM question WHERE project = ?1",
    "DELETE FROM question_tally WHERE project = ?1",
    "DELETE FROM tally WHERE kind IN (SELECT pk FROM kind WHERE project = ?1)",
    "DELETE FROM kind WHERE project = ?1",
];

/// Deletes one package, by its number. No index has all packages of a project.
const PACKAGE: &[&str] = &[
    "DELETE FROM package_terms WHERE rowid = ?1",
    "DELETE FROM question_use WHERE package = ?1",
    "DELETE FROM revision WHERE package = ?1",
    "DELETE FROM package WHERE pk = ?1",
];

/// Deletes the other rows of the project.
const AFTER_PACKAGES: &[&str] = &[
    "DELETE FROM fact WHERE project = ?1",
    "DELETE FROM session WHERE project = ?1",
    "DELETE FROM decision WHERE project = ?1",
    "DELETE FROM edge WHERE project = ?1",
    "DELETE FROM edge_item WHERE project = ?1",
    "DELETE FROM edge_decision WHERE project = ?1",
    "DELETE FROM event WHERE project = ?1",
    "DELETE FROM blob WHERE project = ?1",
    "DELETE FROM setting WHERE project = ?1",
    "DELETE FROM inbox_item WHERE project = ?1",
    "DELETE FROM inbox_mark WHERE project = ?1",
    "DELETE FROM notice WHERE project = ?1",
];

impl Unit<'_> {
    /// Deletes the rows of a project. Returns the number of the removal in its stream.
    pub(super) fn delete_project(&mut self, project: &ProjectId, at: &Timestamp) -> Result<u64> {
        let pk = self.must_find(project)?;
        // Pending terms would be indexed after their packages are deleted.
        self.index_pending()?;
        for sql in BEFORE_PACKAGES {
            self.run(sql, (pk,))?;
        }
        for package in self.package_numbers(project)? {
            for sql in PACKAGE {
                self.run(sql, (package,))?;
            }
        }
        for sql in AFTER_PACKAGES {
            self.run(sql, (pk,))?;
        }
        self.remove_live(pk)?;
        let sql = "UPDATE counter SET newest_event = newest_event + 1,
            oldest_event = newest_event + 2, packages = 0, terms = 0
            WHERE project = ?1 RETURNING newest_event";
        let event =
            self.one(sql, (pk,), |row| row.count(0))?.ok_or_else(|| damaged("a counter"))?;
        let sql = "UPDATE project SET archived_at = NULL, conformance = 0, text = '',
            is_removed = 1, removed_event = ?2, removed_at = ?3 WHERE pk = ?1";
        self.run(sql, params![pk, number(event), at.as_str()])?;
        // The next query must not find it.
        self.last_project.take();
        self.advanced_by_job.insert(project.clone(), event);
        Ok(event)
    }
}
