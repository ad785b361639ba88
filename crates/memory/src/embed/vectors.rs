//! The nearest packages of a project.
//!
//! The vectors of searched projects are kept in memory, one byte per value, up to a limit for all
//! of them. The projects that were searched last stay. A project that alone exceeds the limit is
//! read from the store for each search.
//!
//! Invariant: what is in memory follows the store. Vectors have growing numbers, so a search first
//! adds those after the last number that it knows.

use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use accord_store::{EmbeddingRow, PackageRow, ReadUnit, Space};
use parking_lot::{Mutex, RwLock};

use super::nearest::{Coded, best, coded_product};
use crate::{UnitResult, load};

/// How many rows are read at once.
const PAGE: usize = 500;
/// How many packages are looked at for a search. Those that the caller may not see are skipped.
const EXAMINED: usize = 2_000;
/// How many more candidates than wanted are compared exactly.
const MARGIN: usize = 20;
/// The owner of a passage whose package has newer ones.
const REPLACED: u32 = u32::MAX;

/// The vectors of the projects that were searched last.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    projects: Mutex<HashMap<ProjectId, Kept>>,
}

/// A project in memory.
#[derive(Debug, Default)]
struct Kept {
    vectors: Arc<RwLock<ProjectVectors>>,
    bytes: usize,
    /// Larger than that of every project that was used before.
    used: u64,
}

#[derive(Debug, Default)]
struct ProjectVectors {
    dimension: usize,
    /// The number of the last row that was read.
    through: u64,
    is_too_large: bool,
    packages: Vec<PackageId>,
    places: HashMap<PackageId, u32>,
    /// For each passage: the place of its package, its scale and its codes.
    owners: Vec<u32>,
    scales: Vec<f32>,
    codes: Vec<i8>,
}

#[derive(Debug, Default)]
pub(crate) struct Nearest {
    /// The packages with their cosine similarity, from -1 to 1, nearest first.
    pub(crate) packages: Vec<(PackageRow, f32)>,
    /// How many packages of the project have vectors.
    pub(crate) known: u64,
}

/// The similarity of the package in a place. The most similar is the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ranked {
    score: f32,
    place: u32,
}

#[derive(Clone, Copy)]
pub(crate) struct NearestQuery<'a> {
    pub(crate) project: &'a ProjectId,
    pub(crate) model: &'a str,
    pub(crate) vector: &'a [f32],
    pub(crate) wanted: usize,
    /// The limit for all projects in memory, in bytes.
    pub(crate) memory: u64,
}

impl NearestQuery<'_> {
    fn space(&self) -> Space<'_> {
        Space { model: self.model, dimension: self.vector.len() }
    }
}

impl Vectors {
    /// The nearest packages for which `accept` returns a row.
    pub(crate) fn nearest(
        &self,
        unit: &dyn ReadUnit,
        query: NearestQuery<'_>,
        accept: impl FnMut(&PackageId) -> UnitResult<Option<PackageRow>>,
    ) -> UnitResult<Nearest> {
        let kept = self.follow(unit, query)?;
        let kept = kept.read();
        let (ranking, streamed);
        let packages = if kept.is_too_large {
            let (scores, found) = stream(unit, query)?;
            (ranking, streamed) = (scores, found);
            &streamed
        } else {
            ranking = kept.ranking(query.vector);
            &kept.packages
        };
        take(unit, query, ranking, packages, accept)
    }

    /// The vectors of a project, up to date.
    fn follow(
        &self,
        unit: &dyn ReadUnit,
        query: NearestQuery<'_>,
    ) -> UnitResult<Arc<RwLock<ProjectVectors>>> {
        // The lock of all projects is released before a project is read, which may be slow.
        let vectors = {
            let mut projects = self.projects.lock();
            let used = projects.values().map(|kept| kept.used).max().unwrap_or_default() + 1;
            let kept = projects.entry(query.project.clone()).or_default();
            kept.used = used;
            Arc::clone(&kept.vectors)
        };
        // Most searches find nothing new and need no exclusive lock.
        if vectors.read().is_current(unit, query)? {
            return Ok(vectors);
        }
        let bytes = {
            let mut vectors = vectors.write();
            vectors.catch_up(unit, query)?;
            vectors.bytes()
        };
        self.make_room(query, bytes);
        Ok(vectors)
    }

    /// Notes the size of a project, and forgets the projects that were not used for longest.
    fn make_room(&self, query: NearestQuery<'_>, bytes: usize) {
        let mut projects = self.projects.lock();
        if let Some(kept) = projects.get_mut(query.project) {
            kept.bytes = bytes;
        }
        while projects.values().map(|kept| kept.bytes as u64).sum::<u64>() > query.memory {
            let others = projects.iter().filter(|(project, _)| *project != query.project);
            let oldest = others.min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(project, _)| project.clone()) else { return };
            projects.remove(&oldest);
        }
    }
}

