//! Queries that are built from conditions.

use accord_store::{Result, Stored, fill};
use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::column::Row;
use super::{Unit, limit};

/// A query under construction, and the values of its `?` in order. Input is only ever a value.
#[derive(Clone)]
pub(super) struct Select {
    sql: String,
    values: Vec<Value>,
}

impl Select {
    pub(super) fn new(sql: &str, values: impl IntoIterator<Item = Value>) -> Self {
        Self { sql: sql.to_owned(), values: values.into_iter().collect() }
    }

    pub(super) fn add(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) -> &mut Self {
        self.sql.push(' ');
        self.sql.push_str(sql);
        self.values.extend(values);
        self
    }

    /// The query for the number of its rows.
    pub(super) fn counted(&self) -> Self {
        Self { sql: format!("SELECT count(*) FROM ({})", self.sql), values: self.values.clone() }
    }

    pub(super) fn run<T>(
        &self,
        unit: &Unit<'_>,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        unit.many(&self.sql, params_from_iter(&self.values), read)
    }

    /// As many readable rows as are wanted, if there are so many. `order` ends with the limit.
    pub(super) fn fill<T>(
        &self,
        unit: &Unit<'_>,
        wanted: usize,
        order: &str,
        read: impl Fn(&Row<'_>) -> Stored<T>,
    ) -> Result<Vec<T>> {
        fill(wanted, |wanted| {
            let mut select = self.clone();
            select.add(order, [Value::Integer(limit(wanted))]);
            select.run(unit, |columns| Ok(unit.keep(read(columns))))
        })
    }
}

#[cfg(test)]
impl Select {
    pub(super) fn plan(&self, connection: &rusqlite::Connection) -> String {
        let sql = format!("EXPLAIN QUERY PLAN {}", self.sql);
        let mut statement = connection.prepare(&sql).expect("the query is valid");
        let values = params_from_iter(&self.values);
        let lines = statement.query_map(values, |row| row.get::<_, String>(3));
        let lines = lines.expect("the query runs").map(|line| line.expect("a text"));
        lines.collect::<Vec<_>>().join("; ")
    }
}

pub(super) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}
