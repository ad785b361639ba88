//! The lengths of lists.

use accord_base::ProjectId;
use accord_store::{FactQuery, PackageQuery, Result, SessionQuery, Totals};

use super::select::Select;
use super::{Unit, facts, listing, sessions};

impl Totals for Unit<'_> {
    fn package_total(&self, project: &ProjectId, query: &PackageQuery<'_>) -> Result<u64> {
        let pk = self.or_none(project)?;
        listing::counted(pk, query).iter().map(|range| self.count(range)).sum()
    }

    fn fact_total(&self, project: &ProjectId, query: &FactQuery<'_>) -> Result<u64> {
        let pk = self.or_none(project)?;
        let mut select = Select::new("SELECT f.pk FROM fact f WHERE f.project = ?", [pk.into()]);
        facts::narrow(&mut select, query);
        self.count(&select)
    }

    fn session_total(&self, project: &ProjectId, query: &SessionQuery<'_>) -> Result<u64> {
        let pk = self.or_none(project)?;
        let sql = "SELECT s.pk FROM session s WHERE s.project = ?";
        let mut select = Select::new(sql, [pk.into()]);
        sessions::narrow(&mut select, query);
        self.count(&select)
    }
}

impl Unit<'_> {
    /// The number of rows of a query.
    pub(super) fn count(&self, select: &Select) -> Result<u64> {
        let counted = select.counted().run(self, |row| row.count(0))?;
        Ok(counted.into_iter().sum())
    }
}
