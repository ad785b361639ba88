//! Makes a store of format 1. Benchmarks use it, too.

use std::path::Path;

use accord_store_sqlite::DATABASE;

/// Writes the rows of a store as a store of format 1.
pub(crate) fn write_format_1(new: &Path, old: &Path) {
    let connection = rusqlite::Connection::open(old.join(DATABASE)).expect("a store");
    let format_1 = include_str!("../../migrations/0001_memory.sql");
    connection.execute_batch("PRAGMA foreign_keys = OFF").expect("a store");
    connection.execute_batch(format_1).expect("a store");
    let new = new.join(DATABASE);
    connection.execute("ATTACH ?1 AS new", (new.to_str().expect("a store"),)).expect("a store");
    let tables = "SELECT s.name, group_concat(c.name) FROM main.sqlite_schema s
        JOIN pragma_table_info(s.name, 'main') c
        WHERE s.type = 'table' AND s.name <> 'package_terms' GROUP BY s.name";
    let mut statement = connection.prepare(tables).expect("a store");
    let tables = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).expect("a store");
    let tables: Vec<(String, String)> = tables.map(|table| table.expect("a store")).collect();
    drop(statement);
    for (table, columns) in tables {
        let copy = format!(
            "DELETE FROM main.{table};
             INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table};"
        );
        connection.execute_batch(&copy).expect("a store");
    }
    let mark = "DETACH new; PRAGMA user_version = 1; PRAGMA application_id = 0x41636364;";
    connection.execute_batch(mark).expect("a store");
}
