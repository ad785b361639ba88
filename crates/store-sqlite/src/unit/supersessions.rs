//! What packages supersede.
//!
//! A row of `supersession` is kept for every link, also while its package is not complete or the
//! superseded package is missing.

use std::collections::{BTreeMap, BTreeSet};

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use accord_memory_core::lifecycle::Standing;
use accord_memory_core::package::Links;
use accord_store::{MAX_SOURCES, Result};
use rusqlite::params;

use super::{Unit, limit};

/// The packages `b` that supersede the package `t`, as `Side::supersedes` decides it.
macro_rules! superseding {
    () => {
        "supersession s JOIN package b ON b.pk = s.package
         WHERE s.project = t.project AND s.target = t.package_id AND s.holds = 1
         AND (s.outranks OR t.actor_type <> 'human')
         AND NOT ((b.created_key, b.package_id) < (t.created_key, t.package_id)
            AND EXISTS (SELECT 1 FROM supersession m
                WHERE m.package = t.pk AND m.target = b.package_id AND m.holds = 1
                AND (m.outranks OR b.actor_type <> 'human')))"
    };
}
pub(super) use superseding;

impl Unit<'_> {
    /// Those of the packages that are superseded, and by which.
    pub(super) fn superseded_of(
        &self,
        project: &ProjectId,
        packages: &mut dyn Iterator<Item = &PackageId>,
    ) -> Result<BTreeMap<PackageId, Vec<PackageId>>> {
        let mut marks = BTreeMap::new();
        let Some(pk) = self.find(project)? else {
            return Ok(marks);
        };
        let sql = concat!(
            "SELECT b.package_id FROM package t JOIN ",
            superseding!(),
            " AND t.package_id = ?1 AND t.project = ?2
             ORDER BY b.created_key DESC, b.pk DESC LIMIT ?3"
        );
        for id in packages {
            let values = params![id.as_str(), pk, limit(MAX_SOURCES)];
            let by = self.many(sql, values, |row| Ok(row.id(0).ok()))?;
            // A package with an unreadable id is reported by a verification.
            let by: Vec<PackageId> = by.into_iter().flatten().collect();
            if !by.is_empty() {
                marks.insert(id.clone(), by);
            }
        }
        Ok(marks)
    }

    /// Adds the link from a package to one that it supersedes.
    pub(super) fn supersede(
        &self,
        project: i64,
        package: i64,
        target: &PackageId,
        holds: bool,
        standing: &Standing,
    ) -> Result<()> {
        let sql = "INSERT INTO supersession (package, target, project, holds, outranks)
            VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
        let values = params![package, target.as_str(), project, holds, standing.outranks_people];
        self.run(sql, values)?;
        Ok(())
    }

    /// Whether the stored rows of a package are these.
    pub(super) fn has_supersessions(
        &self,
        package: i64,
        links: &Links,
        holds: bool,
        standing: &Standing,
    ) -> Result<bool> {
        let sql = "SELECT target, holds, outranks FROM supersession WHERE package = ?1";
        let stored = self.many(sql, (package,), |row| {
            Ok((row.label(0), row.integer(1)? == 1, row.integer(2)? == 1))
        })?;
        let expected = links.supersedes.iter();
        let expected = expected
            .map(|target| (target.as_str().to_owned(), holds, standing.outranks_people))
            .collect::<BTreeSet<_>>();
        Ok(stored.into_iter().collect::<BTreeSet<_>>() == expected)
    }
}
