//! Plain full-text indexes of SQLite, to compare with.

use accord_store::terms::for_query;
use rusqlite::Connection;

use crate::evaluation::{Evaluation, LIMIT, words};

/// How a plain index is made and asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    tokenizer: &'static str,
    /// Whether the function words of a question are left out.
    is_filtered: bool,
    /// The weight of the title.
    title: f64,
}

/// All words; without function words; with a heavier title; by any three letters.
pub(crate) const SETTINGS: [Setting; 4] = [
    Setting { name: "FTS5", tokenizer: "porter unicode61", is_filtered: false, title: 1.0 },
    Setting { name: "FTS5 words", tokenizer: "porter unicode61", is_filtered: true, title: 1.0 },
    Setting { name: "FTS5 title", tokenizer: "porter unicode61", is_filtered: true, title: 2.0 },
    Setting { name: "FTS5 trigram", tokenizer: "trigram", is_filtered: true, title: 1.0 },
];

/// A full-text table ranked by BM25. Any word of the query is enough.
pub(crate) struct Plain {
    connection: Connection,
    setting: Setting,
}

impl Plain {
    pub(crate) fn new(evaluation: &Evaluation, setting: Setting) -> Self {
        let connection = Connection::open_in_memory().expect("a database");
        let table = format!(
            "CREATE VIRTUAL TABLE plain USING fts5 (id UNINDEXED, title, text, tokenize = '{}')",
            setting.tokenizer
        );
        connection.execute_batch(&table).expect("a table");
        for package in &evaluation.packages {
            let values = (&package.id, &package.parts[0], package.parts[1..].join("\n"));
            connection.execute("INSERT INTO plain VALUES (?1, ?2, ?3)", values).expect("a row");
        }
        Self { connection, setting }
    }

    /// The ids of the packages that a query finds.
    pub(crate) fn search(&self, text: &str) -> Vec<String> {
        let asked = for_query(text);
        let filtered = asked.terms.iter().flat_map(|term| words(&term.word));
        let words: Vec<&str> =
            if self.setting.is_filtered { filtered.collect() } else { words(text).collect() };
        let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let sql = "SELECT id FROM plain WHERE plain MATCH ?1
            ORDER BY bm25(plain, 0, ?2, 1) LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql).expect("a statement");
        let values = (words.join(" OR "), self.setting.title, LIMIT as i64);
        let rows = statement.query_map(values, |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("ids")
    }
}
