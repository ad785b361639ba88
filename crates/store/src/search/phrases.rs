//! Phrases of a query: terms that stand side by side in a package.

use super::{ChosenTerms, Occurrence};
use crate::terms::Phrase;

/// The most phrases of a query. Further ones are only terms.
pub(super) const MAX_PHRASES: usize = 8;

/// The phrases of a query, as the chosen terms that they consist of.
pub(super) struct Phrases {
    /// The number of the first phrase. Those before it are the terms.
    first: usize,
    phrases: Vec<Vec<(u8, u32)>>,
}

impl Phrases {
    /// Terms that are not looked up are left out of a phrase.
    pub(super) fn new(choice: &ChosenTerms, phrases: &[Phrase]) -> Self {
        let place_of = |term: &str| {
            let place = choice.terms.iter().position(|(chosen, _)| chosen.term == term);
            place.and_then(|place| u8::try_from(place).ok())
        };
        let chosen = phrases.iter().map(|phrase| {
            let terms = phrase.iter();
            terms.filter_map(|(term, place)| Some((place_of(term)?, *place))).collect::<Vec<_>>()
        });
        let usable = chosen.filter(|phrase| phrase.len() > 1);
        let phrases = usable.take(MAX_PHRASES).collect();
        Self { first: choice.terms.len(), phrases }
    }

    pub(super) fn features(&self) -> usize {
        self.first + self.phrases.len()
    }

    /// Adds the occurrences of the phrases, numbered after the terms. `found` stays in order.
    pub(super) fn find(&self, found: &mut Vec<Occurrence>) {
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
}
