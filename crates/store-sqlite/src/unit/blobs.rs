//! The index of blobs.

use accord_base::ProjectId;
use accord_canon::Digest;
use accord_store::{BlobRow, BlobWrites, Blobs, Result, Stored, Table};
use rusqlite::params;

use super::column::Row;
use super::damage::{examine, examine_of};
use super::{Unit, number};

impl Blobs for Unit<'_> {
    fn blob(&self, project: &ProjectId, digest: &Digest) -> Result<Option<BlobRow>> {
        let pk = self.or_none(project)?;
        let sql = "SELECT digest, size, media_type, stored_at FROM blob
            WHERE project = ?1 AND digest = ?2";
        self.one_sound(sql, (pk, digest.as_bytes()), |columns| stored(columns, project))
    }

    fn blobs_named(&self, digest: &Digest) -> Result<Vec<BlobRow>> {
        let sql = "SELECT b.digest, b.size, b.media_type, b.stored_at, j.project_id
            FROM blob b JOIN project j ON j.pk = b.project
            WHERE b.digest = ?1 ORDER BY j.project_id";
        self.many_sound(sql, (digest.as_bytes(),), |columns| {
            examine_of(columns, Table::Blob, 4, row)
        })
    }

    fn blobs(&self, of: &ProjectId, after: Option<&Digest>, limit: usize) -> Result<Vec<BlobRow>> {
        let pk = self.or_none(of)?;
        let sql = "SELECT digest, size, media_type, stored_at FROM blob
            WHERE project = ?1 AND digest > ?2 ORDER BY digest LIMIT ?3";
        // Every digest sorts after the empty one.
        let after = after.map_or(&[] as &[u8], |after| after.as_bytes());
        self.fill_sound(limit, sql, |limit| (pk, after, limit), |columns| stored(columns, of))
    }
}

impl BlobWrites for Unit<'_> {
    fn insert_blob(&mut self, row: &BlobRow) -> Result<()> {
        let pk = self.must_find(&row.project_id)?;
        let sql = "INSERT INTO blob (project, digest, size, media_type, stored_at)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        let (digest, stored_at) = (row.digest.as_bytes(), row.stored_at.as_str());
        self.write(sql, params![pk, digest, number(row.size), row.media_type, stored_at])
    }

    fn remove_blob(&mut self, project: &ProjectId, digest: &Digest) -> Result<bool> {
        let pk = self.or_none(project)?;
        let sql = "DELETE FROM blob WHERE project = ?1 AND digest = ?2";
        Ok(self.run(sql, (pk, digest.as_bytes()))? > 0)
    }
}

fn stored(columns: &Row<'_>, project: &ProjectId) -> Stored<BlobRow> {
    examine(columns, Table::Blob, project, row)
}

fn row(columns: &Row<'_>, project: &ProjectId) -> Result<BlobRow> {
    Ok(BlobRow {
        project_id: project.clone(),
        digest: columns.digest(0)?,
        size: columns.count(1)?,
        media_type: columns.optional_text(2)?,
        stored_at: columns.time(3)?,
    })
}
