//! Keyword search.
//!
//! A query is a set of terms ([`crate::terms`]), never syntax. A package matches when it has one of
//! them. Matches are ranked by BM25 with a weight per part of the package.
//!
//! A term that occurs in very many packages of the project ranks little and costs much, so it is
//! not looked up. When the remaining terms together cost too much, the most common of them are left
//! out too. When no term remains, the packages with the longest term are returned without a score,
//! the latest deposit first.

use accord_base::{ProjectId, SessionId};
use accord_memory_core::package::Status;

use crate::terms::QueryTerm;
use crate::{Drafts, PARTS, PackageRow, Result};

/// The weight of a term in the title, the decisions, the questions, the handoff note and the body.
pub const WEIGHTS: [f64; PARTS] = [8.0, 4.0, 3.0, 2.0, 1.0];

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
    /// Its BM25 score; zero when every word was very common.
    pub score: f64,
    /// The words of the query that it contains.
    pub matched: Vec<String>,
}

/// Which terms are very common.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CommonTermLimits {
    /// A term in fewer packages than this is not.
    pub least: u64,
    /// A term in more packages than this is.
    pub most: u64,
    /// Between the two, a term in more than one of this many packages is.
    pub one_in: u64,
    /// The limit for the sum of the numbers of packages of all terms of a query.
    pub together: u64,
}

/// The terms of a query that are looked up.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ChosenTerms {
    /// The terms in the order of the query, each with the number of packages that contain it.
    pub terms: Vec<(QueryTerm, u64)>,
    /// Whether matches are ranked. If not, there is one term.
    pub ranked: bool,
    /// The words that are not looked up.
    pub left_out: Vec<String>,
}

/// Searches packages.
pub trait Search {
    /// The best matches in a project, without quarantined packages.
    fn search(&self, project: &ProjectId, query: &SearchQuery<'_>) -> Result<SearchResults>;
}

impl CommonTermLimits {
    /// The largest number of packages in which a term is not yet very common.
    pub fn ceiling(&self, packages: u64) -> u64 {
        (packages / self.one_in.max(1)).clamp(self.least, self.most.max(self.least))
    }

    /// Chooses the terms to look up in a project with this many packages. Each term comes with the
    /// number of packages that contain it; above the ceiling that number need not be exact.
    pub fn choose(&self, counted: Vec<(QueryTerm, u64)>, packages: u64) -> ChosenTerms {
        let ceiling = self.ceiling(packages);
        let mut by_rarity: Vec<usize> = (0..counted.len()).collect();
        // The counts of very common terms are not exact. Of those, a longer word is preferred.
        by_rarity.sort_by_key(|place| {
            let (term, with) = &counted[*place];
            let length = if *with > ceiling { term.term.chars().count() } else { 0 };
            ((*with).min(ceiling.saturating_add(1)), std::cmp::Reverse(length))
        });
        let rarest = by_rarity.first().copied();
        let ranked = rarest.is_none_or(|place| counted[place].1 <= ceiling);
        let mut together = 0;
        by_rarity.retain(|place| {
            let with = counted[*place].1;
            // In the order of rarity every later term is at least as common, so once the sum is too
            // large, no later term is chosen either.
            together += with;
            let first = Some(*place) == rarest;
            first || (ranked && with <= ceiling && together <= self.together)
        });
        let mut choice = ChosenTerms { ranked, ..ChosenTerms::default() };
        for (place, (term, with)) in counted.into_iter().enumerate() {
            if by_rarity.contains(&place) {
                choice.terms.push((term, with));
            } else {
                choice.left_out.push(term.word);
            }
        }
        choice
    }
}

impl Default for CommonTermLimits {
    fn default() -> Self {
        Self { least: 1_000, most: 10_000, one_in: 8, together: 15_000 }
    }
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

/// The inverse document frequency of a term that `with` of `packages` packages contain.
pub fn rarity(packages: u64, with: u64) -> f64 {
    let (packages, with) = (packages.max(with) as f64, with as f64);
    // The added 1 keeps the weight of a common term above zero.
    (1.0 + (packages - with + 0.5) / (with + 0.5)).ln()
}
