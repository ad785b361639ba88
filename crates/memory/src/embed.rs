//! Search by meaning, with a loaded embedder.
//!
//! The vectors of a project are a view in memory. It is built when the project is first searched by
//! meaning, and updated from its events. The embedded text of a package never changes after the
//! deposit.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use accord_base::{ProjectId, fill_page};
use accord_memory_core::{Package, PackageId, event};
use accord_store::{Order, PackageQuery, PackageRow, Quarantined, ReadUnit};
use parking_lot::Mutex;

use super::served::check;
use super::{UnitError, UnitResult, load, record};

/// Turns texts into vectors. Texts of similar meaning have vectors that are close together.
pub trait Embedder: Send + Sync {
    /// The vector of a text. All vectors have the same length. It may be slow, because no write
    /// waits for it.
    fn embed(&self, text: &str) -> Vec<f32>;
}

/// How much of a package's text is embedded, in bytes.
const LOOKED_AT: usize = 8 * 1024;

/// How many events are read at once.
const EVENTS: usize = 500;

/// The vectors of all projects that were searched by meaning.
#[derive(Default)]
pub(super) struct Vectors {
    projects: Mutex<HashMap<ProjectId, Arc<Mutex<ProjectVectors>>>>,
}

/// The vectors of one project.
#[derive(Default)]
struct ProjectVectors {
    /// The number of the last event that was read; zero for none.
    through: u64,
    vectors: BTreeMap<PackageId, Vec<f32>>,
}

impl Vectors {
    /// All packages of a project with their cosine similarity, from -1 to 1, closest first.
    pub(super) fn closest(
        &self,
        unit: &dyn ReadUnit,
        embedder: &dyn Embedder,
        project: &ProjectId,
        query: &str,
    ) -> UnitResult<Vec<(PackageId, f64)>> {
        // The lock of all projects is released before a project is embedded, which may be slow.
        let known = {
            let mut projects = self.projects.lock();
            projects.entry(project.clone()).or_default().clone()
        };
        let mut known = known.lock();
        known.catch_up(unit, embedder, project)?;
        let query = embedder.embed(query);
        let scored = known.vectors.iter();
        let mut scored: Vec<_> =
            scored.map(|(id, vector)| (id.clone(), cosine(&query, vector))).collect();
        scored.sort_by(|one, other| other.1.total_cmp(&one.1));
        Ok(scored)
    }
}

impl ProjectVectors {
    /// Adds the vectors of packages that were deposited since the last time.
    fn catch_up(
        &mut self,
        unit: &dyn ReadUnit,
        embedder: &dyn Embedder,
        project: &ProjectId,
    ) -> UnitResult<()> {
        let kept = unit.event_range(project)?;
        // The next events were deleted, or the stream is shorter than before. Then the events do
        // not say what is new.
        if self.through == 0 || !kept.reaches(self.through) || kept.newest < self.through {
            self.start(unit, embedder, project)?;
            self.through = kept.newest;
            return Ok(());
        }
        while self.through < kept.newest {
            let rows = unit.events(project, self.through, EVENTS)?;
            if rows.is_empty() {
                // The event is damaged.
                self.through = kept.newest;
            }
            for row in rows {
                self.through = row.seq;
                let Ok(event) = record::recorded(project, row) else {
                    continue;
                };
                let named = event.data.get("package_id").and_then(|id| id.as_str());
                if event.kind == event::PACKAGE_DEPOSITED
                    && let Some(Ok(id)) = named.map(PackageId::new)
                    && let Some(row) = load::if_sound(unit.package(project, &id))?
                {
                    self.add(embedder, row);
                }
            }
        }
        Ok(())
    }

    /// Adds the vectors of all packages that have none.
    fn start(
        &mut self,
        unit: &dyn ReadUnit,
        embedder: &dyn Embedder,
        project: &ProjectId,
    ) -> UnitResult<()> {
        let read = |after: Option<&_>, limit| {
            let query = PackageQuery {
                order: Order::OldestFirst,
                quarantined: Quarantined::No,
                after: after.copied(),
                limit,
                ..PackageQuery::default()
            };
            Ok(unit.packages(project, &query)?)
        };
        let position = |row: &PackageRow| row.position();
        fill_page::<_, _, UnitError>(usize::MAX, None, read, position, |row| {
            self.add(embedder, row);
            Ok(Some(0))
        })?;
        Ok(())
    }

    /// Adds a package, unless it is known or damaged. Readers report damaged packages.
    fn add(&mut self, embedder: &dyn Embedder, row: PackageRow) {
        if self.vectors.contains_key(&row.package_id) {
            return;
        }
        let Ok(row) = check(row) else {
            return;
        };
        let hash = row.state.content_hash;
        if let Ok(package) = Package::from_stored(row.state.text, &hash) {
            let texts = package.fields().searchable();
            let text = [texts.title, texts.decisions, texts.questions, texts.handoff, texts.body]
                .join("\n");
            let vector = embedder.embed(&text[..text.floor_char_boundary(LOOKED_AT)]);
            self.vectors.insert(row.package_id, vector);
        }
    }
}

/// The cosine similarity of two vectors.
fn cosine(one: &[f32], other: &[f32]) -> f64 {
    let dot = |one: &[f32], other: &[f32]| -> f64 {
        let pairs = one.iter().zip(other);
        pairs.map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
    };
    let length = (dot(one, one) * dot(other, other)).sqrt();
    if length > 0.0 { dot(one, other) / length } else { 0.0 }
}
