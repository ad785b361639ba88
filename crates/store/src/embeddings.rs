//! Vectors of packages, for search by meaning. A package has the vectors of its passages, made by
//! one model. Vectors are made after the deposit and can be made again at any time, so they are in
//! no export. Vectors of the same [`Space`] can be compared with each other. A package has vectors
//! of one space at a time.

use accord_base::ProjectId;
use accord_memory_core::PackageId;

use crate::{Order, Result, StoreError};

/// Vectors that can be compared: those of one model, with one dimension.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Space<'a> {
    /// The model that made them.
    pub model: &'a str,
    /// The number of values in each.
    pub dimension: usize,
}

/// The vectors of a package.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingRow {
    /// The package.
    pub package_id: PackageId,
    /// Its number, which the store assigns and which grows with every write of vectors.
    pub seq: u64,
    /// The values of all vectors, one after the other; none if the model refuses the package.
    pub values: Vec<f32>,
}

/// A package without vectors.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unembedded {
    /// The number of the package.
    pub seq: u64,
    /// The project that owns it.
    pub project_id: ProjectId,
    /// Its id.
    pub package_id: PackageId,
}

/// Which packages without vectors, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnembeddedQuery {
    /// The direction, by the number of the package.
    pub order: Order,
    /// Only those after this number, in that direction.
    pub after: Option<u64>,
    /// The maximum number.
    pub limit: usize,
}

/// Reads vectors.
pub trait Embeddings {
    /// The packages of all projects that have no vectors of a space, without quarantined ones.
    fn unembedded(&self, space: Space<'_>, query: &UnembeddedQuery) -> Result<Vec<Unembedded>>;

    /// The number of packages that have no vectors of a model, without quarantined ones; with a
    /// dimension, vectors of another one do not count. The cost grows with the number of packages.
    fn unembedded_count(&self, model: &str, dimension: Option<usize>) -> Result<u64>;

    /// The number of the newest package of all projects; zero if there is none.
    fn newest_package(&self) -> Result<u64>;

    /// Whether a project has vectors of a model.
    fn has_embeddings(&self, project: &ProjectId, model: &str) -> Result<bool>;

    /// The vectors of a project, also of quarantined packages, by their numbers, after a number.
    fn embeddings(
        &self,
        project: &ProjectId,
        space: Space<'_>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<EmbeddingRow>>;

    /// The vectors of a package, if it has any of this space.
    fn embedding(
        &self,
        project: &ProjectId,
        package: &PackageId,
        space: Space<'_>,
    ) -> Result<Option<EmbeddingRow>>;
}

/// Writes vectors.
pub trait EmbeddingWrites {
    /// Replaces the vectors of a package. Returns the number that the store assigned. It is a
    /// conflict when the package does not exist, or the values are not whole vectors.
    fn put_embedding(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        space: Space<'_>,
        values: &[f32],
    ) -> Result<u64>;
}

impl Space<'_> {
    /// Checks that values are whole vectors of numbers.
    pub fn check(&self, values: &[f32]) -> Result<()> {
        let is_whole = self.dimension > 0 && values.len().is_multiple_of(self.dimension);
        if is_whole && values.iter().all(|value| value.is_finite()) {
            return Ok(());
        }
        Err(StoreError::conflict("vectors", "are not whole"))
    }
}
