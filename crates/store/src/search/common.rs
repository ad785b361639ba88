//! Which terms of a query are looked up, so that the cost of a search has a limit.

use crate::terms::QueryTerm;

/// The most terms that are looked up: the rarest ones, which say most.
pub(super) const MAX_CHOSEN: usize = 32;

/// Which terms are very common.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CommonTermLimits {
    /// A term in fewer packages than this is not.
    pub least: u64,
    /// A term in more packages than this is.
    pub most: u64,
    /// Between the two, a term in more than one of this many packages is.
    pub one_in: u64,
    /// The limit for the sum of the numbers of packages of all terms of a query.
    pub together: u64,
    /// The most occurrences that a query reads. A term beyond it counts once in each package.
    pub occurrences: u64,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct ChosenTerms {
    /// The terms in the order of the query, each with the number of packages that contain it.
    pub(super) terms: Vec<(QueryTerm, u64)>,
    /// Whether matches are ranked. If not, there is one term.
    pub(super) ranked: bool,
    pub(super) left_out: Vec<String>,
}

impl CommonTermLimits {
    /// The largest number of packages in which a term is not yet very common.
    pub(super) fn ceiling(&self, packages: u64) -> u64 {
        (packages / self.one_in.max(1)).clamp(self.least, self.most.max(self.least))
    }

    /// Chooses the terms to look up in a project with this many packages. Each term comes with the
    /// number of packages that contain it; above the ceiling that number need not be exact.
    pub(super) fn choose(&self, counted: Vec<(QueryTerm, u64)>, packages: u64) -> ChosenTerms {
        let ceiling = self.ceiling(packages);
        let mut by_rarity: Vec<usize> = (0..counted.len()).collect();
        // The counts of very common terms are not exact. Of those, a longer word is preferred.
        by_rarity.sort_by_key(|place| {
            let (term, with) = &counted[*place];
            let length = if *with > ceiling { term.term.chars().count() } else { 0 };
            ((*with).min(ceiling.saturating_add(1)), std::cmp::Reverse(length))
        });
        // A term that no package has does not take the place of another one.
        if by_rarity.len() > MAX_CHOSEN {
            let is_found = |place: &usize| counted[*place].1 > 0;
            by_rarity = by_rarity.into_iter().filter(is_found).take(MAX_CHOSEN).collect();
        }
        let rarest = by_rarity.first().copied();
        let ranked = rarest.is_none_or(|place| counted[place].1 <= ceiling);
        let mut together = 0;
        by_rarity.retain(|place| {
            let with = counted[*place].1;
            // Every later term is at least as common: once the sum is too large, it stays so.
            together += with;
            let first = Some(*place) == rarest;
            first || (ranked && with <= ceiling && together <= self.together)
        });
        let mut choice = ChosenTerms { ranked, ..ChosenTerms::default() };
        for (place, (term, with)) in counted.into_iter().enumerate() {
            if by_rarity.contains(&place) {
                choice.terms.push((term, with));
            } else if with > 0 && !term.is_part && !term.word.is_empty() {
                choice.left_out.push(term.word);
            }
        }
        choice
    }
}

impl ChosenTerms {
    /// The places of the terms, rarest first. In this order their occurrences are read.
    pub(super) fn rarest_first(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.terms.len()).collect();
        places.sort_by_key(|place| self.terms[*place].1);
        places
    }
}

impl Default for CommonTermLimits {
    fn default() -> Self {
        Self { least: 1_000, most: 10_000, one_in: 8, together: 15_000, occurrences: 60_000 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(counts: impl Iterator<Item = u64>) -> Vec<(QueryTerm, u64)> {
        let terms = counts.enumerate().map(|(number, with)| {
            let term = format!("t{number}");
            (QueryTerm { word: term.clone(), term, is_part: false, times: 1 }, with)
        });
        terms.collect()
    }

    #[test]
    fn of_many_terms_the_rarest_are_looked_up() {
        let many = MAX_CHOSEN as u64 + 2;
        // The first ones are the most common, and some are in no package.
        let counts = (0..many).map(|number| many - number).chain([0, 0, 0]);
        let choice = CommonTermLimits::default().choose(counted(counts), 1_000);
        let terms: Vec<&str> = choice.terms.iter().map(|(term, _)| term.term.as_str()).collect();
        let expected: Vec<String> = (2..many).map(|number| format!("t{number}")).collect();
        assert_eq!(terms, expected);
        assert_eq!(choice.left_out, ["t0", "t1"]);
    }
}
