//! People.

use accord_store::{People, PersonRow, PersonWrites, Result};

use super::Unit;
use super::column::Row;

impl People for Unit<'_> {
    fn person(&self, name: &str) -> Result<Option<PersonRow>> {
        self.one("SELECT name, added_at, text FROM person WHERE name = ?1", (name,), row)
    }

    fn people(&self) -> Result<Vec<PersonRow>> {
        self.many("SELECT name, added_at, text FROM person ORDER BY name", (), row)
    }
}

impl PersonWrites for Unit<'_> {
    fn put_person(&mut self, row: &PersonRow) -> Result<()> {
        let sql = "INSERT INTO person (name, added_at, text) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET added_at = excluded.added_at, text = excluded.text";
        self.write(sql, (&row.name, row.added_at.as_str(), &row.text))
    }

    fn remove_person(&mut self, name: &str) -> Result<bool> {
        Ok(self.run("DELETE FROM person WHERE name = ?1", (name,))? > 0)
    }
}

fn row(columns: &Row<'_>) -> Result<PersonRow> {
    Ok(PersonRow { name: columns.text(0)?, added_at: columns.time(1)?, text: columns.text(2)? })
}
