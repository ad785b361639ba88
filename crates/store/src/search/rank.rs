//! The rank of packages.
//!
//! The score joins two BM25 scores, each as its share of the highest in the same search: that of
//! the best passage and that of the whole package. A long package about many things is found by the
//! passage that answers, and a short one by all that it says. So the passage counts the more, the
//! longer the packages of the project are on average.
//!
//! The parts of a package follow each other, and a passage is [`PASSAGE`] terms of that text, or
//! all of a shorter one. The title belongs to every passage. Passages begin at every occurrence, so
//! none is cut in two.
//!
//! A term is weighed by how rare it is among packages, and among passages. So a word that nearly
//! every long package has somewhere still tells passages apart. A phrase of the query counts as one
//! more term, which is as rare as it is.
//!
//! The joined shares are multiplied by the highest score of a whole package, so that scores of
//! different projects can be compared.

use super::ChosenTerms;
use super::common::MAX_CHOSEN;
use super::phrases::{MAX_PAIRS, MAX_PHRASES, Phrases};
use crate::PARTS;
use crate::terms::QueryTerms;

/// The length of a passage, in terms.
const PASSAGE: u64 = 50;

/// The average length of packages, in terms, at which the best passage counts as much as the whole
/// package.
const EVEN: f64 = 300.0;

/// The weight of a term in the title. Anywhere else it is 1.
const TITLE_WEIGHT: f64 = 2.0;

/// The part that belongs to every passage.
const TITLE: u8 = 0;

/// The part of an occurrence without a place.
const BODY: u8 = PARTS as u8 - 1;

/// BM25's `k1`: how quickly repetitions of a term lose weight.
const SATURATION: f64 = 1.2;

/// BM25's `b`: how much the length of a text counts.
const LENGTH: f64 = 0.75;

/// BM25's `k3`: how quickly repetitions of a term in the query lose weight.
const ASKED_SATURATION: f64 = 8.0;

/// The weight of a pair. That of a term that the query has once is 1.
const PAIR_WEIGHT: f64 = 0.3;

/// The most terms, phrases and pairs.
const FEATURES: usize = MAX_CHOSEN + MAX_PHRASES + MAX_PAIRS;

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Occurrence {
    pub(super) package: u64,
    pub(super) part: u8,
    /// The place in the part, counted in terms; `None` if only the package is known.
    pub(super) place: Option<u32>,
    /// The place of the term among the chosen ones.
    pub(super) term: u8,
}

impl Occurrence {
    /// An occurrence of which only the package is known.
    pub(super) fn somewhere(package: u64, term: u8) -> Self {
        Self { package, part: BODY, place: None, term }
    }

    /// An occurrence of another term at the same place.
    pub(super) fn of(self, term: u8) -> Self {
        Self { term, ..self }
    }
}

/// What the scores of a package depend on besides the package itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Collection {
    pub(super) packages: u64,
    pub(super) average: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranked {
    pub(super) package: u64,
    /// More is better.
    pub(super) score: f64,
    /// One bit per term that the package has.
    pub(super) matched: u32,
}

/// Ranks the packages in which the terms occur, best first. Of equal ones, the latest deposit comes
/// first. `lengths` returns the number of terms in each part of a package.
pub(super) fn rank(
    choice: &ChosenTerms,
    asked: &QueryTerms,
    collection: Collection,
    mut found: Vec<Occurrence>,
    lengths: impl Fn(u64) -> [u64; PARTS],
) -> Vec<Ranked> {
    found.sort_unstable();
    let phrases = Phrases::new(choice, asked);
    phrases.find(&mut found);
    let texts = by_package(&found).map(|found| Text { found, lengths: lengths(found[0].package) });
    let texts: Vec<Text<'_>> = texts.collect();
    let scorer = Scorer::new(&weights(choice, &phrases), collection, &texts);
    let mut whole = Vec::with_capacity(texts.len());
    let mut passages = Vec::with_capacity(texts.len());
    let mut ranked = Vec::with_capacity(texts.len());
    for text in &texts {
        whole.push(scorer.whole(*text, collection.average));
        passages.push(scorer.best_passage(*text));
        let terms = text.found.iter().filter(|found| usize::from(found.term) < choice.terms.len());
        let matched = terms.fold(0, |matched, found| matched | 1 << found.term);
        ranked.push(Ranked { package: text.found[0].package, score: 0.0, matched });
    }
    let highest = |scores: &[f64]| scores.iter().copied().fold(0.0, f64::max);
    let (most, best) = (highest(&whole), highest(&passages));
    let by_passage = collection.average / (collection.average + EVEN);
    for (place, package) in ranked.iter_mut().enumerate() {
        let passage = if best > 0.0 { passages[place] / best } else { 0.0 };
        package.score = by_passage * passage * most + (1.0 - by_passage) * whole[place];
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.package.cmp(&a.package)));
    ranked
}

