//! Keys.

use accord_canon::Digest;
use accord_contract::Timestamp;
use accord_store::{KeyRow, KeyWrites, Keys, Result};
use rusqlite::params;

use super::column::{Row, actor_columns};
use super::{Unit, limit};

/// The columns that [`row`] reads.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT key_id, secret_hash, actor_type, actor_id, created_at, revoked_at, text
            FROM access_key WHERE ",
            $rest
        )
    };
}

impl Keys for Unit<'_> {
    fn key_of_hash(&self, secret_hash: &Digest) -> Result<Option<KeyRow>> {
        self.one(select!("secret_hash = ?1"), (secret_hash.as_bytes(),), row)
    }

    fn key(&self, key_id: &str) -> Result<Option<KeyRow>> {
        self.one(select!("key_id = ?1"), (key_id,), row)
    }

    fn keys(&self, after: Option<&str>, wanted: usize) -> Result<Vec<KeyRow>> {
        let sql = select!("?1 IS NULL OR key_id > ?1 ORDER BY key_id LIMIT ?2");
        // An unreadable row is an error: a host without keys would accept requests without one.
        self.many(sql, (after, limit(wanted)), row)
    }
}

impl KeyWrites for Unit<'_> {
    fn insert_key(&mut self, row: &KeyRow) -> Result<()> {
        let sql = "INSERT INTO access_key
            (key_id, secret_hash, actor_type, actor_id, created_at, revoked_at, text)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (kind, id) = actor_columns(row.actor.as_ref());
        let revoked_at = row.revoked_at.as_ref().map(|at| at.as_str());
        let hash = row.secret_hash.as_bytes();
        let created_at = row.created_at.as_str();
        self.write(sql, params![row.key_id, hash, kind, id, created_at, revoked_at, row.text])
    }

    fn revoke_key(&mut self, key_id: &str, at: &Timestamp) -> Result<()> {
        // The first revocation counts, so a repeated request does not move its time.
        let sql = "UPDATE access_key SET revoked_at = coalesce(revoked_at, ?2) WHERE key_id = ?1";
        self.change("key", sql, (key_id, at.as_str()))
    }
}

fn row(columns: &Row<'_>) -> Result<KeyRow> {
    Ok(KeyRow {
        key_id: columns.text(0)?,
        secret_hash: columns.digest(1)?,
        actor: columns.optional_actor(2)?,
        created_at: columns.time(4)?,
        revoked_at: columns.optional_time(5)?,
        text: columns.text(6)?,
    })
}
