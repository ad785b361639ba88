//! Search: SQLite's BM25 for each term, combined here.

use accord_base::ProjectId;
use accord_store::terms::{QueryTerm, for_query};
use accord_store::{
    ChosenTerms, Hit, PackageRow, Result, Search, SearchQuery, SearchResults, WEIGHTS, rarity,
};
use rusqlite::params;

use super::{Unit, limit, number};

/// A package that has at least one term.
struct Candidate {
    package: i64,
    score: f64,
    /// One bit per term.
    matched: u32,
}

impl Search for Unit<'_> {
    fn search(&self, project: &ProjectId, query: &SearchQuery<'_>) -> Result<SearchResults> {
        let (terms, too_many) = for_query(query.text);
        let pk = self.find(project)?;
        let choice = match pk {
            Some(pk) => self.choose(pk, terms)?,
            None => ChosenTerms::default(),
        };
        let candidates = match (pk, choice.ranked) {
            (None, _) => Vec::new(),
            (Some(pk), true) => self.ranked(pk, &choice.terms)?,
            (Some(pk), false) => self.latest(pk, &choice.terms, query.limit)?,
        };
        let mut hits = Vec::new();
        for candidate in candidates {
            if hits.len() >= query.limit {
                break;
            }
            let Some(row) = self.row_of(candidate.package, project)? else {
                continue;
            };
            if query.shows(&row) {
                hits.push(candidate.hit(row, &choice.terms));
            }
        }
        let mut left_out = choice.left_out;
        left_out.extend(too_many);
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
    fn ranked(&self, project: i64, terms: &[(QueryTerm, u64)]) -> Result<Vec<Candidate>> {
        let packages = self.packages_in(project)?;
        let all = self
            .one("SELECT CAST(total(packages) AS INTEGER) FROM counter", (), |row| row.count(0))?;
        let mut found: Vec<Candidate> = Vec::new();
        for (place, (term, with)) in terms.iter().enumerate() {
            // SQLite weighs a term by its rarity in all projects; here its rarity in this project
            // counts.
            let weight = rarity(packages, *with) / sqlite_rarity(all.unwrap_or_default(), *with);
            let sql = "SELECT rowid, bm25(package_terms, ?2, ?3, ?4, ?5, ?6)
                FROM package_terms WHERE package_terms MATCH ?1";
            let [a, b, c, d, e] = WEIGHTS;
            let values = params![lookup(project, term), a, b, c, d, e];
            found.extend(self.many(sql, values, |row| {
                Ok(Candidate {
                    package: row.integer(0)?,
                    // SQLite returns BM25 as a negative number, so that the best sorts first.
                    score: -row.real(1)? * weight,
                    matched: 1 << place,
                })
            })?);
        }
        found.sort_by_key(|candidate| candidate.package);
        found.dedup_by(|next, candidate| {
            let same = next.package == candidate.package;
            if same {
                candidate.score += next.score;
                candidate.matched |= next.matched;
            }
            same
        });
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.package.cmp(&a.package)));
        Ok(found)
    }

    /// The packages that have the first term, last deposited first; up to a limit.
    fn latest(
        &self,
        project: i64,
        terms: &[(QueryTerm, u64)],
        wanted: usize,
    ) -> Result<Vec<Candidate>> {
        let Some((term, _)) = terms.first() else {
            return Ok(Vec::new());
        };
        let sql = "SELECT rowid FROM package_terms WHERE package_terms MATCH ?1
            ORDER BY rowid DESC LIMIT ?2";
        // More than wanted, because some are not visible to the caller and are skipped afterwards.
        let worth = limit(wanted).saturating_mul(10);
        self.many(sql, params![lookup(project, term), worth], |row| {
            Ok(Candidate { package: row.integer(0)?, score: 0.0, matched: 1 })
        })
    }

    fn packages_in(&self, project: i64) -> Result<u64> {
        let sql = "SELECT packages FROM counter WHERE project = ?1";
        Ok(self.one(sql, (project,), |row| row.count(0))?.unwrap_or_default())
    }
}

impl Candidate {
    fn hit(&self, package: PackageRow, terms: &[(QueryTerm, u64)]) -> Hit {
        let has = |place: &usize| self.matched & (1 << place) != 0;
        let words = (0..terms.len()).filter(has).map(|place| terms[place].0.word.clone());
        Hit { package, score: self.score, matched: words.collect() }
    }
}

/// The look-up of a term in a project. A term contains only letters and digits, so it cannot
/// end the quotation.
fn lookup(project: i64, term: &QueryTerm) -> String {
    format!("\"{project}:{}\"", term.term)
}

/// The inverse document frequency that SQLite's BM25 uses.
fn sqlite_rarity(packages: u64, with: u64) -> f64 {
    let (packages, with) = (packages as f64, with as f64);
    let rarity = ((packages - with + 0.5) / (with + 0.5)).ln();
    // SQLite never uses zero or less.
    if rarity <= 0.0 { 1e-6 } else { rarity }
}
