//! Keyword search.
//!
//! What is searched for is a set of terms ([`crate::terms`]), never syntax. A package is found
//! when it has one of them, and stands the higher the more of them it has, the rarer they are in
//! its project, and the weightier the part in which they stand: BM25 with a weight a part.
//!
//! A term that stands in very many packages of the project says little and costs much. It is left
//! out before it costs, and so are the commonest of those that together cost too much. Where none
//! is left, the packages that have the longest come in the order of their deposit, last first,
//! without a score.

use accord_base::{ProjectId, SessionId};
use accord_memory_core::package::Status;

use crate::terms::QueryTerm;
use crate::{Drafts, PARTS, PackageRow, Result};

/// The weight of a term in the title, the decisions, the questions, the handoff note and the body.
pub const WEIGHTS: [f64; PARTS] = [8.0, 4.0, 3.0, 2.0, 1.0];

/// What is searched for.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchQuery<'a> {
    /// Words.
    pub text: &'a str,
    /// Only packages that stand there.
    pub status: Option<Status>,
    /// Only packages of a session.
    pub session: Option<&'a SessionId>,
    /// Whose drafts are shown.
    pub drafts: Drafts<'a>,
    /// At most so many packages.
    pub limit: usize,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    /// The packages, best first; among equals the one deposited last.
    pub hits: Vec<Hit>,
    /// Words of the query that were left out, because they are very common here or too many.
    pub left_out: Vec<String>,
}

/// A package that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The package.
    pub package: PackageRow,
    /// How well it fits; zero where every word was very common.
    pub score: f64,
    /// The words of the query that it has.
    pub matched: Vec<String>,
}

/// Which terms are very common.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Common {
    /// No term that stands in fewer packages than this is.
    pub least: u64,
    /// Every term that stands in more packages than this is.
    pub most: u64,
    /// Between the two, a term that stands in more than one in so many packages is.
    pub one_in: u64,
    /// The terms of a query may stand in so many packages, counted for each of them.
    pub together: u64,
}

/// What is left of the terms of a query.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Choice {
    /// The terms that are looked up, with the number of packages in which each stands; in the order
    /// of the query.
    pub terms: Vec<(QueryTerm, u64)>,
    /// Whether they tell packages apart; if not, there is one term.
    pub ranked: bool,
    /// The words that are not looked up.
    pub left_out: Vec<String>,
}

/// Searches packages.
pub trait Search {
    /// The packages of a project that fit best. Quarantined ones are not among them.
    fn search(&self, project: &ProjectId, query: &SearchQuery<'_>) -> Result<SearchResults>;
}

impl Common {
    /// In how many of so many packages a term may stand and not be very common.
    pub fn ceiling(&self, packages: u64) -> u64 {
        (packages / self.one_in.max(1)).clamp(self.least, self.most.max(self.least))
    }

    /// Chooses the terms of a query that are looked up in a project of so many packages. Each comes
    /// with the number of packages in which it stands, or anything above the ceiling where that is
    /// more.
    pub fn choose(&self, counted: Vec<(QueryTerm, u64)>, packages: u64) -> Choice {
        let ceiling = self.ceiling(packages);
        let mut by_rarity: Vec<usize> = (0..counted.len()).collect();
        // How common a very common term is nobody has counted; the longer word says more.
        by_rarity.sort_by_key(|place| {
            let (term, with) = &counted[*place];
            let length = if *with > ceiling {
                term.term.chars().count()
            } else {
                0
            };
            (
                (*with).min(ceiling.saturating_add(1)),
                std::cmp::Reverse(length),
            )
        });
        let rarest = by_rarity.first().copied();
        let ranked = rarest.is_none_or(|place| counted[place].1 <= ceiling);
        let mut together = 0;
        by_rarity.retain(|place| {
            let with = counted[*place].1;
            together += with;
            let first = Some(*place) == rarest;
            first || (ranked && with <= ceiling && together <= self.together)
        });
        let mut choice = Choice {
            ranked,
            ..Choice::default()
        };
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

impl Default for Common {
    fn default() -> Self {
        Self {
            least: 1_000,
            most: 10_000,
            one_in: 8,
            together: 15_000,
        }
    }
}

impl SearchQuery<'_> {
    /// Whether a package that has the words is shown.
    pub fn shows(&self, package: &PackageRow) -> bool {
        package.quarantine.is_none()
            && self
                .status
                .is_none_or(|status| package.state.status == status)
            && (self.session).is_none_or(|session| package.session_id.as_ref() == Some(session))
            && package.is_shown(self.drafts)
    }
}

/// How much a term tells that stands in `with` of `packages` packages.
pub fn rarity(packages: u64, with: u64) -> f64 {
    let (packages, with) = (packages.max(with) as f64, with as f64);
    (1.0 + (packages - with + 0.5) / (with + 0.5)).ln()
}
