//! Words that may be misspelt.
//!
//! The terms of an index have no endings, and the ending of a misspelt word is not known. So a word
//! is compared as a term and an ending, for every place where the ending may begin.

use super::{MAX_TERM_CHARS, fold};

/// A word that no package has, as a misspelling of another one.
#[derive(Clone, Debug)]
pub(crate) struct Misspelling {
    word: Vec<char>,
    /// For every place, how many letters are wrong if an ending begins there; `None` if none does.
    endings: Vec<Option<usize>>,
    /// How many letters may be wrong.
    most: usize,
    /// Whether the first letter may be.
    any_first: bool,
    /// The shortest term that it may stand for, in letters.
    shortest: usize,
}

/// The shortest word that may be misspelt: where nothing at all is found, and elsewhere.
const SHORTEST_WORD: (usize, usize) = (5, 6);

/// The shortest term that it may stand for.
const SHORTEST_TERM: (usize, usize) = (4, 5);

/// From this length on, two letters may be wrong where nothing at all is found.
const LONG: usize = 8;

/// Endings of English words that terms lack.
const ENDINGS: [&str; 48] = [
    "", "s", "es", "ed", "ing", "e", "y", "ly", "er", "ers", "or", "ors", "ion", "ions", "ation",
    "ations", "ator", "ating", "ated", "ates", "ate", "ational", "ization", "izing", "ized", "ize",
    "izer", "ment", "ments", "al", "ally", "ity", "ities", "ive", "able", "ible", "ability",
    "ance", "ence", "ency", "ness", "ful", "ous", "ication", "icate", "ical", "ies", "ied",
];

impl Misspelling {
    /// A word of a query as a misspelling. `alone` says that the query finds nothing.
    pub(crate) fn of(word: &str, alone: bool) -> Option<Self> {
        let choose = |(here, elsewhere): (usize, usize)| if alone { here } else { elsewhere };
        let mut folded = String::new();
        fold::fold(word, MAX_TERM_CHARS, &mut folded);
        let word: Vec<char> = folded.chars().collect();
        let is_word = word.len() >= choose(SHORTEST_WORD) && word.iter().all(|c| c.is_alphabetic());
        if !is_word {
            return None;
        }
        let most = if alone && word.len() >= LONG { 2 } else { 1 };
        let wrong = |start: usize| {
            let rest = &word[start..];
            let endings = ENDINGS.iter().map(|ending| ending.chars().collect::<Vec<_>>());
            endings.filter_map(|ending| distance(rest, &ending, most)).min()
        };
        let endings = (0..=word.len()).map(wrong).collect();
        Some(Self { word, endings, most, any_first: alone, shortest: choose(SHORTEST_TERM) })
    }

    /// How all terms begin that it may stand for.
    pub(crate) fn beginning(&self) -> String {
        let count = if self.any_first { 0 } else { 1 };
        self.word.iter().take(count).collect()
    }

    /// How many letters are wrong if it stands for a term; `None` if too many are.
    pub(crate) fn wrong_for(&self, term: &str) -> Option<usize> {
        // A letter has at most four bytes, and is at least one.
        if term.len() < self.shortest || term.len() > 4 * (self.word.len() + self.most) {
            return None;
        }
        let term: Vec<char> = term.chars().collect();
        if term.len() < self.shortest || !term.iter().all(|letter| letter.is_alphabetic()) {
            return None;
        }
        let through = (term.len() + self.most).min(self.word.len());
        let starts = term.len().saturating_sub(self.most)..=through;
        let wrong = starts.filter_map(|start| {
            let ending = self.endings.get(start).copied().flatten()?;
            Some(ending + distance(&self.word[..start], &term, self.most - ending)?)
        });
        wrong.min()
    }
}

/// How many letters must be inserted, removed, replaced or swapped with their neighbour to get from
/// one text to the other; `None` if more than `most`.
fn distance(one: &[char], other: &[char], most: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let width = other.len() + 1;
    let mut before = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1; width];
        for (column, found) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != found);
            let mut least = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let is_swapped =
                row > 0 && column > 0 && one[row - 1] == *found && other[column - 1] == *letter;
            if is_swapped {
                least = least.min(before[column - 1] + 1);
            }
            next[column + 1] = least;
        }
        if next.iter().all(|wrong| *wrong > most) {
            return None;
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().filter(|wrong| *wrong <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_inserted_removed_replaced_and_swapped() {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        let between = |one, other| distance(&letters(one), &letters(other), 2);
        for (one, other, wrong) in [
            ("connect", "conect", 1),
            ("connect", "connnect", 1),
            ("connect", "cannect", 1),
            ("connect", "conenct", 1),
            ("connect", "connect", 0),
            ("migrat", "migartt", 2),
            ("größe", "grösse", 2),
        ] {
            assert_eq!(between(one, other), Some(wrong), "{one} {other}");
            assert_eq!(between(other, one), Some(wrong), "{other} {one}");
        }
        assert_eq!(between("queue", "lock"), None);
        assert_eq!(between("abcdef", "badcfe"), None);
    }

    #[test]
    fn a_word_stands_for_a_term_also_if_its_ending_is_misspelt() {
        let wrong = |word: &str, term: &str| Misspelling::of(word, true)?.wrong_for(term);
        for (word, term) in [
            ("configuraiton", "configur"),
            ("cpnnection", "connect"),
            ("authetnication", "authent"),
            ("migratoins", "migrat"),
            ("repositroy", "repositori"),
            ("dependancies", "depend"),
        ] {
            assert!(wrong(word, term).is_some_and(|wrong| wrong > 0), "{word} {term}");
        }
        assert_eq!(wrong("connector", "connect"), Some(0));
        assert_eq!(wrong("connection", "corrupt"), None);
    }

    #[test]
    fn short_words_and_numbers_are_not_misspelt() {
        assert!(Misspelling::of("lock", true).is_none());
        assert!(Misspelling::of("queue", false).is_none());
        assert!(Misspelling::of("v2beta1", true).is_none());
        let beside = Misspelling::of("conection", false).unwrap();
        assert_eq!((beside.beginning().as_str(), beside.wrong_for("connect")), ("c", Some(1)));
        assert_eq!(beside.wrong_for("conn"), None);
        assert_eq!(Misspelling::of("conection", true).unwrap().beginning(), "");
    }
}
