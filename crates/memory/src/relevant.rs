//! Relevant: searches the packages of a project.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use accord_base::{Access, Caller, ProjectId};
use accord_contract::Failure;
use accord_memory_core::conformance::{Capability, cannot_search, cannot_search_now};
use accord_memory_core::operations::SearchBy;
use accord_memory_core::package::Status;
use accord_memory_core::query::Relevant;
use accord_memory_core::{PackageId, Warning};
use accord_store::{
    Drafts, Hit, PackageQuery, ReadUnit, SearchQuery, Table, candidates, successors_first,
};

use super::embed::NearestQuery;
use super::load::unreadable;
use super::pull::{Reviews, names, reviews};
use super::questions::{Superseded, superseded};
use super::served::Served;
use super::{Memory, UnitResult, load};

/// The weight of keywords relative to meaning in a hybrid search.
const WORDS: f64 = 0.3;
/// How many candidates a hybrid search reads for each result, and the least number.
const CANDIDATES: (usize, usize) = (4, 40);
/// How many packages of a rare status are looked at in a search by meaning.
const MAX_LISTED: usize = 2_000;
/// Missing vectors are reported when more than one of this many packages has none.
const REPORTED: u64 = 20;

/// The results of a search, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RelevantPage {
    pub packages: Vec<Served>,
    /// The scores, in the same order.
    pub scores: Vec<Score>,
    pub searched: SearchBy,
    /// Why packages may be missing that a search by meaning finds.
    pub warnings: Vec<Warning>,
    /// Words of the query that were not looked for, because they are very common here or too many.
    pub ignored: Vec<String>,
    /// The ids of damaged packages among the results.
    pub damaged: Vec<String>,
    /// The superseded ones among the packages.
    pub superseded: Superseded,
    /// The notes of reviewers on them.
    pub reviews: Reviews,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    pub package_id: PackageId,
    /// More is better. Scores of the same kind of search can be compared.
    pub score: f64,
    /// The words of the query that it contains.
    pub matched: Vec<String>,
}

/// The candidates of a search, best first.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) hits: Vec<Hit>,
    ignored: Vec<String>,
    warnings: Vec<Warning>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    by: SearchBy,
    /// The vector of the text, unless it is searched for by words.
    vector: Option<Arc<[f32]>>,
    /// Whether the server cannot make vectors at the moment.
    is_down: bool,
    /// Whether the project has no vectors, although it should have.
    lacks_vectors: bool,
}

