//! Pull: the latest packages, one package, and its revision log.

use std::collections::BTreeSet;

use accord_base::{Caller, Cursor as _, ProjectId, Verb, fill_page};
use accord_contract::codes::Failure;
use accord_memory_core::PackageId;
use accord_memory_core::query::{Latest, PackagePosition};
use accord_store::{PackageQuery, Quarantined, ReadUnit, Table};

use super::load::unreadable;
use super::questions::{Superseded, superseded};
use super::served::{Damaged, Served};
use super::{Memory, UnitError, UnitResult, load};

/// A page of packages.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PackagePage {
    /// The packages.
    pub packages: Vec<Served>,
    /// The cursor of the next page, if any.
    pub next_cursor: Option<String>,
    /// The ids of damaged packages of this page.
    pub damaged: Vec<String>,
    /// The superseded ones among the packages.
    pub superseded: Superseded,
}

/// One package.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PulledPackage {
    /// The package.
    pub package: Served,
    /// The packages that supersede it, newest first.
    pub superseded_by: Vec<PackageId>,
}

/// The packages of a list.
pub(crate) struct Taken {
    pub(crate) sound: Vec<Served>,
    pub(crate) damaged: Vec<Damaged>,
    /// The ids of unreadable rows.
    pub(crate) unreadable: Vec<String>,
    pub(crate) next: Option<PackagePosition>,
}

impl Memory {
    /// The newest packages of a project.
    ///
    /// Clauses: AGENTIC-R-068, AGENTIC-R-070.
    pub async fn latest(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: Latest,
    ) -> Result<PackagePage, Failure> {
        let (access, listed) = (caller.access().clone(), project.clone());
        let (taken, superseded) = self
            .read(move |unit| {
                load::readable(unit, &access, &listed)?;
                let query = PackageQuery {
                    status: asked.filter.status,
                    session: asked.filter.session.as_ref(),
                    drafts: load::drafts(&access),
                    after: asked.after,
                    limit: asked.limit as usize,
                    ..PackageQuery::default()
                };
                let taken = take(unit, &listed, &query)?;
                let superseded = superseded(unit, &listed, &taken.sound)?;
                Ok((taken, superseded))
            })
            .await?;
        self.set_aside(&taken.damaged);
        Ok(PackagePage {
            packages: taken.sound,
            next_cursor: taken.next.map(|place| place.encode(project)),
            damaged: names(&taken.damaged, taken.unreadable),
            superseded,
        })
    }

    /// One package: of the named project, or of any of the caller's.
    ///
    /// Clauses: AGENTIC-R-072.
    ///
    /// # Errors
    /// When the caller may not read, the id is unknown or ambiguous, or the package is damaged.
    pub async fn package(
        &self,
        caller: &Caller,
        within: Option<ProjectId>,
        id: PackageId,
    ) -> Result<PulledPackage, Failure> {
        let access = caller.access().clone();
        let (outcome, by) = self
            .read(move |unit| {
                let row = load::package_row(unit, &access, Verb::Read, within.as_ref(), &id)?;
                let mut marks = unit.superseded(&row.project_id, &mut [&id].into_iter())?;
                Ok((Served::of(row), marks.remove(&id).unwrap_or_default()))
            })
            .await?;
        Ok(PulledPackage { package: self.sound(outcome)?, superseded_by: by })
    }

    /// The log of a package, oldest entry first, each a JSON document.
    pub async fn revisions(
        &self,
        caller: &Caller,
        within: Option<ProjectId>,
        id: PackageId,
    ) -> Result<Vec<String>, Failure> {
        let access = caller.access().clone();
        self.read(move |unit| {
            let row = load::package_row(unit, &access, Verb::Read, within.as_ref(), &id)?;
            let log = unit.revisions(&row.project_id, &row.package_id)?;
            Ok(log.into_iter().map(|entry| entry.text).collect())
        })
        .await
    }
}

/// The packages that match a query, and the damaged ones.
pub(crate) fn take(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    query: &PackageQuery<'_>,
) -> UnitResult<Taken> {
    let (mut sound, mut damaged) = (Vec::new(), Vec::new());
    let next = fill_page::<_, _, UnitError>(
        query.limit,
        query.after,
        |after, limit| {
            // Quarantined packages are read too, because their ids are reported.
            let quarantined = Quarantined::Also;
            let query = PackageQuery { after: after.copied(), limit, quarantined, ..*query };
            Ok(unit.packages(project, &query)?)
        },
        |row| row.position(),
        |row| {
            Ok(match Served::of(row) {
                Ok(package) => {
                    let bytes = package.text.len();
                    sound.push(package);
                    Some(bytes)
                }
                Err(package) => {
                    damaged.push(package);
                    None
                }
            })
        },
    )?;
    Ok(Taken { sound, damaged, unreadable: unreadable(unit, Table::Package), next })
}

/// The ids of damaged packages, each once.
pub(crate) fn names(damaged: &[Damaged], unreadable: Vec<String>) -> Vec<String> {
    let damaged = damaged.iter().map(|found| found.package_id.as_str());
    let mut names: Vec<_> = damaged.map(str::to_owned).collect();
    names.extend(unreadable);
    let mut given = BTreeSet::new();
    names.retain(|name| given.insert(name.clone()));
    names
}
