//! Search: the index says where terms occur, and [`rank`] scores the packages.

use accord_base::ProjectId;
use accord_store::terms::{Phrase, QueryTerm, for_query};
use accord_store::{
    ChosenTerms, Collection, Hit, Occurrence, PARTS, PackageRow, Ranked, Result, Search,
    SearchQuery, SearchResults, rank,
};
use rusqlite::params;

use super::column::Row;
use super::index::{COLUMNS, lengths};
use super::{Unit, limit, number};
use crate::error::damaged;

/// How many packages are looked at, at least, if every term is very common.
const LATEST: i64 = 1_000;

/// The occurrences of the terms, and the lengths of the packages in which they are.
#[derive(Default)]
struct Found {
    occurrences: Vec<Occurrence>,
    /// A package is listed once for every term.
    lengths: Vec<(u64, [u64; PARTS])>,
}

impl Found {
    /// The package of a row that begins with its number and its lengths.
    fn package(&mut self, row: &Row<'_>) -> Result<u64> {
        let package = row.count(0)?;
        // The occurrences of a term are in the order of the packages.
        if self.lengths.last().is_none_or(|(last, _)| *last != package) {
            self.lengths.push((package, lengths(row.bytes(1)?)?));
        }
        Ok(package)
    }
}

impl Search for Unit<'_> {
    fn search(&self, project: &ProjectId, query: &SearchQuery<'_>) -> Result<SearchResults> {
        let asked = for_query(query.text);
        let pk = self.find(project)?;
        let choice = match pk {
            Some(pk) => self.choose(pk, asked.terms)?,
            None => ChosenTerms::default(),
        };
        let candidates = match (pk, choice.ranked) {
            (None, _) => Vec::new(),
            (Some(pk), true) => self.ranked(pk, &choice, &asked.phrases)?,
            (Some(pk), false) => self.latest(pk, &choice.terms, query.limit)?,
        };
        let mut hits = Vec::new();
        for candidate in candidates {
            if hits.len() >= query.limit {
                break;
            }
            let Some(row) = self.row_of(number(candidate.package), project)? else {
                continue;
            };
            if query.shows(&row) {
                hits.push(hit(candidate, row, &choice.terms));
            }
        }
        let mut left_out = choice.left_out;
        left_out.extend(asked.too_many);
        Ok(SearchResults { hits, left_out })
    }
}

