//! Settings.

use accord_store::{Result, Scope, SettingWrites, Settings};

use super::Unit;

/// The number under which the settings of the store itself are kept.
const STORE: i64 = 0;

impl Settings for Unit<'_> {
    fn setting(&self, scope: Scope<'_>, name: &str) -> Result<Option<String>> {
        let Some(pk) = self.scope(scope)? else { return Ok(None) };
        let sql = "SELECT value FROM setting WHERE project = ?1 AND name = ?2";
        self.one(sql, (pk, name), |row| row.text(0))
    }

    fn settings(&self, scope: Scope<'_>) -> Result<Vec<(String, String)>> {
        let Some(pk) = self.scope(scope)? else { return Ok(Vec::new()) };
        let sql = "SELECT name, value FROM setting WHERE project = ?1 ORDER BY name";
        self.many(sql, (pk,), |row| Ok((row.text(0)?, row.text(1)?)))
    }
}

impl SettingWrites for Unit<'_> {
    fn put_setting(&mut self, scope: Scope<'_>, name: &str, value: Option<&str>) -> Result<()> {
        let pk = match scope {
            Scope::Store => STORE,
            Scope::Project(project) => self.must_find(project)?,
        };
        if let Scope::Project(_) = scope {
            self.touch_setting(pk, name);
        }
        let Some(value) = value else {
            return self.write("DELETE FROM setting WHERE project = ?1 AND name = ?2", (pk, name));
        };
        let sql = "INSERT INTO setting (project, name, value) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET value = excluded.value";
        self.write(sql, (pk, name, value))
    }
}

impl Unit<'_> {
    fn scope(&self, scope: Scope<'_>) -> Result<Option<i64>> {
        match scope {
            Scope::Store => Ok(Some(STORE)),
            Scope::Project(project) => self.find(project),
        }
    }
}
