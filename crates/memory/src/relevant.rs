//! Relevant: searches the packages of a project.

use std::collections::HashMap;

use accord_base::{Caller, ProjectId};
use accord_contract::codes::Failure;
use accord_contract::wire_enum;
use accord_memory_core::PackageId;
use accord_memory_core::conformance::{Capability, cannot_search};
use accord_memory_core::query::{Relevant, Word};
use accord_store::{Drafts, PackageRow, ReadUnit, SearchQuery, Table};

use super::load::unreadable;
use super::pull::names;
use super::served::Served;
use super::{Memory, UnitResult, load};

/// The weight of keywords relative to meaning in a hybrid search.
const WORDS: f64 = 0.3;

/// How many candidates a hybrid search reads for each result.
const CANDIDATES: usize = 4;

wire_enum! {
    /// The kinds of search.
    pub enum SearchBy("SearchBy", closed) {
        /// By its words.
        Words = "keyword",
        /// By its meaning.
        Meaning = "semantic",
        /// By both.
        Both = "hybrid",
    }
}

/// The kind of search; without it, the best kind that the host supports.
pub const SEARCH: Word<SearchBy> = Word::new("search");

/// The results of a search, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RelevantPage {
    /// The packages.
    pub packages: Vec<Served>,
    /// The scores, in the same order.
    pub scores: Vec<Score>,
    /// Words of the query that were not looked for, because they are very common here or too many.
    pub ignored: Vec<String>,
    /// The ids of damaged packages among the results.
    pub damaged: Vec<String>,
}

/// The score of a package.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The package.
    pub package_id: PackageId,
    /// More is better. Scores of the same kind of search can be compared.
    pub score: f64,
    /// The words of the query that it contains.
    pub matched: Vec<String>,
}

/// A candidate.
struct Hit {
    package: PackageRow,
    score: f64,
    matched: Vec<String>,
}

impl Memory {
    /// Searches the packages of a project.
    ///
    /// Clauses: AGENTIC-R-074.
    ///
    /// # Errors
    /// When the caller may not read, the project is unknown, or the host does not support this kind
    /// of search.
    pub async fn relevant(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: Relevant,
        by: Option<SearchBy>,
    ) -> Result<RelevantPage, Failure> {
        let (access, project) = (caller.access().clone(), project.clone());
        let by = self.possible(by)?;
        let memory = self.clone();
        let (page, damaged) = self
            .read(move |unit| {
                load::readable(unit, &access, &project)?;
                let query = SearchQuery {
                    text: &asked.query,
                    status: asked.filter.status,
                    session: asked.filter.session.as_ref(),
                    drafts: load::drafts(&access),
                    limit: asked.limit as usize,
                };
                let (hits, ignored) = match by {
                    SearchBy::Words => by_words(unit, &project, &query)?,
                    SearchBy::Meaning => (memory.by_meaning(unit, &project, &query)?, Vec::new()),
                    SearchBy::Both => memory.by_both(unit, &project, query)?,
                };
                let mut page = RelevantPage { ignored, ..RelevantPage::default() };
                let mut damaged = Vec::new();
                for hit in hits {
                    match Served::of(hit.package) {
                        Ok(package) => {
                            page.scores.push(Score {
                                package_id: package.package_id.clone(),
                                score: hit.score,
                                matched: hit.matched,
                            });
                            page.packages.push(package);
                        }
                        Err(found) => damaged.push(found),
                    }
                }
                // An unreadable row may be the draft of another actor, so its id is not reported.
                let unreadable = match query.drafts {
                    Drafts::All => unreadable(unit, Table::Package),
                    Drafts::Of(_) | Drafts::None => Vec::new(),
                };
                page.damaged = names(&damaged, unreadable);
                Ok((page, damaged))
            })
            .await?;
        self.set_aside(&damaged);
        Ok(page)
    }

    /// The requested kind of search, or the best that the host supports.
    fn possible(&self, by: Option<SearchBy>) -> Result<SearchBy, Failure> {
        match (by, &self.options().embedder) {
            (Some(by), Some(_)) => Ok(by),
            (None, Some(_)) => Ok(SearchBy::Both),
            (None | Some(SearchBy::Words), None) => Ok(SearchBy::Words),
            (Some(SearchBy::Meaning), None) => Err(cannot_search(Capability::SemanticSearch)),
            (Some(SearchBy::Both), None) => Err(cannot_search(Capability::HybridSearch)),
        }
    }

    fn by_meaning(
        &self,
        unit: &dyn ReadUnit,
        project: &ProjectId,
        query: &SearchQuery<'_>,
    ) -> UnitResult<Vec<Hit>> {
        let Some(embedder) = &self.options().embedder else {
            return Ok(Vec::new());
        };
        let vectors = &self.inner.vectors;
        let closest = vectors.closest(unit, embedder.as_ref(), project, query.text)?;
        let mut hits = Vec::new();
        for (id, score) in closest {
            if hits.len() == query.limit {
                break;
            }
            let row = load::if_sound(unit.package(project, &id))?;
            if let Some(package) = row.filter(|row| query.shows(row)) {
                hits.push(Hit { package, score, matched: Vec::new() });
            }
        }
        Ok(hits)
    }

    fn by_both(
        &self,
        unit: &dyn ReadUnit,
        project: &ProjectId,
        query: SearchQuery<'_>,
    ) -> UnitResult<(Vec<Hit>, Vec<String>)> {
        // A package that only one of the two searches ranks high must still be among the
        // candidates.
        let wider = SearchQuery { limit: query.limit.saturating_mul(CANDIDATES), ..query };
        let (words, ignored) = by_words(unit, project, &wider)?;
        let meaning = self.by_meaning(unit, project, &wider)?;
        let mut joined: HashMap<PackageId, Hit> = HashMap::new();
        for (hits, weight) in [(words, WORDS), (meaning, 1.0 - WORDS)] {
            let highest = highest(&hits);
            for mut hit in hits {
                hit.score = weight * share(hit.score, highest);
                let known = joined.entry(hit.package.package_id.clone());
                known.and_modify(|known| known.score += hit.score).or_insert(hit);
            }
        }
        let mut hits: Vec<_> = joined.into_values().collect();
        // On a tie the more significant one is first, then the newer one.
        hits.sort_by(|one, other| {
            let rank = |hit: &Hit| (hit.package.significance.number(), hit.package.seq);
            let score = other.score.total_cmp(&one.score);
            score.then_with(|| rank(other).cmp(&rank(one)))
        });
        hits.truncate(query.limit);
        Ok((hits, ignored))
    }
}

fn by_words(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    query: &SearchQuery<'_>,
) -> UnitResult<(Vec<Hit>, Vec<String>)> {
    let found = unit.search(project, query)?;
    let hits = found.hits.into_iter().map(|hit| Hit {
        package: hit.package,
        score: hit.score,
        matched: hit.matched,
    });
    Ok((hits.collect(), found.left_out))
}

/// The highest score, which is at least zero.
fn highest(hits: &[Hit]) -> f64 {
    let scores = hits.iter().map(|hit| hit.score);
    scores.fold(0.0, f64::max)
}

/// A score relative to the highest, from 0 to 1. It is not relative to the lowest, so that the last
/// result does not always get 0.
fn share(score: f64, highest: f64) -> f64 {
    if highest > 0.0 { score.max(0.0) / highest } else { 0.0 }
}
