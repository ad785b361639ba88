//! The rank of packages.
//!
//! The score joins two BM25 scores, each as its share of the highest in the same search: that of
//! the best passage and that of the whole package. A long package about many things is found by the
//! passage that answers, and a short one by all that it says.
//!
//! A passage is a part of a package, or as much of it as [`PASSAGE`] terms; the title belongs to
//! every passage. Passages begin at every occurrence, so none is cut in two.
//!
//! A phrase of the query counts as one more term, which is as rare as it is.
//!
//! The joined shares are multiplied by the highest score of a whole package, so that scores of
//! different projects can be compared.

use super::ChosenTerms;
use crate::terms::{MAX_QUERY_TERMS, Phrase};
use crate::{PARTS, Result};

/// The length of a passage, in terms.
const PASSAGE: u32 = 80;

/// The weight of the best passage. The rest is that of the whole package.
const BY_PASSAGE: f64 = 0.6;

/// The weight of a term in the title, the decisions, the questions, the handoff note and the body.
const WEIGHTS: [f64; PARTS] = [2.0, 1.0, 1.0, 1.0, 1.0];

/// The part that belongs to every passage.
const TITLE: u8 = 0;

/// The part of an occurrence without a place.
const BODY: u8 = PARTS as u8 - 1;

/// BM25's `k1`: how quickly repetitions of a term lose weight.
const SATURATION: f64 = 1.2;

/// BM25's `b`: how much the length of a package counts.
const LENGTH: f64 = 0.75;

/// The most terms and phrases.
const FEATURES: usize = 2 * MAX_QUERY_TERMS;

/// An occurrence of a term of the query.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Occurrence {
    /// The number of the package.
    pub package: u64,
    /// The part of the package.
    pub part: u8,
    /// The place in the part, counted in terms; `None` if only the package is known.
    pub place: Option<u32>,
    /// The place of the term among the chosen ones.
    pub term: u8,
}

impl Occurrence {
    /// The same, if only the package is known.
    #[must_use]
    pub fn without_place(self) -> Self {
        Self { part: BODY, place: None, ..self }
    }
}

/// What the scores of a package depend on besides the package itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collection {
    /// The number of packages in the project.
    pub packages: u64,
    /// The average number of terms in a package.
    pub average: f64,
}

/// A package with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The number of the package.
    pub package: u64,
    /// More is better.
    pub score: f64,
    /// One bit per term that the package has.
    pub matched: u32,
}

/// Ranks the packages in which the terms occur, best first. Of equal ones, the latest deposit comes
/// first. `length` returns the number of terms of a package.
pub fn rank(
    choice: &ChosenTerms,
    phrases: &[Phrase],
    collection: Collection,
    mut found: Vec<Occurrence>,
    mut length: impl FnMut(u64) -> Result<u64>,
) -> Result<Vec<Ranked>> {
    found.sort_unstable();
    let phrases = Phrases::new(choice, phrases);
    phrases.find(&mut found);
    let scorer = Scorer { rarities: phrases.rarities(choice, collection, &found) };
    let mut whole = Vec::new();
    let mut passages = Vec::new();
    let mut ranked = Vec::new();
    for of_package in by_package(&found) {
        let package = of_package[0].package;
        let terms = of_package.iter().filter(|found| usize::from(found.term) < choice.terms.len());
        whole.push(scorer.whole(of_package, length(package)? as f64 / collection.average));
        passages.push(scorer.best_passage(of_package));
        let matched = terms.fold(0, |matched, found| matched | 1 << found.term);
        ranked.push(Ranked { package, score: 0.0, matched });
    }
    let highest = |scores: &[f64]| scores.iter().copied().fold(0.0, f64::max);
    let (most, best) = (highest(&whole), highest(&passages));
    for (place, package) in ranked.iter_mut().enumerate() {
        let passage = if best > 0.0 { passages[place] / best } else { 0.0 };
        package.score = BY_PASSAGE * passage * most + (1.0 - BY_PASSAGE) * whole[place];
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.package.cmp(&a.package)));
    Ok(ranked)
}

/// The phrases of a query, as the chosen terms that they consist of.
struct Phrases {
    /// The number of the first phrase. Those before it are the terms.
    first: usize,
    phrases: Vec<Vec<(u8, u32)>>,
}

