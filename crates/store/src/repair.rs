//! Making again what is derived, and what a row repeats of its document.
//!
//! Whoever repairs forgets everything that is derived, then gives back each package that is sound, sets the others
//! aside, and has every project counted. In between, what is derived is incomplete: it is done where nobody reads.

use accord_base::ProjectId;
use accord_contract::time::Timestamp;

use crate::{PackageIndex, PackageRow, Quarantine, Result, RevisionRow};

/// What a package is made of, whatever the columns beside it say.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PackageSource {
    /// The text; `None` where it is none.
    pub text: Option<String>,
    /// The log, oldest first, as far as it can be read.
    pub log: Vec<RevisionRow>,
    /// When it was deposited here, where that can be read.
    pub deposited_at: Option<Timestamp>,
}

/// Repairs.
pub trait Repair {
    /// What the package of a number is made of.
    ///
    /// # Errors
    /// When the store fails.
    fn package_source(&self, project: &ProjectId, number: i64) -> Result<Option<PackageSource>>;

    /// Forgets what is derived of all projects.
    ///
    /// # Errors
    /// When the store fails.
    fn forget_derived(&mut self) -> Result<()>;

    /// Writes what the row of a number says, but for its project and its text, and derives what is derived from it.
    /// Says whether that could be: another row may have its id.
    ///
    /// # Errors
    /// When the store fails.
    fn put_package(&mut self, number: i64, row: &PackageRow, index: &PackageIndex) -> Result<bool>;

    /// Quarantines the package of a number, which need not be readable.
    ///
    /// # Errors
    /// When the store fails.
    fn set_aside(&mut self, number: i64, quarantine: &Quarantine) -> Result<()>;

    /// Counts the rows of a project again, and puts each where its own time says.
    ///
    /// # Errors
    /// When the store fails.
    fn recount(&mut self, project: &ProjectId) -> Result<()>;
}