/// How much each term, phrase and pair counts, besides how rare it is.
fn weights(choice: &ChosenTerms, phrases: &Phrases) -> Vec<f64> {
    let repeated = |times: f64| times * (ASKED_SATURATION + 1.0) / (times + ASKED_SATURATION);
    let terms = choice.terms.iter().map(|(term, _)| repeated(f64::from(term.times)));
    let mut weights: Vec<f64> = terms.collect();
    weights.resize(phrases.first_pair(), 1.0);
    weights.resize(phrases.features(), PAIR_WEIGHT);
    weights
}

#[derive(Clone, Copy)]
struct Text<'a> {
    /// The occurrences in it, in order.
    found: &'a [Occurrence],
    lengths: [u64; PARTS],
}

impl Text<'_> {
    fn length(&self) -> f64 {
        self.lengths.iter().sum::<u64>() as f64
    }

    /// Counts in how many packages and passages, which do not overlap, each feature occurs.
    fn count(&self, packages: &mut [u64; FEATURES], passages: &mut [u64; FEATURES]) {
        let mut last = [None; FEATURES];
        let begin = self.found.iter().filter(|found| found.part == TITLE || found.place.is_none());
        let begin = begin.map(|found| (0, usize::from(found.term)));
        for (place, term) in begin.chain(self.places()) {
            let passage = Some(place / PASSAGE);
            packages[term] += u64::from(last[term].is_none());
            passages[term] += u64::from(last[term] != passage);
            last[term] = passage;
        }
    }

    /// How often each term occurs in the title.
    fn title(&self) -> [f64; FEATURES] {
        let mut amounts = [0.0; FEATURES];
        for found in self.found.iter().filter(|found| found.part == TITLE) {
            amounts[usize::from(found.term)] += TITLE_WEIGHT;
        }
        amounts
    }

    /// Where terms occur behind the title.
    fn places(&self) -> Vec<(u64, usize)> {
        let mut starts = [0; PARTS];
        for part in usize::from(TITLE) + 1..PARTS - 1 {
            starts[part + 1] = starts[part] + self.lengths[part];
        }
        let behind = self.found.iter().filter(|found| found.part != TITLE);
        let places = behind.filter_map(|found| {
            let place = starts[usize::from(found.part)] + u64::from(found.place?);
            Some((place, usize::from(found.term)))
        });
        places.collect()
    }
}

/// Scores texts by BM25.
struct Scorer {
    /// How much each term, phrase and pair weighs by how rare it is among packages.
    in_packages: Vec<f64>,
    /// The same by how rare it is among passages.
    in_passages: Vec<f64>,
}