impl Phrases {
    /// Terms that are not looked up are left out of a phrase.
    fn new(choice: &ChosenTerms, phrases: &[Phrase]) -> Self {
        let place_of = |term: &str| {
            let place = choice.terms.iter().position(|(chosen, _)| chosen.term == term);
            place.and_then(|place| u8::try_from(place).ok())
        };
        let chosen = phrases.iter().map(|phrase| {
            let terms = phrase.iter();
            terms.filter_map(|(term, place)| Some((place_of(term)?, *place))).collect::<Vec<_>>()
        });
        let usable = chosen.filter(|phrase| phrase.len() > 1);
        let phrases = usable.take(FEATURES - MAX_QUERY_TERMS).collect();
        Self { first: choice.terms.len(), phrases }
    }

    /// Adds the occurrences of the phrases, numbered after the terms. `found` is in order, and
    /// stays so.
    fn find(&self, found: &mut Vec<Occurrence>) {
        let mut whole = Vec::new();
        for (phrase, number) in self.phrases.iter().zip(self.first..) {
            let (first, start) = phrase[0];
            let begins = found.iter().filter(|found| found.term == first);
            for begin in begins.copied() {
                let Some(place) = begin.place else { continue };
                let continues = phrase[1..].iter().all(|(term, at)| {
                    let place = Some(place + at - start);
                    found.binary_search(&Occurrence { place, term: *term, ..begin }).is_ok()
                });
                if continues {
                    whole.push(Occurrence { term: number as u8, ..begin });
                }
            }
        }
        if !whole.is_empty() {
            found.append(&mut whole);
            found.sort_unstable();
        }
    }

    /// The rarity of every term and phrase.
    fn rarities(
        &self,
        choice: &ChosenTerms,
        collection: Collection,
        found: &[Occurrence],
    ) -> Vec<f64> {
        let terms = choice.terms.iter().map(|(_, with)| *with);
        let phrases = (self.first..self.first + self.phrases.len()).map(|number| {
            let has = |of_package: &&[Occurrence]| {
                of_package.iter().any(|found| usize::from(found.term) == number)
            };
            by_package(found).filter(has).count() as u64
        });
        terms.chain(phrases).map(|with| rarity(collection.packages, with)).collect()
    }
}

/// Scores single packages, each given by its occurrences in order.
struct Scorer {
    /// Of the terms and phrases.
    rarities: Vec<f64>,
}

impl Scorer {
    /// The score of a package with a length relative to the average.
    fn whole(&self, found: &[Occurrence], length: f64) -> f64 {
        let mut amounts = [0.0; FEATURES];
        for found in found {
            amounts[usize::from(found.term)] += WEIGHTS[usize::from(found.part)];
        }
        self.sum(&amounts, 1.0 - LENGTH + LENGTH * length)
    }

    /// The highest score of a passage.
    fn best_passage(&self, found: &[Occurrence]) -> f64 {
        let mut title = [0.0; FEATURES];
        let known = found.iter().filter_map(|found| Some((found, found.place?)));
        for (found, _) in known.clone().filter(|(found, _)| found.part == TITLE) {
            title[usize::from(found.term)] += 1.0;
        }
        let mut best = self.sum(&title, 1.0);
        let texts: Vec<_> = known.filter(|(found, _)| found.part != TITLE).collect();
        let mut amounts = title;
        let mut end = 0;
        for (begin, start) in &texts {
            while let Some((next, place)) = texts.get(end)
                && next.part == begin.part
                && place - start < PASSAGE
            {
                amounts[usize::from(next.term)] += 1.0;
                end += 1;
            }
            best = best.max(self.sum(&amounts, 1.0));
            amounts[usize::from(begin.term)] -= 1.0;
        }
        best
    }

    /// BM25 of a text in which the terms occur so often.
    fn sum(&self, amounts: &[f64; FEATURES], length: f64) -> f64 {
        let terms = self.rarities.iter().zip(amounts).filter(|(_, amount)| **amount > 0.0);
        terms
            .map(|(rarity, amount)| {
                rarity * amount * (SATURATION + 1.0) / (amount + SATURATION * length)
            })
            .sum()
    }
}

/// The occurrences of each package. They are in order.
fn by_package(found: &[Occurrence]) -> impl Iterator<Item = &[Occurrence]> {
    found.chunk_by(|one, other| one.package == other.package)
}

/// The inverse document frequency of a term that `with` of `packages` packages contain.
fn rarity(packages: u64, with: u64) -> f64 {
    let (packages, with) = (packages.max(with) as f64, with as f64);
    // The added 1 keeps the weight of a common term above zero.
    (1.0 + (packages - with + 0.5) / (with + 0.5)).ln()
}
