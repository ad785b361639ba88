//! Rebuilding derived data. A repair deletes all derived data, rewrites each sound package
//! ([`PackageWrites::put_package`](crate::PackageWrites::put_package)), quarantines the others, and
//! recounts every project. Derived data is incomplete until then, so a repair works on a copy that
//! has no readers.

use accord_base::ProjectId;
use accord_contract::Timestamp;

use crate::{Result, RevisionRow};

/// The parts of a package from which everything else is derived.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PackageSource {
    /// The text; `None` if it is not a text.
    pub text: Option<String>,
    /// The log, oldest first, as far as it can be read.
    pub log: Vec<RevisionRow>,
    /// When it was deposited here, if readable.
    pub deposited_at: Option<Timestamp>,
}

/// Repairs.
pub trait Repair {
    /// The source of the package of a number.
    fn package_source(&self, project: &ProjectId, number: i64) -> Result<Option<PackageSource>>;

    /// Deletes the derived data of all projects.
    fn forget_derived(&mut self) -> Result<()>;

    /// Recounts the rows of a project, and corrects the sort keys of each.
    fn recount(&mut self, project: &ProjectId) -> Result<()>;
}
