//! Search: the index says where terms occur, and [`rank`] scores the packages.

use accord_base::ProjectId;
use accord_store::terms::{Phrase, QueryTerm, for_query};
use accord_store::{
    ChosenTerms, Collection, Hit, Occurrence, PackageRow, Ranked, Result, Search, SearchQuery,
    SearchResults, rank,
};
use rusqlite::params;

use super::index::COLUMNS;
use super::{Unit, limit, number};
use crate::error::damaged;

/// How many packages are looked at, at least, if every term is very common.
const LATEST: i64 = 1_000;

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
        let mut all = Vec::new();
        for place in choice.rarest_first() {
            let (term, _) = &choice.terms[place];
            match self.occurrences(project, term, place, left)? {
                Some(mut found) => {
                    left -= found.len() as u64;
                    all.append(&mut found);
                }
                None => {
                    left = 0;
                    all.append(&mut self.packages_with(project, term, place)?);
                }
            }
        }
        let packages = self.packages_in(project)?;
        // After the look-ups, which write the pending part of the index with its totals.
        let average = self.average_length()?;
        let lengths = |package| Ok(self.lengths_of(number(package))?.unwrap_or_default());
        rank(choice, phrases, Collection { packages, average }, all, lengths)
    }

    /// The occurrences of a term; `None` if there are more than `most`.
    fn occurrences(
        &self,
        project: i64,
        term: &QueryTerm,
        place: usize,
        most: u64,
    ) -> Result<Option<Vec<Occurrence>>> {
        if most == 0 {
            return Ok(None);
        }
        let sql = "SELECT doc, col, offset FROM package_occurrence WHERE term = ?1 LIMIT ?2";
        let values = params![indexed(project, term), number(most.saturating_add(1))];
        let found = self.many(sql, values, |row| {
            let part = row.parsed(1, "a part", |name| COLUMNS.iter().position(|c| *c == name))?;
            Ok(Occurrence {
                package: row.count(0)?,
                part: part as u8,
                place: Some(u32::try_from(row.count(2)?).map_err(|_| damaged("a place"))?),
                term: place as u8,
            })
        })?;
        Ok((found.len() as u64 <= most).then_some(found))
    }

    /// The packages that have a term, which costs less than all of its occurrences.
    fn packages_with(
        &self,
        project: i64,
        term: &QueryTerm,
        place: usize,
    ) -> Result<Vec<Occurrence>> {
        let sql = "SELECT rowid FROM package_terms WHERE package_terms MATCH ?1";
        self.many(sql, params![lookup(project, term)], |row| {
            let package = row.count(0)?;
            let found = Occurrence { package, part: 0, place: None, term: place as u8 };
            Ok(found.without_place())
        })
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