impl ProjectVectors {
    fn is_current(&self, unit: &dyn ReadUnit, query: NearestQuery<'_>) -> UnitResult<bool> {
        if self.dimension != query.vector.len() {
            return Ok(false);
        }
        let newer = unit.embeddings(query.project, query.space(), self.through, 1)?;
        Ok(self.is_too_large || newer.is_empty())
    }

    /// Adds the vectors that were stored since the last time.
    fn catch_up(&mut self, unit: &dyn ReadUnit, query: NearestQuery<'_>) -> UnitResult<()> {
        if self.dimension != query.vector.len() {
            *self = Self { dimension: query.vector.len(), ..Self::default() };
        }
        while !self.is_too_large {
            let rows = unit.embeddings(query.project, query.space(), self.through, PAGE)?;
            let Some(last) = rows.last() else { break };
            self.through = last.seq;
            for row in rows {
                self.add(row);
            }
            if self.bytes() as u64 > query.memory {
                let dimension = self.dimension;
                *self = Self { dimension, is_too_large: true, ..Self::default() };
            }
        }
        Ok(())
    }

    fn add(&mut self, row: EmbeddingRow) {
        let place = match self.places.entry(row.package_id) {
            Entry::Occupied(known) => {
                // Vectors are written again only when they are repaired, so this may be slow.
                let place = *known.get();
                let owned = self.owners.iter_mut().filter(|owner| **owner == place);
                owned.for_each(|owner| *owner = REPLACED);
                place
            }
            Entry::Vacant(new) => {
                let place = self.packages.len() as u32;
                self.packages.push(new.key().clone());
                *new.insert(place)
            }
        };
        for passage in row.values.chunks_exact(self.dimension.max(1)) {
            let Coded { codes, scale } = Coded::new(passage);
            self.owners.push(place);
            self.scales.push(scale);
            self.codes.extend(codes);
        }
    }

    /// All packages by the similarity of their best passage.
    fn ranking(&self, query: &[f32]) -> BinaryHeap<Ranked> {
        let query = Coded::new(query).widened();
        let mut scores = vec![f32::NEG_INFINITY; self.packages.len()];
        let passages = self.codes.chunks_exact(self.dimension.max(1));
        for ((codes, owner), scale) in passages.zip(&self.owners).zip(&self.scales) {
            let score = coded_product(&query, codes) as f32 * scale;
            if let Some(known) = scores.get_mut(*owner as usize) {
                *known = known.max(score);
            }
        }
        ranked(&scores)
    }

    /// About how much memory it takes.
    fn bytes(&self) -> usize {
        let ids: usize = self.packages.iter().map(|id| id.as_str().len()).sum();
        self.codes.len() + self.owners.len() * 8 + self.packages.len() * 64 + ids * 2
    }
}

/// All packages of a project by the similarity of their best passage, read from the store.
fn stream(
    unit: &dyn ReadUnit,
    query: NearestQuery<'_>,
) -> UnitResult<(BinaryHeap<Ranked>, Vec<PackageId>)> {
    let (mut scores, mut packages, mut through) = (Vec::new(), Vec::new(), 0);
    loop {
        let rows = unit.embeddings(query.project, query.space(), through, PAGE)?;
        let Some(last) = rows.last() else { return Ok((ranked(&scores), packages)) };
        through = last.seq;
        for row in rows {
            scores.push(best(query.vector, &row.values).unwrap_or(f32::NEG_INFINITY));
            packages.push(row.package_id);
        }
    }
}

fn ranked(scores: &[f32]) -> BinaryHeap<Ranked> {
    let scores = scores.iter().zip(0..);
    let passages = scores.filter(|(score, _)| **score > f32::NEG_INFINITY);
    passages.map(|(score, place)| Ranked { score: *score, place }).collect()
}

/// The wanted packages of a ranking, with their exact similarity.
fn take(
    unit: &dyn ReadUnit,
    query: NearestQuery<'_>,
    mut ranking: BinaryHeap<Ranked>,
    packages: &[PackageId],
    mut accept: impl FnMut(&PackageId) -> UnitResult<Option<PackageRow>>,
) -> UnitResult<Nearest> {
    let mut nearest = Nearest { packages: Vec::new(), known: packages.len() as u64 };
    let mut examined = 0;
    while nearest.packages.len() < query.wanted.saturating_add(MARGIN) && examined < EXAMINED {
        let Some(next) = ranking.pop() else { break };
        let package = &packages[next.place as usize];
        let Some(row) = accept(package)? else {
            examined += 1;
            continue;
        };
        let stored = load::if_sound(unit.embedding(query.project, package, query.space()))?;
        let exact = stored.and_then(|stored| best(query.vector, &stored.values));
        if let Some(score) = exact {
            nearest.packages.push((row, score));
        }
    }
    // On a tie the later deposit is first.
    nearest.packages.sort_by(|(one, score), (other, better)| {
        better.total_cmp(score).then(other.seq.cmp(&one.seq))
    });
    nearest.packages.truncate(query.wanted);
    Ok(nearest)
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then(self.place.cmp(&other.place))
    }
}
