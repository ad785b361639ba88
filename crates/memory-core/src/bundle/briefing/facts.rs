//! The facts of a briefing, in the order of their use.
//!
//! A fact is used if a package speaks of it or a person asserted it. Among equals, the first fact
//! of each subject and of each predicate comes before the second, so that sixty metrics do not hide
//! five facts about production. Facts that change all the time come after those that do not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::rank::shape;
use super::rows::BriefingFact;
use crate::{ActorType, Fact, PackageId};

/// How many facts that differ only by numbers become one item.
const RUN: usize = 4;
/// From so many values on, a fact changes all the time.
const CHANGING: u64 = 12;

/// A fact, and how many similar ones it stands for.
#[derive(Clone, Copy)]
pub(super) struct FactLine<'a> {
    pub(super) fact: &'a Fact,
    pub(super) similar: u64,
}

/// What the packages of a briefing say.
pub(super) struct Spoken<'a> {
    /// Their texts, in small letters.
    pub(super) text: String,
    pub(super) packages: BTreeSet<&'a PackageId>,
}

impl Spoken<'_> {
    /// How much the packages use a fact.
    fn use_of(&self, fact: &Fact) -> usize {
        let is_of_person = fact.asserted_by.as_ref().is_some_and(|by| by.kind == ActorType::Human);
        let is_source =
            fact.source_package_id.as_ref().is_some_and(|id| self.packages.contains(id));
        let is_spoken = |text: &str| {
            let lower = text.to_lowercase();
            let mut words = lower.split_whitespace();
            // A short word such as "db" is in many others.
            self.text.contains(&lower)
                || words.any(|word| word.len() > 3 && self.text.contains(word))
        };
        usize::from(is_spoken(&fact.subject))
            + usize::from(is_source)
            + 2 * usize::from(is_of_person)
    }
}

/// The facts to show, of those that were given the newest first. `whole` shows each by itself.
pub(super) fn lines<'a>(
    facts: &[BriefingFact<'a>],
    spoken: &Spoken<'_>,
    whole: bool,
) -> Vec<FactLine<'a>> {
    let key = |fact: &Fact| (shape(&fact.subject), shape(&fact.predicate));
    let mut counts: BTreeMap<_, u64> = BTreeMap::new();
    for BriefingFact { fact, .. } in facts {
        *counts.entry(key(fact)).or_default() += 1;
    }
    let (mut lines, mut seen) = (Vec::new(), BTreeSet::new());
    for BriefingFact { fact, versions } in facts {
        let count = counts[&key(fact)];
        let is_run = !whole && count >= RUN as u64;
        if is_run && !seen.insert(key(fact)) {
            continue;
        }
        let similar = if is_run { count - 1 } else { 0 };
        lines.push((FactLine { fact, similar }, *versions >= CHANGING));
    }
    let (mut subjects, mut predicates) = (BTreeMap::new(), BTreeMap::new());
    lines.sort_by_cached_key(|(line, is_changing)| {
        let next = |counts: &mut BTreeMap<String, usize>, name: &str| {
            let count = counts.entry(shape(name)).or_default();
            *count += 1;
            *count
        };
        let place = next(&mut subjects, &line.fact.subject);
        let place = place.max(next(&mut predicates, &line.fact.predicate));
        let is_noise = *is_changing || line.similar > 0;
        (is_noise, Reverse(spoken.use_of(line.fact)), place)
    });
    lines.into_iter().map(|(line, _)| line).collect()
}