impl Unit<'_> {
    /// The terms that are worth looking up.
    fn choose(&self, project: i64, terms: Vec<QueryTerm>) -> Result<ChosenTerms> {
        // Terms of the group that are not in the index yet would not be found.
        self.index_pending()?;
        let packages = self.packages_in(project)?;
        // Counting stops at the number that decides, because counting further is what is avoided.
        let enough = self.common.ceiling(packages).saturating_add(1);
        let sql = "SELECT count(*) FROM
            (SELECT 1 FROM package_terms WHERE package_terms MATCH ?1 LIMIT ?2)";
        let mut counted = Vec::with_capacity(terms.len());
        for term in terms {
            let values = params![lookup(project, &term), number(enough)];
            let with = self.one(sql, values, |row| row.count(0))?;
            counted.push((term, with.unwrap_or_default()));
        }
        Ok(self.common.choose(counted, packages))
    }

    /// All packages that have one of the terms, best first.
    fn ranked(
        &self,
        project: i64,
        choice: &ChosenTerms,
        phrases: &[Phrase],
    ) -> Result<Vec<Ranked>> {
        let mut left = self.common.occurrences;
        let mut found = Found::default();
        for place in choice.rarest_first() {
            let (term, _) = &choice.terms[place];
            let before = found.occurrences.len();
            self.occurrences(&mut found, project, term, place, left)?;
            match left.checked_sub((found.occurrences.len() - before) as u64) {
                Some(rest) => left = rest,
                None => {
                    left = 0;
                    found.occurrences.truncate(before);
                    self.packages_with(&mut found, project, term, place)?;
                }
            }
        }
        let packages = self.packages_in(project)?;
        // After the look-ups, which write the pending part of the index with its totals.
        let average = self.average_length()?;
        let Found { occurrences, mut lengths } = found;
        lengths.sort_unstable_by_key(|(package, _)| *package);
        let lengths = |package| {
            let at = lengths.binary_search_by_key(&package, |(package, _)| *package);
            Ok(at.map(|at| lengths[at].1).unwrap_or_default())
        };
        rank(choice, phrases, Collection { packages, average }, occurrences, lengths)
    }

    /// Reads the occurrences of a term; if there are more than `most`, one more than that.
    fn occurrences(
        &self,
        found: &mut Found,
        project: i64,
        term: &QueryTerm,
        place: usize,
        most: u64,
    ) -> Result<()> {
        let sql = "SELECT o.doc, d.sz, o.col, o.offset FROM package_occurrence o
            CROSS JOIN package_terms_docsize d ON d.id = o.doc WHERE o.term = ?1 LIMIT ?2";
        let values = params![indexed(project, term), number(most.saturating_add(1))];
        let read = |row: &Row<'_>| {
            let package = found.package(row)?;
            let part = row.parsed(2, "a part", |name| COLUMNS.iter().position(|c| *c == name))?;
            found.occurrences.push(Occurrence {
                package,
                part: part as u8,
                place: Some(u32::try_from(row.count(3)?).map_err(|_| damaged("a place"))?),
                term: place as u8,
            });
            Ok(())
        };
        self.each(sql, values, read, |()| true)
    }

    /// Reads the packages that have a term, which costs less than all of its occurrences.
    fn packages_with(
        &self,
        found: &mut Found,
        project: i64,
        term: &QueryTerm,
        place: usize,
    ) -> Result<()> {
        let sql = "SELECT t.rowid, d.sz FROM package_terms t
            CROSS JOIN package_terms_docsize d ON d.id = t.rowid WHERE t.package_terms MATCH ?1";
        let read = |row: &Row<'_>| {
            let package = found.package(row)?;
            let occurrence = Occurrence { package, part: 0, place: None, term: place as u8 };
            found.occurrences.push(occurrence.without_place());
            Ok(())
        };
        self.each(sql, params![lookup(project, term)], read, |()| true)
    }

    /// The packages that have the first term, last deposited first; up to a limit.
    fn latest(
        &self,
        project: i64,
        terms: &[(QueryTerm, u64)],
        wanted: usize,
    ) -> Result<Vec<Ranked>> {
        let Some((term, _)) = terms.first() else {
            return Ok(Vec::new());
        };
        let sql = "SELECT rowid FROM package_terms WHERE package_terms MATCH ?1
            ORDER BY rowid DESC LIMIT ?2";
        // More than wanted, because some are not visible to the caller and are skipped afterwards.
        let worth = limit(wanted).saturating_mul(10).max(LATEST);
        self.many(sql, params![lookup(project, term), worth], |row| {
            Ok(Ranked { package: row.count(0)?, score: 0.0, matched: 1 })
        })
    }

    fn packages_in(&self, project: i64) -> Result<u64> {
        let sql = "SELECT packages FROM counter WHERE project = ?1";
        Ok(self.one(sql, (project,), |row| row.count(0))?.unwrap_or_default())
    }
}

fn hit(found: Ranked, package: PackageRow, terms: &[(QueryTerm, u64)]) -> Hit {
    let has = |place: &usize| found.matched & (1 << place) != 0;
    let words = (0..terms.len()).filter(has).map(|place| terms[place].0.word.clone());
    Hit { package, score: found.score, matched: words.collect() }
}

/// The look-up of a term in a project. A term contains only letters and digits, so it cannot
/// end the quotation.
fn lookup(project: i64, term: &QueryTerm) -> String {
    format!("\"{}\"", indexed(project, term))
}

/// A term as it is in the index.
fn indexed(project: i64, term: &QueryTerm) -> String {
    format!("{project}:{}", term.term)
}
