//! Search in the model: scores every package, with the same formula as the engines.

use std::collections::BTreeMap;

use accord_base::ProjectId;

use super::{PackageEntry, State};
use crate::terms::{QueryTerm, for_query};
use crate::{Hit, Result, Search, SearchQuery, SearchResults, WEIGHTS, rarity};

/// BM25's `k1`: how quickly repetitions of a term lose weight.
const SATURATION: f64 = 1.2;
/// BM25's `b`: how much the length of a package counts.
const LENGTH: f64 = 0.75;

impl Search for State {
    fn search(&self, project: &ProjectId, query: &SearchQuery<'_>) -> Result<SearchResults> {
        let documents = self.documents(project);
        let (terms, too_many) = for_query(query.text);
        let count = |term: QueryTerm| {
            let with = documents.iter().filter(|document| document.has(&term)).count();
            (term, with as u64)
        };
        let counted = terms.into_iter().map(count).collect();
        let packages = documents.len() as u64;
        let mut choice = self.common.choose(counted, packages);
        choice.left_out.extend(too_many);
        let average = self.average_length();
        let mut hits: Vec<Hit> = Vec::new();
        for document in &documents {
            let row = &document.entry.row;
            let terms = choice.terms.iter();
            let found: Vec<_> = terms.filter(|(term, _)| document.has(term)).collect();
            if found.is_empty() || !query.shows(row) {
                continue;
            }
            let part = |(term, with): &&(QueryTerm, u64)| {
                rarity(packages, *with) * document.fit(term, average)
            };
            let score = if choice.ranked { found.iter().map(part).sum() } else { 0.0 };
            hits.push(Hit {
                package: row.clone(),
                score,
                matched: found.iter().map(|(term, _)| term.word.clone()).collect(),
            });
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.package.seq.cmp(&a.package.seq)));
        hits.truncate(query.limit);
        Ok(SearchResults { hits, left_out: choice.left_out })
    }
}

struct Document<'a> {
    entry: &'a PackageEntry,
    /// The weighted frequency of each term. The weight depends on the part of the package.
    terms: BTreeMap<String, f64>,
    length: u64,
}

impl Document<'_> {
    fn has(&self, term: &QueryTerm) -> bool {
        self.terms.contains_key(&term.term)
    }

    fn fit(&self, term: &QueryTerm, average: f64) -> f64 {
        let amount = self.terms[&term.term];
        let length = 1.0 - LENGTH + LENGTH * self.length as f64 / average;
        amount * (SATURATION + 1.0) / (amount + SATURATION * length)
    }
}

impl State {
    fn documents(&self, project: &ProjectId) -> Vec<Document<'_>> {
        let packages = self.at(project).into_iter().flat_map(|project| project.packages.values());
        packages.map(document).collect()
    }

    /// The average length over all projects, because engines have one index for all.
    fn average_length(&self) -> f64 {
        let lengths: Vec<u64> = (self.projects.values())
            .flat_map(|project| project.packages.values())
            .map(|entry| document(entry).length)
            .collect();
        lengths.iter().sum::<u64>() as f64 / lengths.len() as f64
    }
}

fn document(entry: &PackageEntry) -> Document<'_> {
    let mut document = Document { entry, terms: BTreeMap::new(), length: 0 };
    for (terms, weight) in entry.index.terms().iter().zip(WEIGHTS) {
        for term in terms.split_terminator(' ') {
            *document.terms.entry(term.to_owned()).or_default() += weight;
            document.length += 1;
        }
    }
    document
}
