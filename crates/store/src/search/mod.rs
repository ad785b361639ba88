//! Keyword search.
//!
//! A query is a set of terms ([`crate::terms`]), never syntax. A package matches when it has one of
//! them. Matches are ranked by the whole package and by its best passage.
//!
//! A word of a query that no package has is taken for the most similar one, if it is long: the
//! engine lists the terms of the project for that ([`TermIndex::visit_terms`]).
//!
//! Search itself does not know which packages are superseded: [`successors_first`] puts those of
//! any kind of search in order.
//!
//! A term that occurs in very many packages of the project ranks little and costs much, so it is
//! not looked up. When the remaining terms together cost too much, the most common of them are left
//! out too. When no term remains, the packages with the longest term are returned without a score,
//! the latest deposit first.

use accord_base::{ProjectId, SessionId};
use accord_memory_core::package::Status;

use crate::{Drafts, PackageRow, Result};

mod common;
mod index;
mod phrases;
mod rank;
mod successors;

use common::ChosenTerms;
use rank::Occurrence;

pub use common::CommonTermLimits;
pub use index::{FoundTerms, TermIndex};
pub use successors::{candidates, successors_first};

/// What is searched for.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchQuery<'a> {
    /// The text of the query.
    pub text: &'a str,
    /// Only packages with this status.
    pub status: Option<Status>,
    /// Only packages of a session.
    pub session: Option<&'a SessionId>,
    /// Whose drafts are shown.
    pub drafts: Drafts<'a>,
    /// The maximum number of packages.
    pub limit: usize,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    /// The packages, best first. Of equal ones, the latest deposit comes first.
    pub hits: Vec<Hit>,
    /// Words of the query that were not looked up, because they are very common or too many.
    pub left_out: Vec<String>,
}

/// A package that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The package.
    pub package: PackageRow,
    /// Its score; zero when every word was very common.
    pub score: f64,
    /// The words of the query that it contains.
    pub matched: Vec<String>,
}

/// Searches packages.
pub trait Search {
    /// The best matches in a project, without quarantined packages.
    fn search(&self, project: &ProjectId, query: &SearchQuery<'_>) -> Result<SearchResults>;
}

impl SearchQuery<'_> {
    /// Whether a match passes the filters of the query.
    pub fn shows(&self, package: &PackageRow) -> bool {
        package.quarantine.is_none()
            && self.status.is_none_or(|status| package.state.status == status)
            && (self.session).is_none_or(|session| package.session_id.as_ref() == Some(session))
            && package.is_shown(self.drafts)
    }
}
