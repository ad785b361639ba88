//! Finds damage: reads every package by its number, and collects damaged rows.

use accord_base::ProjectId;
use accord_store::{Audit, DamagedRow, PackageIndex, PackageRow, Result, Stored, Table, derived};

use super::Unit;
use super::damage::examine_of;

impl Audit for Unit<'_> {
    fn damage(&self) -> Vec<DamagedRow> {
        self.met.borrow().iter().cloned().collect()
    }

    fn project_ids(&self) -> Result<Vec<ProjectId>> {
        let sql = "SELECT project_id FROM project WHERE NOT is_removed ORDER BY project_id";
        self.many_sound(sql, (), |row| {
            examine_of(row, Table::Project, 0, |_, project| Ok(project.clone()))
        })
    }

    fn package_numbers(&self, project: &ProjectId) -> Result<Vec<i64>> {
        let Some(pk) = self.find(project)? else { return Ok(Vec::new()) };
        // Both halves are read from an index, so that damaged rows are included.
        let sql = "SELECT pk FROM package WHERE project = ?1 AND quarantined_at IS NULL
            UNION ALL SELECT pk FROM package WHERE project = ?1 AND quarantined_at IS NOT NULL";
        let mut numbers = self.many(sql, (pk,), |row| row.integer(0))?;
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn package_numbered(&self, of: &ProjectId, number: i64) -> Result<Option<Stored<PackageRow>>> {
        self.numbered(number, of)
    }

    fn check_index(&self, row: &PackageRow, index: &PackageIndex) -> Result<Vec<DamagedRow>> {
        derived::check_index(self, row, index)
    }

    fn check_derived(&self, project: Option<&ProjectId>) -> Result<Vec<DamagedRow>> {
        let Some(project) = project else { return self.stray_terms() };
        let Some(pk) = self.find(project)? else { return Ok(Vec::new()) };
        let mut found = self.wrong_counters(pk)?;
        found.extend(self.wrong_tallies(pk)?);
        found.extend(self.wrong_question_tallies(pk)?);
        found.extend(self.wrong_embeddings(pk)?);
        found.extend(self.wrong_live_sessions(pk)?);
        found.extend(self.wrong_items(pk)?);
        let own = || Some(project.clone());
        let row = |(table, id, what)| DamagedRow { table, project_id: own(), id, what };
        let mut found: Vec<DamagedRow> = found.into_iter().map(row).collect();
        found.extend(derived::wrong_questions(self, project)?);
        Ok(found)
    }
}
