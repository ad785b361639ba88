//! Superseded packages among the results of a search.
//!
//! A package that others supersede is out of date: whoever asks wants the others. So each of those
//! that no other supersedes takes the place of the superseded one in the results, whether or not it
//! has the words of the query, and the superseded one follows with a part of its score.

use std::collections::{BTreeMap, BTreeSet};

use accord_base::ProjectId;
use accord_memory_core::PackageId;

use super::{Hit, SearchQuery};
use crate::{Packages, Result};

/// What is left of the score of a superseded package.
const SUPERSEDED: f64 = 0.5;

/// How many packages supersede each other in a row, at most. Beyond that the chain is cut.
const MAX_CHAIN: usize = 32;

/// How many results are looked at for each one that is returned, and how many besides.
const LOOKED_AT: (usize, usize) = (1, 5);

/// How many results of a search are needed for so many after [`successors_first`].
pub fn candidates(limit: usize) -> usize {
    limit.saturating_mul(LOOKED_AT.0).saturating_add(LOOKED_AT.1)
}

/// The best results, each after the packages that supersede it. `hits` are in order, and more than
/// the limit of the query, so that others can move up.
pub fn successors_first<P: Packages + ?Sized>(
    packages: &P,
    project: &ProjectId,
    query: &SearchQuery<'_>,
    hits: Vec<Hit>,
) -> Result<Vec<Hit>> {
    let mut ids = hits.iter().map(|hit| &hit.package.package_id);
    let superseded = packages.superseded(project, &mut ids)?;
    if superseded.is_empty() {
        return Ok(hits.into_iter().take(query.limit).collect());
    }
    let mut placed: Vec<Hit> = Vec::with_capacity(hits.len());
    let mut heirs: BTreeMap<PackageId, f64> = BTreeMap::new();
    let mut old = Vec::new();
    for hit in hits {
        let id = &hit.package.package_id;
        if !superseded.contains_key(id) {
            placed.push(hit);
            continue;
        }
        let chain = Chain::of(packages, project, id)?;
        for heir in chain.heirs {
            let score = heirs.entry(heir).or_insert(hit.score);
            *score = score.max(hit.score);
        }
        old.push((chain.length, Hit { score: hit.score * SUPERSEDED, ..hit }));
    }
    for hit in &mut placed {
        if let Some(score) = heirs.remove(&hit.package.package_id) {
            hit.score = hit.score.max(score);
        }
    }
    // The others do not have the words of the query.
    for (id, score) in heirs {
        let row = packages.package(project, &id)?;
        if let Some(package) = row.filter(|row| query.shows(row)) {
            placed.push(Hit { package, score, matched: Vec::new() });
        }
    }
    // From the end of a chain to its beginning, each behind those that supersede it.
    old.sort_by_key(|(length, _)| *length);
    for (_, mut hit) in old {
        let by = &superseded[&hit.package.package_id];
        let above = placed.iter().filter(|above| by.contains(&above.package.package_id));
        hit.score = above.map(|above| above.score).fold(hit.score, f64::min);
        placed.push(hit);
    }
    // Stable: of equal ones, the superseded ones stay behind.
    placed.sort_by(|one, other| other.score.total_cmp(&one.score));
    placed.truncate(query.limit);
    Ok(placed)
}

/// The packages that supersede one, those that supersede them, and so on.
struct Chain {
    /// Those that none supersedes.
    heirs: Vec<PackageId>,
    /// How many steps away the farthest is.
    length: usize,
}

impl Chain {
    fn of<P: Packages + ?Sized>(
        packages: &P,
        project: &ProjectId,
        superseded: &PackageId,
    ) -> Result<Self> {
        let mut chain = Self { heirs: Vec::new(), length: 0 };
        let mut seen = BTreeSet::from([superseded.clone()]);
        let mut open = vec![superseded.clone()];
        while !open.is_empty() && seen.len() < MAX_CHAIN {
            let by = packages.superseded(project, &mut open.iter())?;
            let ended = open.into_iter().filter(|id| !by.contains_key(id));
            chain.heirs.extend(ended);
            let next = by.into_values().flatten();
            open = next.filter(|id| seen.insert(id.clone())).collect();
            chain.length += 1;
        }
        Ok(chain)
    }
}
