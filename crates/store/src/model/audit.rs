//! Nothing outside the process can change the model, and it computes derived data for each query.
//! So it has no damage.

use accord_base::ProjectId;

use super::State;
use crate::{Audit, DamagedRow, PackageIndex, PackageRow, Result, Stored};

impl Audit for State {
    fn damage(&self) -> Vec<DamagedRow> {
        Vec::new()
    }

    fn project_ids(&self) -> Result<Vec<ProjectId>> {
        Ok(self.projects.keys().cloned().collect())
    }

    fn package_numbers(&self, project: &ProjectId) -> Result<Vec<i64>> {
        let mut numbers: Vec<_> = self.rows(project).map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn package_numbered(&self, of: &ProjectId, wanted: i64) -> Result<Option<Stored<PackageRow>>> {
        let found = self.rows(of).find(|row| number(row) == wanted);
        Ok(found.cloned().map(Ok))
    }

    fn check_index(&self, _: &PackageRow, _: &PackageIndex) -> Result<Vec<DamagedRow>> {
        Ok(Vec::new())
    }

    fn check_derived(&self, _: Option<&ProjectId>) -> Result<Vec<DamagedRow>> {
        Ok(Vec::new())
    }
}

fn number(row: &PackageRow) -> i64 {
    i64::try_from(row.seq).unwrap_or(i64::MAX)
}
