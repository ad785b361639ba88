//! Search in the model: reads every package.

use std::collections::BTreeMap;

use accord_base::ProjectId;

use super::{PackageEntry, State};
use crate::terms::{QueryTerm, for_query};
use crate::{
    ChosenTerms, Collection, Hit, Occurrence, PARTS, Ranked, Result, Search, SearchQuery,
    SearchResults, rank,
};

impl Search for State {
    fn search(&self, project: &ProjectId, query: &SearchQuery<'_>) -> Result<SearchResults> {
        let asked = for_query(query.text);
        let documents: BTreeMap<u64, Document<'_>> = (self.at(project).into_iter())
            .flat_map(|project| project.packages.values())
            .map(|entry| (entry.row.seq, Document::new(entry)))
            .collect();
        let count = |term: QueryTerm| {
            let with = documents.values().filter(|document| document.has(&term)).count();
            (term, with as u64)
        };
        let counted = asked.terms.into_iter().map(count).collect();
        let packages = documents.len() as u64;
        let choice = self.common.choose(counted, packages);
        let found = self.occurrences(&documents, &choice);
        let collection = Collection { packages, average: self.average_length() };
        let lengths = |package| Ok(documents[&package].lengths());
        let mut ranked = rank(&choice, &asked.phrases, collection, found, lengths)?;
        if !choice.ranked {
            ranked.iter_mut().for_each(|found| found.score = 0.0);
            ranked.sort_by_key(|found| std::cmp::Reverse(found.package));
        }
        let hit = |found: Ranked| {
            let has = |place: &usize| found.matched & (1 << place) != 0;
            let words = (0..choice.terms.len()).filter(has);
            Hit {
                package: documents[&found.package].entry.row.clone(),
                score: found.score,
                matched: words.map(|place| choice.terms[place].0.word.clone()).collect(),
            }
        };
        let shown = ranked.into_iter().map(hit).filter(|hit| query.shows(&hit.package));
        let hits = shown.take(query.limit).collect();
        let mut left_out = choice.left_out.clone();
        left_out.extend(asked.too_many);
        Ok(SearchResults { hits, left_out })
    }
}

struct Document<'a> {
    entry: &'a PackageEntry,
    /// The terms in order, each with its part and its place there.
    terms: Vec<(&'a str, u8, u32)>,
}

impl<'a> Document<'a> {
    fn new(entry: &'a PackageEntry) -> Self {
        let parts = entry.index.terms().iter().zip(0..);
        let terms = parts.flat_map(|(terms, part)| {
            let places = terms.split_terminator(' ').zip(0..);
            places.map(move |(term, place)| (term, part, place))
        });
        Self { entry, terms: terms.collect() }
    }

    /// The number of terms in each part.
    fn lengths(&self) -> [u64; PARTS] {
        let parts = self.entry.index.terms().each_ref();
        parts.map(|terms| terms.split_terminator(' ').count() as u64)
    }

    fn has(&self, term: &QueryTerm) -> bool {
        self.terms.iter().any(|(known, ..)| *known == term.term)
    }
}

impl State {
    /// The occurrences of the terms, up to the limit.
    fn occurrences(
        &self,
        documents: &BTreeMap<u64, Document<'_>>,
        choice: &ChosenTerms,
    ) -> Vec<Occurrence> {
        let mut left = self.common.occurrences;
        let mut all = Vec::new();
        for place in choice.rarest_first() {
            let looked_up = &choice.terms[place].0.term;
            let mut found = Vec::new();
            for (number, document) in documents {
                let terms = document.terms.iter().filter(|(term, ..)| term == looked_up);
                found.extend(terms.map(|(_, part, at)| Occurrence {
                    package: *number,
                    part: *part,
                    place: Some(*at),
                    term: place as u8,
                }));
            }
            match left.checked_sub(found.len() as u64) {
                Some(rest) => left = rest,
                None => {
                    left = 0;
                    found.dedup_by_key(|found| found.package);
                    found = found.into_iter().map(Occurrence::without_place).collect();
                }
            }
            all.append(&mut found);
        }
        all
    }

    /// The average length over all projects, because engines have one index for all.
    fn average_length(&self) -> f64 {
        let lengths: Vec<usize> = (self.projects.values())
            .flat_map(|project| project.packages.values())
            .map(|entry| Document::new(entry).terms.len())
            .collect();
        lengths.iter().sum::<usize>() as f64 / lengths.len() as f64
    }
}