impl Memory {
    /// Clauses: AGENTIC-R-074.
    pub async fn relevant(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: Relevant,
    ) -> Result<RelevantPage, Failure> {
        let (access, project) = (caller.access().clone(), project.clone());
        let way = self.way(asked.by, &access, &project, &asked.query).await?;
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
                let found = memory.search(unit, &project, &query, &way)?;
                let mut page = RelevantPage {
                    searched: way.by,
                    warnings: found.warnings,
                    ignored: found.ignored,
                    ..RelevantPage::default()
                };
                let mut damaged = Vec::new();
                for hit in found.hits {
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
                page.superseded = superseded(unit, &project, &page.packages)?;
                page.reviews = reviews(unit, &project, &page.packages)?;
                Ok((page, damaged))
            })
            .await?;
        self.set_aside(&damaged);
        Ok(page)
    }

    /// How a text is searched for in a project: as requested, or in the best way that works at the
    /// moment.
    async fn way(
        &self,
        by: Option<SearchBy>,
        access: &Access,
        project: &ProjectId,
        text: &str,
    ) -> Result<Way, Failure> {
        let embedder = match (by, &self.options().embedder) {
            (Some(SearchBy::Words), _) | (None, None) => return Ok(Way::default()),
            (Some(SearchBy::Meaning), None) => {
                return Err(cannot_search(Capability::SemanticSearch));
            }
            (Some(SearchBy::Both), None) => return Err(cannot_search(Capability::HybridSearch)),
            (_, Some(embedder)) => Arc::clone(embedder),
        };
        // Checked before the text leaves this process.
        let (access, project) = (access.clone(), project.clone());
        let model = embedder.model().to_owned();
        let has_vectors = self.read(move |unit| {
            load::readable(unit, &access, &project)?;
            Ok(unit.has_embeddings(&project, &model)?)
        });
        let has_vectors = has_vectors.await?;
        let by = by.unwrap_or(SearchBy::Both);
        if !has_vectors {
            // A search by meaning finds nothing then, and says why.
            let by = if by == SearchBy::Both { SearchBy::Words } else { by };
            return Ok(Way { by, lacks_vectors: true, ..Way::default() });
        }
        match embedder.query(text).await {
            Ok(vector) => Ok(Way { by, vector: Some(vector), ..Way::default() }),
            Err(_) if by == SearchBy::Meaning => Err(cannot_search_now(Capability::SemanticSearch)),
            Err(error) => {
                tracing::debug!("a search is by words alone: {error}");
                Ok(Way { is_down: true, ..Way::default() })
            }
        }
    }

    /// How a text is searched for in several projects: by words and meaning, or by words alone if
    /// no vector of the text can be made.
    pub(crate) async fn way_of_focus(&self, text: &str) -> Way {
        let Some(embedder) = &self.options().embedder else { return Way::default() };
        let vector = embedder.query(text).await.ok();
        let by = if vector.is_some() { SearchBy::Both } else { SearchBy::Words };
        Way { by, vector, ..Way::default() }
    }

    /// The best matches, each behind the packages that supersede it.
    pub(crate) fn search(
        &self,
        unit: &dyn ReadUnit,
        project: &ProjectId,
        query: &SearchQuery<'_>,
        way: &Way,
    ) -> UnitResult<Found> {
        // Superseded packages make room for those that supersede them.
        let wider = SearchQuery { limit: candidates(query.limit), ..*query };
        let mut found = self.candidates(unit, project, &wider, way)?;
        found.hits = successors_first(unit, project, query, found.hits)?;
        Ok(found)
    }

    fn candidates(
        &self,
        unit: &dyn ReadUnit,
        project: &ProjectId,
        query: &SearchQuery<'_>,
        way: &Way,
    ) -> UnitResult<Found> {
        let vector = way.vector.as_deref();
        match way.by {
            SearchBy::Words => {
                let mut found = by_words(unit, project, query)?;
                if way.is_down {
                    found.warnings.push(Warning::words_alone());
                }
                if way.lacks_vectors {
                    found.warnings.extend(missing(unit, project, 0)?);
                }
                Ok(found)
            }
            SearchBy::Meaning => self.by_meaning(unit, project, query, vector),
            SearchBy::Both => self.by_both(unit, project, *query, vector),
        }
    }

    fn by_meaning(
        &self,
        unit: &dyn ReadUnit,
        project: &ProjectId,
        query: &SearchQuery<'_>,
        vector: Option<&[f32]>,
    ) -> UnitResult<Found> {
        let (Some(embedder), Some(vector)) = (&self.options().embedder, vector) else {
            let warnings = missing(unit, project, 0)?.into_iter().collect();
            return Ok(Found { warnings, ..Found::default() });
        };
        let listed = listed(unit, project, query)?;
        let nearest = NearestQuery {
            project,
            model: embedder.model(),
            vector,
            wanted: query.limit,
            memory: embedder.options.memory,
        };
        let nearest = self.inner.vectors.nearest(unit, nearest, |id| {
            if listed.as_ref().is_some_and(|listed| !listed.contains(id)) {
                return Ok(None);
            }
            let row = load::if_sound(unit.package(project, id))?;
            Ok(row.filter(|row| query.shows(row)))
        })?;
        let hits = nearest.packages.into_iter().map(|(package, score)| Hit {
            package,
            score: f64::from(score),
            matched: Vec::new(),
        });
        Ok(Found {
            hits: hits.collect(),
            ignored: Vec::new(),
            warnings: missing(unit, project, nearest.known)?.into_iter().collect(),
        })
    }

    fn by_both(
        &self,
        unit: &dyn ReadUnit,
        project: &ProjectId,
        query: SearchQuery<'_>,
        vector: Option<&[f32]>,
    ) -> UnitResult<Found> {
        // A package that only one of the two searches ranks high must still be a candidate.
        let (each, least) = CANDIDATES;
        let wider = SearchQuery { limit: query.limit.saturating_mul(each).max(least), ..query };
        let words = by_words(unit, project, &wider)?;
        let meaning = self.by_meaning(unit, project, &wider, vector)?;
        let mut joined: HashMap<PackageId, Hit> = HashMap::new();
        // Similarities lie close together and far above zero, so that only their differences tell.
        let lowest = meaning.hits.last().map_or(0.0, |hit| hit.score);
        for (hits, lowest, weight) in
            [(words.hits, 0.0, WORDS), (meaning.hits, lowest, 1.0 - WORDS)]
        {
            let highest = hits.first().map_or(0.0, |hit| hit.score);
            for mut hit in hits {
                hit.score = weight * share(hit.score, lowest, highest);
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
        Ok(Found { hits, ignored: words.ignored, warnings: meaning.warnings })
    }
}

fn by_words(unit: &dyn ReadUnit, id: &ProjectId, query: &SearchQuery<'_>) -> UnitResult<Found> {
    let found = unit.search(id, query)?;
    Ok(Found { hits: found.hits, ignored: found.left_out, warnings: Vec::new() })
}

/// The only packages that can match, where these are few. Otherwise a search by meaning would look
/// at many packages that the filter then leaves out.
fn listed(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    query: &SearchQuery<'_>,
) -> UnitResult<Option<HashSet<PackageId>>> {
    if let Some(session) = query.session {
        return Ok(Some(unit.packages_of_session(project, session)?.into_iter().collect()));
    }
    let Some(status) = query.status.filter(|status| *status != Status::Complete) else {
        return Ok(None);
    };
    let (status, drafts) = (Some(status), query.drafts);
    let rare = PackageQuery { status, drafts, limit: MAX_LISTED, ..PackageQuery::default() };
    let rows = unit.packages(project, &rare)?.into_iter();
    Ok(Some(rows.map(|row| row.package_id).collect()))
}

/// The warning about packages without vectors, if they are many.
fn missing(unit: &dyn ReadUnit, project: &ProjectId, known: u64) -> UnitResult<Option<Warning>> {
    let counts = Status::ALL.iter().map(|status| unit.package_count(project, *status));
    let packages = counts.sum::<Result<u64, _>>()?;
    let missing = packages.saturating_sub(known);
    let is_reported = missing.saturating_mul(REPORTED) > packages;
    Ok(is_reported.then(|| Warning::vectors_missing(missing, packages)))
}

/// The position of a score between the lowest and the highest, from 0 to 1. Where all are equal, a
/// score above zero is the best.
fn share(score: f64, lowest: f64, highest: f64) -> f64 {
    if highest > lowest {
        (score - lowest).max(0.0) / (highest - lowest)
    } else if highest > 0.0 {
        1.0
    } else {
        0.0
    }
}
