//! The lengths of lists.

use accord_base::ProjectId;

use crate::{FactQuery, PackageQuery, Result, SessionQuery};

/// Counts the rows that a list has after its position. Limits are ignored. The cost depends on the
/// number of rows, but only an index is read.
pub trait Totals {
    /// The number of packages.
    fn package_total(&self, project: &ProjectId, query: &PackageQuery<'_>) -> Result<u64>;

    /// The number of facts.
    fn fact_total(&self, project: &ProjectId, query: &FactQuery<'_>) -> Result<u64>;

    /// The number of sessions.
    fn session_total(&self, project: &ProjectId, query: &SessionQuery<'_>) -> Result<u64>;
}
