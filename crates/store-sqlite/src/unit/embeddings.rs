//! Vectors of packages.

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use accord_store::{
    EmbeddingRow, EmbeddingWrites, Embeddings, Order, Result, Space, StoreError, Stored, Table,
    Unembedded, UnembeddedQuery, fill,
};
use rusqlite::params;

use super::column::Row;
use super::damage::{examine, examine_of};
use super::derived::Wrong;
use super::{Unit, limit, number};
use crate::error::damaged;

/// The size of a value in bytes.
const VALUE: usize = size_of::<f32>();

impl Embeddings for Unit<'_> {
    fn unembedded(&self, space: Space<'_>, query: &UnembeddedQuery) -> Result<Vec<Unembedded>> {
        // By the numbers of the packages. The sign keeps SQLite from an index of another order.
        macro_rules! page {
            ($beyond:literal, $order:literal) => {
                concat!(
                    "SELECT p.package_id, j.project_id, p.pk
                     FROM package p JOIN project j ON j.pk = +p.project
                     WHERE p.pk ",
                    $beyond,
                    " ?3 AND p.quarantined_at IS NULL AND NOT EXISTS (
                        SELECT 1 FROM embedding e
                        WHERE e.package = p.pk AND e.model = ?1 AND e.dimension = ?2)
                     ORDER BY p.pk ",
                    $order,
                    " LIMIT ?4"
                )
            };
        }
        let (sql, start) = match query.order {
            Order::OldestFirst => (page!(">", "ASC"), 0),
            Order::NewestFirst => (page!("<", "DESC"), i64::MAX),
        };
        let after = query.after.map_or(start, number);
        fill(query.limit, |wanted| {
            let values = params![space.model, dimension(space), after, limit(wanted)];
            self.many(sql, values, |columns| {
                let found = examine_of(columns, Table::Package, 1, |row, project| {
                    let (seq, package_id) = (row.count(2)?, row.id(0)?);
                    Ok(Unembedded { seq, project_id: project.clone(), package_id })
                });
                Ok(self.keep(found))
            })
        })
    }

    fn unembedded_count(&self, model: &str, dimension: Option<usize>) -> Result<u64> {
        let sql = "SELECT count(*) FROM package p
            WHERE p.quarantined_at IS NULL AND NOT EXISTS (
                SELECT 1 FROM embedding e
                WHERE e.package = p.pk AND e.model = ?1 AND (?2 IS NULL OR e.dimension = ?2))";
        let values = params![model, dimension.map(limit)];
        Ok(self.one(sql, values, |row| row.count(0))?.unwrap_or_default())
    }

    fn newest_package(&self) -> Result<u64> {
        let sql = "SELECT coalesce(max(pk), 0) FROM package";
        Ok(self.one(sql, (), |row| row.count(0))?.unwrap_or_default())
    }

    fn has_embeddings(&self, project: &ProjectId, model: &str) -> Result<bool> {
        let pk = self.or_none(project)?;
        let sql = "SELECT 1 FROM embedding WHERE project = ?1 AND model = ?2 LIMIT 1";
        Ok(self.one(sql, (pk, model), |row| row.integer(0))?.is_some())
    }

    fn embeddings(
        &self,
        project: &ProjectId,
        space: Space<'_>,
        after: u64,
        wanted: usize,
    ) -> Result<Vec<EmbeddingRow>> {
        let pk = self.or_none(project)?;
        let sql = "SELECT p.package_id, e.pk, e.vectors, e.dimension
            FROM embedding e JOIN package p ON p.pk = e.package
            WHERE e.project = ?1 AND e.model = ?2 AND e.dimension = ?3 AND e.pk > ?4
            ORDER BY e.pk LIMIT ?5";
        fill(wanted, |wanted| {
            let values = params![pk, space.model, dimension(space), number(after), limit(wanted)];
            self.many(sql, values, |columns| Ok(self.keep(stored(columns, project))))
        })
    }

    fn embedding(
        &self,
        project: &ProjectId,
        package: &PackageId,
        space: Space<'_>,
    ) -> Result<Option<EmbeddingRow>> {
        let pk = self.or_none(project)?;
        let sql = "SELECT p.package_id, e.pk, e.vectors, e.dimension
            FROM package p JOIN embedding e ON e.package = p.pk
            WHERE p.package_id = ?1 AND p.project = ?2 AND e.model = ?3 AND e.dimension = ?4";
        let values = params![package.as_str(), pk, space.model, dimension(space)];
        self.one_sound(sql, values, |columns| stored(columns, project))
    }
}

impl EmbeddingWrites for Unit<'_> {
    fn put_embedding(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        space: Space<'_>,
        values: &[f32],
    ) -> Result<u64> {
        space.check(values)?;
        let pk = self.must_find(project)?;
        let sql = "SELECT pk FROM package WHERE package_id = ?1 AND project = ?2";
        let found = self.one(sql, (package.as_str(), pk), |row| row.integer(0))?;
        let number = found.ok_or_else(|| StoreError::conflict("no package", package.as_str()))?;
        // The new row gets a new number, so that readers notice the change.
        self.run("DELETE FROM embedding WHERE package = ?1", (number,))?;
        let sql = "INSERT INTO embedding (project, package, model, dimension, vectors)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.insert(sql, params![pk, number, space.model, dimension(space), bytes])
    }
}

impl Unit<'_> {
    /// Vectors of a project that cannot be read, or that belong to a package of another project.
    pub(super) fn wrong_embeddings(&self, project: i64) -> Result<Vec<Wrong>> {
        let sql = "SELECT coalesce(p.package_id, e.package), e.pk, e.vectors, e.dimension,
            p.project IS e.project FROM embedding e LEFT JOIN package p ON p.pk = e.package
            WHERE e.project = ?1";
        let checked = self.many(sql, (project,), |columns| {
            let what = match (columns.integer(4)?, values(columns)) {
                (0, _) => "it belongs to no package of the project",
                (_, Err(_)) => "its vectors cannot be read",
                _ => return Ok(None),
            };
            Ok(Some((Table::Embedding, columns.label(0), what.to_owned())))
        })?;
        Ok(checked.into_iter().flatten().collect())
    }
}

fn stored(columns: &Row<'_>, project: &ProjectId) -> Stored<EmbeddingRow> {
    examine(columns, Table::Embedding, project, |row, _| {
        Ok(EmbeddingRow { package_id: row.id(0)?, seq: row.count(1)?, values: values(row)? })
    })
}

/// The values in column 2, which are vectors of the dimension in column 3.
fn values(columns: &Row<'_>) -> Result<Vec<f32>> {
    let bytes = columns.bytes(2)?;
    let (chunks, rest) = bytes.as_chunks::<VALUE>();
    let values: Vec<f32> = chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect();
    let dimension = usize::try_from(columns.count(3)?).map_err(|_| damaged("a dimension"))?;
    let space = Space { model: "", dimension };
    if !rest.is_empty() || space.check(&values).is_err() {
        return Err(damaged("vectors"));
    }
    Ok(values)
}

fn dimension(space: Space<'_>) -> i64 {
    limit(space.dimension)
}
