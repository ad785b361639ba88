//! Phrases, names and pairs of a query: terms that stand side by side, or close together, in a
//! package.

use super::rank::by_package;
use super::{ChosenTerms, Occurrence};
use crate::terms::{Phrase, QueryTerms};

/// The most phrases of a query. Further ones are only terms.
pub(super) const MAX_PHRASES: usize = 8;

/// The most pairs of a query. Further ones are only terms.
pub(super) const MAX_PAIRS: usize = 24;

/// How far the second term of a pair is behind the first, at most.
const NEAR: u32 = 3;

/// Terms, as their places among the chosen ones, with their distances.
type Side = Vec<(u8, u32)>;

/// The phrases of a query, as the chosen terms that they consist of.
pub(super) struct Phrases {
    /// The number of the first phrase. Those before it are the terms.
    first: usize,
    phrases: Vec<Side>,
    /// The names: the term of the whole, and the parts.
    names: Vec<(u8, Side)>,
    /// The pairs, numbered after the phrases.
    pairs: Vec<(u8, u8)>,
}

impl Phrases {
    /// Terms that are not looked up are left out of a phrase and of a name.
    pub(super) fn new(choice: &ChosenTerms, asked: &QueryTerms) -> Self {
        let place_of = |term: &str| {
            let place = choice.terms.iter().position(|(chosen, _)| chosen.term == term);
            place.and_then(|place| u8::try_from(place).ok())
        };
        let chosen = |phrase: &Phrase| -> Side {
            let terms = phrase.iter();
            terms.filter_map(|(term, place)| Some((place_of(term)?, *place))).collect()
        };
        let usable = asked.phrases.iter().map(chosen).filter(|phrase| phrase.len() > 1);
        let phrases = usable.take(MAX_PHRASES).collect();
        let names = asked.names.iter();
        let names = names.filter_map(|name| Some((place_of(&name.whole)?, chosen(&name.parts))));
        let pairs = asked.pairs.iter();
        let pairs = pairs.filter_map(|(one, other)| place_of(one).zip(place_of(other)));
        let pairs = pairs.take(MAX_PAIRS).collect();
        Self { first: choice.terms.len(), phrases, names: names.collect(), pairs }
    }

    /// The number of terms, phrases and pairs.
    pub(super) fn features(&self) -> usize {
        self.first_pair() + self.pairs.len()
    }

    /// The number of the first pair.
    pub(super) fn first_pair(&self) -> usize {
        self.first + self.phrases.len()
    }

    /// Adds the occurrences of the phrases, numbered after the terms, and those of names and their
    /// parts that follow from others. `found` stays in order.
    pub(super) fn find(&self, found: &mut Vec<Occurrence>) {
        let mut more = Vec::new();
        for (phrase, number) in self.phrases.iter().zip(self.first..) {
            more.extend(side_by_side(found, phrase).map(|at| at.of(number as u8)));
        }
        for (whole, parts) in self.names.iter().filter(|(_, parts)| parts.len() > 1) {
            let names = side_by_side(found, parts).map(|at| at.of(*whole));
            more.extend(names.filter(|name| found.binary_search(name).is_err()));
        }
        if !self.names.is_empty() {
            by_package(found).for_each(|package| self.add_parts(package, &mut more));
        }
        by_package(found).for_each(|package| self.add_pairs(package, &mut more));
        if !more.is_empty() {
            found.append(&mut more);
            found.sort_unstable();
        }
    }

    /// Adds the pairs of a package: one occurrence for each of the second term, at its place.
    fn add_pairs(&self, package: &[Occurrence], more: &mut Vec<Occurrence>) {
        // Where the first term of each pair was last, as its part and its place.
        let mut last = [None; MAX_PAIRS];
        for found in package {
            let Some(place) = found.place else { continue };
            for ((number, (first, second)), last) in
                (self.first_pair()..).zip(&self.pairs).zip(&mut last)
            {
                let is_near =
                    |(part, before): (u8, u32)| part == found.part && place - before <= NEAR;
                if *second == found.term && last.is_some_and(is_near) {
                    more.push(found.of(number as u8));
                }
                if *first == found.term {
                    *last = Some((found.part, place));
                }
            }
        }
    }

    /// Adds the parts that a package lacks of a name that it has.
    fn add_parts(&self, package: &[Occurrence], more: &mut Vec<Occurrence>) {
        for (whole, parts) in &self.names {
            let names = || package.iter().filter(|found| found.term == *whole);
            if names().next().is_none() {
                continue;
            }
            for (part, _) in parts {
                if !package.iter().any(|found| found.term == *part) {
                    more.extend(names().map(|name| name.of(*part)));
                }
            }
        }
    }
}

/// Where the terms of a phrase are side by side, as the occurrences of the first. `found` is in
/// order.
fn side_by_side<'f>(
    found: &'f [Occurrence],
    phrase: &'f [(u8, u32)],
) -> impl Iterator<Item = Occurrence> + 'f {
    let (first, start) = phrase[0];
    let begins = found.iter().copied().filter(move |found| found.term == first);
    begins.filter(move |begin| {
        let Some(place) = begin.place else { return false };
        phrase[1..].iter().all(|(term, at)| {
            let place = Some(place + at - start);
            found.binary_search(&Occurrence { place, term: *term, ..*begin }).is_ok()
        })
    })
}
