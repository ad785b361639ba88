//! The floor: the same rows by one thread, straight into SQLite.
//!
//! Terms are made before the clock starts; statements are prepared once; nothing is looked up that
//! an insert does not need.

use std::path::Path;

use accord_store_sqlite::DATABASE;
use rusqlite::{Connection, params};

use crate::packages::Deposit;

/// A package as the values of its rows.
pub(crate) struct Rows {
    deposit: Deposit,
    key: String,
    columns: [String; 5],
}

impl Rows {
    pub(crate) fn new(deposit: Deposit) -> Self {
        let columns = deposit.index.terms().each_ref().map(|terms| {
            let terms = terms.split_inclusive(' ');
            terms.flat_map(|term| ["1:", term]).collect()
        });
        let key = deposit.row.created_at.as_str().trim_end_matches('Z').to_owned();
        Self { deposit, key, columns }
    }
}

/// A connection to a store that nobody else has open, set up as the writer's.
pub(crate) fn open(folder: &Path) -> Connection {
    let connection = Connection::open(folder.join(DATABASE)).expect("a store");
    connection.set_prepared_statement_cache_capacity(32);
    connection
        .execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -8000;
             PRAGMA wal_autocheckpoint = 8000;
             INSERT OR IGNORE INTO project (pk, project_id, created_at, text)
                 VALUES (1, 'proj_benchmark', '', '');
             INSERT OR IGNORE INTO counter (project) VALUES (1);",
        )
        .expect("the settings");
    connection
}

/// Commits packages in one transaction.
pub(crate) fn commit(connection: &Connection, rows: &[Rows], seq: &mut i64) {
    connection.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
    for rows in rows {
        *seq += 1;
        insert(connection, rows, *seq).expect("the rows");
    }
    connection.execute_batch("COMMIT").expect("a commit");
}

fn insert(connection: &Connection, rows: &Rows, seq: i64) -> rusqlite::Result<()> {
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        connection.prepare_cached(sql)?.execute(values)
    };
    let (row, key) = (&rows.deposit.row, &rows.key);
    let state = &row.state;
    run(
        "INSERT INTO package (project, package_id, created_key, created_at, actor_type, actor_id,
         session_id, package_type, significance, deposited_at, deposited_hash, revision, status,
         review_type, content_hash, text)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11, ?12, ?13, ?14)",
        params![
            row.package_id.as_str(),
            key,
            row.created_at.as_str(),
            row.actor.kind.as_str(),
            row.actor.id.as_str(),
            row.session_id.as_ref().map(|session| session.as_str()),
            row.package_type.as_str(),
            row.significance.number(),
            row.deposited_at.as_str(),
            row.deposited_hash.digest().as_bytes(),
            state.status.as_str(),
            state.review_type.as_str(),
            state.content_hash.digest().as_bytes(),
            state.text,
        ],
    )?;
    let package = connection.last_insert_rowid();
    // There are eight, each named by its number.
    let actor = row.actor.id.as_str().as_bytes().last().copied();
    let revision = &rows.deposit.revision;
    run(
        "INSERT INTO revision (package, seq, text) VALUES (?1, 1, ?2)",
        params![package, revision.text],
    )?;
    for (ordinal, question) in rows.deposit.index.open_questions().iter().enumerate() {
        let (ordinal, text) = (ordinal as i64, &question.text);
        // Every second question is one of fifty that are asked again and again.
        let digest = if ordinal == 0 { seq } else { -(text.len() as i64) };
        run(
            "INSERT INTO question
             (project, audience, digest, text, asked_key, package, ordinal, sources)
             VALUES (1, '', ?1, ?2, ?3, ?4, ?5, ?6)",
            params![digest, text, key, package, ordinal, row.package_id.as_str()],
        )?;
        let question = connection.last_insert_rowid();
        run(
            "INSERT INTO question_tally VALUES (1, ?1, 1)
             ON CONFLICT DO UPDATE SET questions = questions + 1",
            params![&key[..13]],
        )?;
        run(
            "INSERT INTO question_use (question, asked_key, package, ordinal, package_id)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            params![question, key, package, ordinal, row.package_id.as_str()],
        )?;
    }
    run(
        "INSERT OR IGNORE INTO kind VALUES (?1, 1, 'standard', 'agent', ?2, 'complete')",
        params![actor, row.actor.id.as_str()],
    )?;
    run(
        "INSERT INTO tally VALUES
         (?1, 'day', ?2, 1), (?1, 'hour', ?3, 1), (?1, 'minute', ?4, 1)
         ON CONFLICT DO UPDATE SET packages = packages + 1",
        params![actor, &key[..10], &key[..13], &key[..16]],
    )?;
    run(
        "UPDATE counter SET packages = packages + 1, newest_event = ?1 WHERE project = 1",
        params![seq],
    )?;
    let event = &rows.deposit.event;
    run(
        "INSERT INTO event VALUES (1, ?1, ?2, ?3, NULL, NULL, ?4)",
        params![seq, event.at.as_str(), event.kind, event.text],
    )?;
    let [title, decisions, questions, handoff, body] = &rows.columns;
    run(
        "INSERT INTO package_terms (rowid, title, decisions, questions, handoff, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![package, title, decisions, questions, handoff, body],
    )?;
    Ok(())
}
