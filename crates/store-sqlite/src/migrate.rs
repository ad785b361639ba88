//! Migrations between formats of the database.
//!
//! A released migration never changes. Each runs in its own transaction, which also sets the new
//! format number.

use accord_store::{Result, StoreErrorKind};
use rusqlite::Connection;

use crate::connect::pragma;
use crate::error::IntoStoreError as _;

/// The format that this version writes.
pub const FORMAT: u32 = MIGRATIONS.len() as u32;

/// The migration at index `n` leads from format `n` to the next.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_memory.sql"),
    include_str!("../migrations/0002_handover.sql"),
];

/// Migrates a database to the current format.
pub(crate) fn migrate(connection: &Connection) -> Result<()> {
    let found: u32 = pragma(connection, "user_version")?;
    refuse_later(found)?;
    for format in found..FORMAT {
        let migration = MIGRATIONS[format as usize];
        let next = format + 1;
        // The format number is part of the same transaction. A crash leaves the old format,
        // complete, and the next start runs the migration again.
        let step = format!("BEGIN IMMEDIATE; {migration}; PRAGMA user_version = {next}; COMMIT;");
        if let Err(error) = connection.execute_batch(&step).store_error() {
            // Some errors of SQLite end the transaction, others leave it open. A ROLLBACK without
            // one fails.
            if !connection.is_autocommit() {
                connection.execute_batch("ROLLBACK").store_error()?;
            }
            return Err(error);
        }
    }
    Ok(())
}

/// Refuses a format that a later version wrote.
pub(crate) fn refuse_later(found: u32) -> Result<()> {
    if found <= FORMAT {
        return Ok(());
    }
    let known = FORMAT;
    Err(StoreErrorKind::TooNew { found, known }.into())
}
