//! Vectors in the model.

use accord_base::ProjectId;
use accord_memory_core::PackageId;

use super::{PackageEntry, State};
use crate::{
    EmbeddingRow, EmbeddingWrites, Embeddings, Order, PackageRow, Result, Space, StoreError,
    Unembedded, UnembeddedQuery,
};

#[derive(Clone, Debug)]
pub(super) struct Embedding {
    model: String,
    dimension: usize,
    row: EmbeddingRow,
}

impl Embeddings for State {
    fn unembedded(&self, space: Space<'_>, query: &UnembeddedQuery) -> Result<Vec<Unembedded>> {
        let is_behind = |row: &&PackageRow| match (query.after, query.order) {
            (None, _) => true,
            (Some(after), Order::OldestFirst) => row.seq > after,
            (Some(after), Order::NewestFirst) => row.seq < after,
        };
        let unembedded = |row: &PackageRow| {
            let (project_id, package_id) = (row.project_id.clone(), row.package_id.clone());
            Unembedded { seq: row.seq, project_id, package_id }
        };
        let shown = self.entries().filter(|entry| entry.row.quarantine.is_none());
        let waiting = shown.filter(|entry| entry.vectors(space).is_none()).map(|entry| &entry.row);
        let mut found: Vec<_> = waiting.filter(is_behind).map(unembedded).collect();
        found.sort_by_key(|found| found.seq);
        if query.order == Order::NewestFirst {
            found.reverse();
        }
        found.truncate(query.limit);
        Ok(found)
    }

    fn unembedded_count(&self, model: &str, dimension: Option<usize>) -> Result<u64> {
        let shown = self.entries().filter(|entry| entry.row.quarantine.is_none());
        let is_done = |kept: &Embedding| {
            kept.model == model && dimension.is_none_or(|dimension| kept.dimension == dimension)
        };
        let waiting = shown.filter(|entry| !entry.embedding.as_ref().is_some_and(is_done));
        Ok(waiting.count() as u64)
    }

    fn newest_package(&self) -> Result<u64> {
        Ok(self.entries().map(|entry| entry.row.seq).max().unwrap_or_default())
    }

    fn has_embeddings(&self, project: &ProjectId, model: &str) -> Result<bool> {
        let mut entries = self.at(project).into_iter().flat_map(|at| at.packages.values());
        Ok(entries.any(|entry| entry.embedding.as_ref().is_some_and(|kept| kept.model == model)))
    }

    fn embeddings(
        &self,
        project: &ProjectId,
        space: Space<'_>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<EmbeddingRow>> {
        let entries = self.at(project).into_iter().flat_map(|at| at.packages.values());
        let rows = entries.filter_map(|entry| entry.vectors(space));
        let mut rows: Vec<_> = rows.filter(|row| row.seq > after).cloned().collect();
        rows.sort_by_key(|row| row.seq);
        rows.truncate(limit);
        Ok(rows)
    }

    fn embedding(
        &self,
        project: &ProjectId,
        package: &PackageId,
        space: Space<'_>,
    ) -> Result<Option<EmbeddingRow>> {
        let entry = self.at(project).and_then(|project| project.packages.get(package));
        Ok(entry.and_then(|entry| entry.vectors(space)).cloned())
    }
}

impl EmbeddingWrites for State {
    fn put_embedding(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        space: Space<'_>,
        values: &[f32],
    ) -> Result<u64> {
        space.check(values)?;
        let seq = self.number();
        let found = self.at_mut(project)?.packages.get_mut(package);
        let entry = found.ok_or_else(|| StoreError::conflict("no package", package.as_str()))?;
        let row = EmbeddingRow { package_id: package.clone(), seq, values: values.to_vec() };
        let (model, dimension) = (space.model.to_owned(), space.dimension);
        entry.embedding = Some(Embedding { model, dimension, row });
        Ok(seq)
    }
}

impl State {
    fn entries(&self) -> impl Iterator<Item = &PackageEntry> {
        self.projects.values().flat_map(|project| project.packages.values())
    }
}

impl PackageEntry {
    fn vectors(&self, space: Space<'_>) -> Option<&EmbeddingRow> {
        let kept = self.embedding.as_ref()?;
        let same = kept.model == space.model && kept.dimension == space.dimension;
        same.then_some(&kept.row)
    }
}
