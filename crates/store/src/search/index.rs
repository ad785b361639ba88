//! The search over the index of an engine.

use std::cmp::Reverse;

use accord_base::ProjectId;

use super::rank::{Collection, Occurrence, Ranked, rank};
use super::{ChosenTerms, CommonTermLimits, Hit, Search, SearchQuery, SearchResults};
use crate::terms::{MAX_QUERY_TERMS, Misspelling, QueryTerm, QueryTerms, for_query};
use crate::{PARTS, PackageRow, Result};

/// How many packages are looked at, at least, if every term is very common.
const LATEST: usize = 1_000;

/// How many terms are counted that a misspelt one may stand for.
const MAX_CLOSE: usize = 8;

/// Reads the index of terms. A unit that has one gets [`Search`] from here.
pub trait TermIndex {
    /// Which terms are very common.
    fn limits(&self) -> CommonTermLimits;

    /// The number of packages of a project.
    fn indexed_packages(&self, project: &ProjectId) -> Result<u64>;

    /// The average number of terms of a package of a project; at least one.
    fn average_length(&self, project: &ProjectId) -> Result<f64>;

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

    /// Calls `visit` with the terms of a project that begin with a text, in any order. A term that
    /// only removed packages had may be among them. An engine may take its time: this is asked only
    /// for a word that no package has.
    fn visit_terms(
        &self,
        project: &ProjectId,
        beginning: &str,
        visit: &mut dyn FnMut(&str),
    ) -> Result<()>;

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
    let mut asked = for_query(query.text);
    let choice = choose(index, of, &mut asked)?;
    let candidates = match choice.terms.first() {
        None => Vec::new(),
        Some(_) if choice.ranked => ranked(index, of, &choice, &asked)?,
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
            hits.push(hit(candidate, row, &choice.terms, &asked));
        }
    }
    let mut left_out = choice.left_out;
    left_out.extend(asked.too_many);
    Ok(SearchResults { hits, left_out })
}

fn choose(index: &dyn TermIndex, of: &ProjectId, asked: &mut QueryTerms) -> Result<ChosenTerms> {
    let limits = index.limits();
    let packages = index.indexed_packages(of)?;
    // Counting stops at the number that decides, because counting further is what is avoided.
    let most = limits.ceiling(packages);
    let mut counted = Vec::with_capacity(asked.terms.len());
    for term in &asked.terms {
        let with = index.count_packages_with(of, &term.term, most)?;
        counted.push((term.clone(), with));
    }
    for name in std::mem::take(&mut asked.guesses) {
        let is_new = counted.len() < MAX_QUERY_TERMS
            && counted.iter().all(|(known, _)| known.term != name.whole);
        let with = if is_new { index.count_packages_with(of, &name.whole, most)? } else { 0 };
        if with > 0 {
            // Its words are those of its parts.
            let (term, word) = (name.whole.clone(), String::new());
            counted.push((QueryTerm { term, word, is_part: false, times: 1 }, with));
            asked.names.push(name);
        }
    }
    if packages > 0 {
        spell(index, of, asked, most, &mut counted)?;
    }
    Ok(limits.choose(counted, packages))
}

/// Replaces terms that no package has by others that they are probably meant to be.
fn spell(
    index: &dyn TermIndex,
    project: &ProjectId,
    asked: &QueryTerms,
    most: u64,
    counted: &mut [(QueryTerm, u64)],
) -> Result<()> {
    let alone = counted.iter().all(|(_, with)| *with == 0);
    for place in 0..counted.len() {
        let (QueryTerm { term, word, .. }, with) = &counted[place];
        // Of a whole name, the parts are corrected.
        if *with > 0 || asked.names.iter().any(|name| name.whole == *term) {
            continue;
        }
        let Some(misspelling) = Misspelling::of(word, alone) else { continue };
        let mut close = Vec::new();
        index.visit_terms(project, &misspelling.beginning(), &mut |term| {
            let wrong = misspelling.wrong_for(term);
            close.extend(wrong.map(|wrong| (wrong, term.to_owned())));
        })?;
        close.sort_unstable();
        let mut best: Option<((Reverse<usize>, u64), String)> = None;
        for (wrong, term) in close.into_iter().take(MAX_CLOSE) {
            // More than `most` is any number.
            let with = index.count_packages_with(project, &term, most)?.min(most + 1);
            let rank = (Reverse(wrong), with);
            if with > 0 && best.as_ref().is_none_or(|(known, _)| rank > *known) {
                best = Some((rank, term));
            }
        }
        if let Some(((_, with), term)) = best
            && counted.iter().all(|(known, _)| known.term != term)
        {
            counted[place].0.term = term;
            counted[place].1 = with;
        }
    }
    Ok(())
}

/// All packages that have one of the terms, best first.
fn ranked(
    index: &dyn TermIndex,
    project: &ProjectId,
    choice: &ChosenTerms,
    asked: &QueryTerms,
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
    let collection = Collection {
        packages: index.indexed_packages(project)?,
        average: index.average_length(project)?,
    };
    let FoundTerms { occurrences, mut lengths, .. } = found;
    lengths.sort_unstable_by_key(|(package, _)| *package);
    let lengths = |package| {
        let at = lengths.binary_search_by_key(&package, |(package, _)| *package);
        at.map(|at| lengths[at].1).unwrap_or_default()
    };
    Ok(rank(choice, asked, collection, occurrences, lengths))
}

fn hit(found: Ranked, package: PackageRow, terms: &[(QueryTerm, u64)], asked: &QueryTerms) -> Hit {
    let has = |place: usize| found.matched & (1 << place) != 0;
    let has_term = |wanted: &str| {
        terms.iter().enumerate().any(|(place, (term, _))| has(place) && term.term == wanted)
    };
    let mut words: Vec<String> = Vec::new();
    for (place, (term, _)) in terms.iter().enumerate() {
        // The parts of a name are said by the name.
        let is_said = term.is_part
            && asked.names.iter().any(|name| {
                has_term(&name.whole) && name.parts.iter().any(|(part, _)| *part == term.term)
            });
        if has(place) && !is_said && !term.word.is_empty() && !words.contains(&term.word) {
            words.push(term.word.clone());
        }
    }
    Hit { package, score: found.score, matched: words }
}