impl Scorer {
    /// Weighs the terms, phrases and pairs by the packages in which they occur.
    fn new(weights: &[f64], collection: Collection, texts: &[Text<'_>]) -> Self {
        let (mut packages, mut passages) = ([0; FEATURES], [0; FEATURES]);
        for text in texts {
            text.count(&mut packages, &mut passages);
        }
        let all = collection.packages as f64;
        // The number of passages is known only on average.
        let pieces = all * (collection.average / PASSAGE as f64).max(1.0);
        let rarities = |counts: &[u64; FEATURES], all: f64| {
            let counted = weights.iter().zip(counts);
            counted.map(|(weight, with)| weight * rarity(all, *with)).collect()
        };
        Self { in_packages: rarities(&packages, all), in_passages: rarities(&passages, pieces) }
    }

    fn whole(&self, text: Text<'_>, average: f64) -> f64 {
        let mut amounts = [0.0; FEATURES];
        for found in text.found {
            let weight = if found.part == TITLE { TITLE_WEIGHT } else { 1.0 };
            amounts[usize::from(found.term)] += weight;
        }
        sum(&amounts, &self.in_packages, text.length() / average)
    }

    fn best_passage(&self, text: Text<'_>) -> f64 {
        let length = (text.length() / PASSAGE as f64).min(1.0);
        let mut amounts = text.title();
        let mut best = sum(&amounts, &self.in_passages, length);
        let places = text.places();
        let mut end = 0;
        for (start, first) in &places {
            while let Some((place, term)) = places.get(end)
                && place - start < PASSAGE
            {
                amounts[*term] += 1.0;
                end += 1;
            }
            best = best.max(sum(&amounts, &self.in_passages, length));
            amounts[*first] -= 1.0;
        }
        best
    }
}

/// BM25 of a text with so many of these terms. Its length is relative to the average.
fn sum(amounts: &[f64; FEATURES], rarities: &[f64], length: f64) -> f64 {
    let limit = SATURATION * (1.0 - LENGTH + LENGTH * length);
    let terms = rarities.iter().zip(amounts).filter(|(_, amount)| **amount > 0.0);
    terms.map(|(rarity, amount)| rarity * amount * (SATURATION + 1.0) / (amount + limit)).sum()
}

/// The occurrences of each package. They are in order.
pub(super) fn by_package(found: &[Occurrence]) -> impl Iterator<Item = &[Occurrence]> {
    found.chunk_by(|one, other| one.package == other.package)
}

/// The inverse document frequency of a term that `with` of `texts` texts contain.
fn rarity(texts: f64, with: u64) -> f64 {
    let with = with as f64;
    // The added 1 keeps the weight of a common term above zero.
    (1.0 + (texts.max(with) - with + 0.5) / (with + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::for_query;

    /// Ranks packages, given as the text of their body; all terms of the query count as rare.
    fn ranked(query: &str, bodies: &[&str]) -> Vec<Ranked> {
        let asked = for_query(query);
        let texts: Vec<Vec<&str>> = bodies.iter().map(|body| body.split(' ').collect()).collect();
        let terms = asked.terms.iter().map(|term| (term.clone(), 1)).collect();
        let choice = ChosenTerms { terms, ranked: true, left_out: Vec::new() };
        let mut found = Vec::new();
        for (package, text) in texts.iter().enumerate() {
            for (place, word) in text.iter().enumerate() {
                let term = choice.terms.iter().position(|(term, _)| term.term == *word);
                found.extend(term.map(|term| Occurrence {
                    package: package as u64,
                    part: BODY,
                    place: Some(place as u32),
                    term: term as u8,
                }));
            }
        }
        let lengths = |package: u64| [0, 0, 0, 0, texts[package as usize].len() as u64];
        let collection = Collection { packages: bodies.len() as u64, average: 2.0 };
        rank(&choice, &asked, collection, found, lengths)
    }

    fn order(ranked: &[Ranked]) -> Vec<u64> {
        ranked.iter().map(|found| found.package).collect()
    }

    #[test]
    fn one_package_of_average_length_has_the_rarity_of_its_term_as_score() {
        let found = ranked("queue", &["queue straw"]);
        // The whole package has its rarity, ln(4/3), and so has the share of its best passage.
        assert!((found[0].score - (4.0_f64 / 3.0).ln()).abs() < 1e-12, "{found:?}");
        assert_eq!(found[0].matched, 1);
        assert_eq!(ranked("needle", &["straw"]), []);
    }

    #[test]
    fn terms_in_one_passage_count_more_than_terms_far_apart() {
        let straw = "straw ".repeat(100);
        let (near, far) = (format!("{straw}queue lock"), format!("queue {straw}lock"));
        assert_eq!(order(&ranked("lock queue", &[&near, &far])), [0, 1]);
        assert_eq!(order(&ranked("lock queue", &[&far, &near])), [1, 0]);
        // Within a passage the distance does not count. The later package is first.
        let straw = "straw ".repeat(48);
        let (near, far) = (format!("{straw}queue lock"), format!("queue {straw}lock"));
        assert_eq!(order(&ranked("lock queue", &[&near, &far])), [1, 0]);
    }

    #[test]
    fn joined_words_count_as_one_more_term_where_they_are_joined() {
        let texts = ["a b c straw", "a c b straw", "c straw a b"];
        let found = ranked("a/b/c", &texts);
        assert_eq!(order(&found)[0], 0);
        assert!(found[0].score > 1.3 * found[1].score, "{found:?}");
        let apart = ranked("a b c", &texts);
        assert!(apart[0].score < found[0].score, "{apart:?}");
    }

    #[test]
    fn neighbours_of_the_query_count_where_they_are_close_together() {
        let straw = "straw ".repeat(9);
        let texts = [format!("lock {straw}straw queue"), format!("{straw}lock straw queue")];
        let texts = texts.each_ref().map(String::as_str);
        assert_eq!(order(&ranked("lock of the queue", &texts)), [1, 0]);
        let scores = |query| ranked(query, &texts).iter().map(|it| it.score).collect::<Vec<_>>();
        let far = scores("lock is it of the queue");
        assert!((far[0] - far[1]).abs() < 1e-12, "{far:?}");
        // In the other order they are no neighbours.
        let turned = scores("queue lock");
        assert!((turned[0] - turned[1]).abs() < 1e-12, "{turned:?}");
    }

    #[test]
    fn a_term_that_is_asked_for_twice_counts_more() {
        let texts = ["lock straw", "queue straw"];
        assert_eq!(order(&ranked("queue lock", &texts)), [1, 0], "the later one");
        assert_eq!(order(&ranked("queue lock or lock", &texts)), [0, 1]);
    }

    #[test]
    fn a_name_and_its_parts_side_by_side_are_the_same() {
        let texts = ["open file straw", "openfil straw straw", "file straw open"];
        let found = ranked("open_file", &texts);
        assert_eq!(order(&found)[2], 2);
        assert!((found[0].score - found[1].score).abs() < 1e-12, "{found:?}");
        assert!(found[1].score > 1.3 * found[2].score, "{found:?}");
        assert_eq!(found[0].matched, found[1].matched);
    }

    #[test]
    fn an_occurrence_without_a_place_counts_for_the_package_alone() {
        let asked = for_query("a");
        let terms = vec![(asked.terms[0].clone(), 2)];
        let choice = ChosenTerms { terms, ranked: true, left_out: vec![] };
        let collection = Collection { packages: 9, average: 10.0 };
        let lengths = |package| [0, 0, 0, 0, 10 + package];
        let found = rank(
            &choice,
            &asked,
            collection,
            [2, 1].map(|at| Occurrence::somewhere(at, 0)).to_vec(),
            lengths,
        );
        assert_eq!(order(&found), [1, 2], "the shorter one first");
        assert!(found[0].score > 0.0);
    }
}
