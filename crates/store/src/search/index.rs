//! The search over the index of an engine.

use accord_base::ProjectId;

use super::rank::{Collection, Occurrence, Ranked, rank};
use super::{ChosenTerms, CommonTermLimits, Hit, Search, SearchQuery, SearchResults};
use crate::terms::{Phrase, QueryTerm, for_query};
use crate::{PARTS, PackageRow, Result};

/// How many packages are looked at, at least, if every term is very common.
const LATEST: usize = 1_000;

/// Reads the index of terms. A unit that has one gets [`Search`] from here.
pub trait TermIndex {
    /// Which terms are very common.
    fn limits(&self) -> CommonTermLimits;

    /// The number of packages of a project.
    fn indexed_packages(&self, project: &ProjectId) -> Result<u64>;

    /// The average number of terms of a package, over all projects; at least one.
    fn average_length(&self) -> Result<f64>;

    /// The number of packages of a project that have a term; above `most`, any larger number.
    fn count_packages_with(&self, project: &ProjectId, term: &str, most: u64) -> Result<u64>;

    /// Adds the occurrences of a term by package; one more than `most` if there are more.
    fn find_occurrences(
        &self,
        project: &ProjectId,
        term: &str,
        most: u64,
        found: &mut FoundTerms,
    ) -> Result<()>;

    /// Adds the packages that have a term, in order: cheaper than all of its occurrences.
    fn find_packages(&self, project: &ProjectId, term: &str, found: &mut FoundTerms) -> Result<()>;

    /// The numbers of at most `limit` packages that have a term, last deposited first.
    fn latest_packages(&self, project: &ProjectId, term: &str, limit: usize) -> Result<Vec<u64>>;

    /// The package of a number, if it is readable.
    fn indexed_package(&self, project: &ProjectId, number: u64) -> Result<Option<PackageRow>>;
}

/// The occurrences of terms, and the lengths of the packages in which they are.
#[derive(Debug, Default)]
pub struct FoundTerms {
    occurrences: Vec<Occurrence>,
    /// A package is listed once for every term.
    lengths: Vec<(u64, [u64; PARTS])>,
    /// The place of the term among the chosen ones.
    term: u8,
}

impl FoundTerms {
    /// Adds an occurrence at a place in a part of a package, whose parts have these lengths.
    pub fn add(
        &mut self,
        package: u64,
        lengths: impl FnOnce() -> Result<[u64; PARTS]>,
        part: u8,
        place: u32,
    ) -> Result<()> {
        self.add_lengths(package, lengths)?;
        let term = self.term;
        self.occurrences.push(Occurrence { package, part, place: Some(place), term });
        Ok(())
    }

    /// Adds that a package has the term somewhere.
    pub fn add_package(
        &mut self,
        package: u64,
        lengths: impl FnOnce() -> Result<[u64; PARTS]>,
    ) -> Result<()> {
        self.add_lengths(package, lengths)?;
        self.occurrences.push(Occurrence::somewhere(package, self.term));
        Ok(())
    }

    fn add_lengths(&mut self, of: u64, read: impl FnOnce() -> Result<[u64; PARTS]>) -> Result<()> {
        // The occurrences of a term are in the order of the packages.
        if self.lengths.last().is_none_or(|(last, _)| *last != of) {
            self.lengths.push((of, read()?));
        }
        Ok(())
    }
}

impl<U: TermIndex> Search for U {
    fn search(&self, project: &ProjectId, query: &SearchQuery<'_>) -> Result<SearchResults> {
        search(self, project, query)
    }
}

fn search(index: &dyn TermIndex, of: &ProjectId, query: &SearchQuery<'_>) -> Result<SearchResults> {
    let asked = for_query(query.text);
    let choice = choose(index, of, asked.terms)?;
    let candidates = match choice.terms.first() {
        None => Vec::new(),
        Some(_) if choice.ranked => ranked(index, of, &choice, &asked.phrases)?,
        Some((term, _)) => {
            // More than wanted, because some are not visible to the caller and are skipped below.
            let worth = query.limit.saturating_mul(10).max(LATEST);
            let latest = index.latest_packages(of, &term.term, worth)?.into_iter();
            latest.map(|package| Ranked { package, score: 0.0, matched: 1 }).collect()
        }
    };
    let mut hits = Vec::new();
    for candidate in candidates {
        if hits.len() >= query.limit {
            break;
        }
        let row = index.indexed_package(of, candidate.package)?;
        if let Some(row) = row.filter(|row| query.shows(row)) {
            hits.push(hit(candidate, row, &choice.terms));
        }
    }
    let mut left_out = choice.left_out;
    left_out.extend(asked.too_many);
    Ok(SearchResults { hits, left_out })
}

fn choose(index: &dyn TermIndex, of: &ProjectId, terms: Vec<QueryTerm>) -> Result<ChosenTerms> {
    let limits = index.limits();
    let packages = index.indexed_packages(of)?;
    // Counting stops at the number that decides, because counting further is what is avoided.
    let most = limits.ceiling(packages);
    let mut counted = Vec::with_capacity(terms.len());
    for term in terms {
        let with = index.count_packages_with(of, &term.term, most)?;
        counted.push((term, with));
    }
    Ok(limits.choose(counted, packages))
}

/// All packages that have one of the terms, best first.
fn ranked(
    index: &dyn TermIndex,
    project: &ProjectId,
    choice: &ChosenTerms,
    phrases: &[Phrase],
) -> Result<Vec<Ranked>> {
    let mut left = index.limits().occurrences;
    let mut found = FoundTerms::default();
    for place in choice.rarest_first() {
        let (term, _) = &choice.terms[place];
        found.term = place as u8;
        let before = found.occurrences.len();
        index.find_occurrences(project, &term.term, left, &mut found)?;
        match left.checked_sub((found.occurrences.len() - before) as u64) {
            Some(rest) => left = rest,
            None => {
                left = 0;
                found.occurrences.truncate(before);
                index.find_packages(project, &term.term, &mut found)?;
            }
        }
    }
    // After the look-ups, which may write the pending part of the index with its totals.
    let collection =
        Collection { packages: index.indexed_packages(project)?, average: index.average_length()? };
    let FoundTerms { occurrences, mut lengths, .. } = found;
    lengths.sort_unstable_by_key(|(package, _)| *package);
    let lengths = |package| {
        let at = lengths.binary_search_by_key(&package, |(package, _)| *package);
        at.map(|at| lengths[at].1).unwrap_or_default()
    };
    Ok(rank(choice, phrases, collection, occurrences, lengths))
}

fn hit(found: Ranked, package: PackageRow, terms: &[(QueryTerm, u64)]) -> Hit {
    let has = |place: &usize| found.matched & (1 << place) != 0;
    let words = (0..terms.len()).filter(has).map(|place| terms[place].0.word.clone());
    Hit { package, score: found.score, matched: words.collect() }
}
