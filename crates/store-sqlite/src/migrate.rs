//! Migrations between formats of the database. A released migration never changes. Each runs in its
//! own transaction, which also sets the new format number.

use accord_memory_core::PackageId;
use accord_memory_core::bundle::Outline;
use accord_memory_core::package::QuestionKey;
use accord_store::{CommonTermLimits, Result, StoreErrorKind};
use rusqlite::Connection;

use crate::connect::query;
use crate::error::IntoStoreError as _;
use crate::unit::Unit;

/// The format that this version writes.
pub const FORMAT: u32 = MIGRATIONS.len() as u32;

/// The migration at index `n` leads from format `n` to the next.
const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("../migrations/0001_memory.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("../migrations/0002_handover.sql"), fill: derive_links },
    Migration { sql: include_str!("../migrations/0003_live.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("../migrations/0004_decisions.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("../migrations/0005_briefing.sql"), fill: outline_packages },
    Migration { sql: include_str!("../migrations/0006_search.sql"), fill: index_again },
    Migration { sql: include_str!("../migrations/0007_inbox_and_edges.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("../migrations/0008_edge_decisions.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("../migrations/0009_people.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("../migrations/0010_notices.sql"), fill: make_items },
    Migration { sql: include_str!("../migrations/0011_question_urgency.sql"), fill: make_items },
    Migration { sql: include_str!("../migrations/0012_lists.sql"), fill: make_items },
];

/// One step between formats.
struct Migration {
    sql: &'static str,
    /// Computes what SQL cannot, in the same transaction.
    fill: fn(&Connection) -> Result<()>,
}

pub(crate) fn migrate(connection: &Connection) -> Result<()> {
    let found: u32 = query(connection, "PRAGMA user_version")?;
    refuse_later(found)?;
    for format in found..FORMAT {
        let migration = &MIGRATIONS[format as usize];
        if let Err(error) = run(connection, migration, format + 1) {
            // Some errors of SQLite end the transaction. A ROLLBACK without one fails.
            if !connection.is_autocommit() {
                connection.execute_batch("ROLLBACK").store_error()?;
            }
            return Err(error);
        }
    }
    Ok(())
}

/// The format number is part of the transaction: after a crash the migration is run again.
fn run(connection: &Connection, migration: &Migration, next: u32) -> Result<()> {
    let step = format!("BEGIN IMMEDIATE; {}; PRAGMA user_version = {next};", migration.sql);
    connection.execute_batch(&step).store_error()?;
    (migration.fill)(connection)?;
    connection.execute_batch("COMMIT").store_error()
}

/// Derives what format 2 adds from the packages and questions of format 1.
fn derive_links(connection: &Connection) -> Result<()> {
    fold_questions(connection)?;
    // After the keys, in one pass: to keep an index up to date for each key takes much longer.
    let index = "CREATE INDEX question_folded ON question (project, folded)";
    connection.execute_batch(index).store_error()?;
    Unit::new(connection, CommonTermLimits::default()).link_stored()
}

/// The indexes of briefings. Their conditions are those of the queries, word for word.
const BRIEFING_INDEXES: &str = "
    CREATE INDEX package_rank ON package (project, rank, created_key)
        WHERE quarantined_at IS NULL AND status = 'complete' AND rank > 0;
    CREATE INDEX package_decision ON package (project, created_key)
        WHERE quarantined_at IS NULL AND status = 'complete' AND rank > 0;
    CREATE INDEX package_note ON package (project, created_key)
        WHERE quarantined_at IS NULL AND status = 'complete' AND rank = 0
            AND (package_type <> 'auto_deposit' OR significance >= 5);
    CREATE INDEX package_handed_over ON package (project, created_key)
        WHERE hands_over = 1 AND status = 'complete' AND quarantined_at IS NULL;
    CREATE INDEX package_noted ON package (project, created_key)
        WHERE has_note = 1 AND status <> 'draft' AND quarantined_at IS NULL;
    CREATE INDEX package_child ON package (project, parent_id, created_key)
        WHERE parent_id IS NOT NULL AND status = 'complete' AND quarantined_at IS NULL;";

/// Fills in what format 5 adds to packages.
fn outline_packages(connection: &Connection) -> Result<()> {
    let mut read = connection.prepare("SELECT pk, text FROM package NOT INDEXED").store_error()?;
    let sql = "UPDATE package SET rank = ?2, hands_over = ?3, parent_id = ?4 WHERE pk = ?1";
    let mut write = connection.prepare(sql).store_error()?;
    let mut rows = read.query(()).store_error()?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().store_error()? {
        let (pk, text) = (row.get::<_, i64>(0), row.get::<_, String>(1));
        // A damaged row is left to a verification.
        if let (Ok(pk), Ok(text)) = (pk, text)
            && let Some(outline) = Outline::read(&text)
            && outline != Outline::default()
        {
            found.push((pk, outline));
        }
    }
    drop(rows);
    for (pk, outline) in found {
        let Outline { rank, hands_over, parent } = outline;
        let parent = parent.as_ref().map(PackageId::as_str);
        write.execute((pk, rank, hands_over, parent)).store_error()?;
    }
    let noted = "UPDATE package SET has_note = 1 WHERE revision > 1 AND EXISTS
        (SELECT 1 FROM revision r WHERE r.package = package.pk AND r.seq = package.revision
            AND json_valid(r.text) AND json_extract(r.text, '$.note') IS NOT NULL)";
    connection.execute_batch(noted).store_error()?;
    connection.execute_batch(BRIEFING_INDEXES).store_error()
}

/// Indexes the packages again: since format 6 the terms of a text are others.
fn index_again(connection: &Connection) -> Result<()> {
    Unit::new(connection, CommonTermLimits::default()).index_stored()
}

/// Makes the items of the inbox from what waits.
fn make_items(connection: &Connection) -> Result<()> {
    Unit::new(connection, CommonTermLimits::default()).make_items()
}

fn fold_questions(connection: &Connection) -> Result<()> {
    let mut read = connection.prepare("SELECT pk, text FROM question").store_error()?;
    let sql = "UPDATE question SET folded = ?2 WHERE pk = ?1";
    let mut write = connection.prepare(sql).store_error()?;
    let mut rows = read.query(()).store_error()?;
    while let Some(row) = rows.next().store_error()? {
        let (pk, text) = (row.get::<_, i64>(0), row.get::<_, String>(1));
        // A damaged row is left to a verification.
        if let (Ok(pk), Ok(text)) = (pk, text) {
            let key = QuestionKey::of(&text);
            write.execute((pk, key.digest().as_bytes())).store_error()?;
        }
    }
    Ok(())
}

/// Refuses a format that a later version wrote.
pub(crate) fn refuse_later(found: u32) -> Result<()> {
    match found <= FORMAT {
        true => Ok(()),
        false => Err(StoreErrorKind::TooNew { found, known: FORMAT }.into()),
    }
}
