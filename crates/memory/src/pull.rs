//! Pull: the latest packages, one package, and its revision log.

use std::collections::{BTreeMap, BTreeSet};

use accord_base::{Budgeted, Caller, Cursor as _, ProjectId, Verb, fill_page};
use accord_contract::{Failure, Wire as _};
use accord_memory_core::PackageId;
use accord_memory_core::lifecycle::Revision;
use accord_memory_core::query::{Latest, PackagePosition};
use accord_store::{PackageQuery, Quarantine, Quarantined, ReadUnit, Table};

use super::load::unreadable;
use super::page::{Listed, Writing};
use super::questions::{Superseded, superseded};
use super::served::{Damaged, Served};
use super::{Memory, UnitError, UnitResult, load};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PackagePage {
    pub packages: Vec<Served>,
    pub next_cursor: Option<String>,
    pub damaged: Vec<String>,
    pub superseded: Superseded,
    pub reviews: Reviews,
    pub budgeted: Option<Budgeted>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PulledPackage {
    pub package: Served,
    /// The packages that supersede it, newest first.
    pub superseded_by: Vec<PackageId>,
    /// Its latest state with a note.
    pub review: Option<Revision>,
}

/// Packages with a note of a review, approval or flag: the latest state of each that has one. It
/// stands beside the packages, because the text of a package never changes.
pub type Reviews = BTreeMap<PackageId, Revision>;

pub(crate) struct Taken {
    pub(crate) sound: Vec<Served>,
    /// The positions of the sound ones.
    pub(crate) places: Vec<PackagePosition>,
    pub(crate) damaged: Vec<Damaged>,
    pub(crate) unreadable: Vec<String>,
    pub(crate) next: Option<PackagePosition>,
}

impl Memory {
    /// Clauses: AGENTIC-R-068, AGENTIC-R-070.
    pub async fn latest(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: Latest,
    ) -> Result<PackagePage, Failure> {
        let (access, listed) = (caller.access().clone(), project.clone());
        let (page, damaged) = self
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
                let damaged = names(&taken.damaged, taken.unreadable);
                let marks = superseded(unit, &listed, &taken.sound)?;
                let marked = marks.iter().flat_map(|(id, by)| [id].into_iter().chain(by));
                let named = marked.map(|id| id.as_str().to_owned()).chain(damaged.iter().cloned());
                let notes = reviews(unit, &listed, &taken.sound)?;
                let named = named.chain(notes.iter().flat_map(|(id, review)| {
                    [id.as_str().to_owned(), review.encode().to_string()]
                }));
                let writing = Writing {
                    max_tokens: asked.max_tokens,
                    text: |package: &Served| package.text.as_str(),
                    head: &["package_id", "title"],
                    cursor: &|place: &PackagePosition| place.encode(&listed),
                };
                let items = taken.sound.into_iter().zip(taken.places).collect();
                let list = Listed { items, next: taken.next };
                let named: Vec<_> = named.collect();
                let (packages, next_cursor, budgeted) = list.within(&writing, &named, |after| {
                    let rest = PackageQuery { after: Some(*after), ..query };
                    Ok(unit.package_total(&listed, &rest)?)
                })?;
                let superseded = superseded(unit, &listed, &packages)?;
                let reviews = reviews(unit, &listed, &packages)?;
                let page =
                    PackagePage { packages, next_cursor, damaged, superseded, reviews, budgeted };
                Ok((page, taken.damaged))
            })
            .await?;
        self.set_aside(&damaged);
        Ok(page)
    }

    /// One package: of the named project, or of any of the caller's.
    /// Clauses: AGENTIC-R-072.
    pub async fn package(
        &self,
        caller: &Caller,
        within: Option<ProjectId>,
        id: PackageId,
    ) -> Result<PulledPackage, Failure> {
        let access = caller.access().clone();
        let (outcome, superseded_by, review) = self
            .read(move |unit| {
                let row = load::package_row(unit, &access, Verb::Read, within.as_ref(), &id)?;
                let id = &row.package_id;
                let mut marks = unit.superseded(&row.project_id, &mut [id].into_iter())?;
                let review = review(unit, &row.project_id, id)?;
                let superseded_by = marks.remove(id).unwrap_or_default();
                Ok((Served::of(row), superseded_by, review))
            })
            .await?;
        Ok(PulledPackage { package: self.sound(outcome)?, superseded_by, review })
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

/// The latest state of each package that has a note.
pub(crate) fn reviews(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    packages: &[Served],
) -> UnitResult<Reviews> {
    let mut reviews = Reviews::new();
    // The deposit itself has no note.
    for package in packages.iter().filter(|package| package.revision > 1) {
        let found = review(unit, project, &package.package_id)?;
        reviews.extend(found.map(|review| (package.package_id.clone(), review)));
    }
    Ok(reviews)
}

fn review(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    id: &PackageId,
) -> UnitResult<Option<Revision>> {
    let log = unit.revisions(project, id)?;
    // A damaged entry is reported by a verification.
    let mut sound = log.iter().rev().filter_map(|entry| load::read_revision(entry).ok());
    let has_note = |entry: &Revision| entry.note.as_ref().is_some_and(|it| !it.trim().is_empty());
    Ok(sound.find(has_note))
}

/// The packages that match a query, and the damaged ones.
pub(crate) fn take(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    query: &PackageQuery<'_>,
) -> UnitResult<Taken> {
    let (mut sound, mut places, mut damaged) = (Vec::new(), Vec::new(), Vec::new());
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
            let place = row.position();
            if row.quarantine.as_ref().is_some_and(Quarantine::is_rejected) {
                return Ok(None);
            }
            Ok(match Served::of(row) {
                Ok(package) => {
                    let bytes = package.text.len();
                    sound.push(package);
                    places.push(place);
                    Some(bytes)
                }
                Err(package) => {
                    damaged.push(package);
                    None
                }
            })
        },
    )?;
    Ok(Taken { sound, places, damaged, unreadable: unreadable(unit, Table::Package), next })
}

/// The ids of damaged packages, each once.
pub(crate) fn names(damaged: &[Damaged], unreadable: Vec<String>) -> Vec<String> {
    let damaged = damaged.iter().map(|found| found.package_id.as_str().to_owned());
    let mut given = BTreeSet::new();
    damaged.chain(unreadable).filter(|name| given.insert(name.clone())).collect()
}
