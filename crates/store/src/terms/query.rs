//! The terms of a query.
//!
//! Function words of a question (`what`, `did`, `the`) are not looked up, unless there is nothing
//! else. Words for relations (`before`, `not`) are looked up in short queries only. A part of an
//! identifier is never such a word: `is_ready`, `to-do`. Neither is a word in capitals in a query
//! that has small letters, too: `IT policy`.
//!
//! A name (`parseHttpHeader`, `retry_backoff`, `2.4.1`) is looked up by its parts and as a whole. A
//! package that has the parts side by side has the whole, and one that has the whole has its parts.
//!
//! Other words that the query joins without a space (`retry_backoff.rs`, `日本語`) are also a
//! phrase: a package that has them side by side ranks higher. Neighbouring words are a pair: a
//! package that has them close together ranks somewhat higher.

use super::function_words::{is_function_word, is_relation};
use super::names::{self, Names, Part};
use super::{Word, fold, parts, term, words};

/// The most words of a query that may be names together, and of such a name.
const GUESSED: (usize, usize) = (6, 4);

/// The most words between two words of a pair. Function words are such words.
const BETWEEN: usize = 2;

/// The most words of a query in which words such as `before` and `not` are looked up.
const SHORT: usize = 12;

/// The most terms of a query. Further ones are left out. Not all of them need be looked up.
pub const MAX_QUERY_TERMS: usize = 64;

/// The terms of a query.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct QueryTerms {
    /// The terms, each once, in order.
    pub terms: Vec<QueryTerm>,
    /// The phrases, in order.
    pub phrases: Vec<Phrase>,
    /// The names, in order.
    pub names: Vec<Name>,
    /// Neighbouring words: the term of the last part of one, and of the first part of the next.
    pub pairs: Vec<(String, String)>,
    /// Names that words of a short query may be, which are looked up if a package has them: `read
    /// only` may be `readonly`.
    pub guesses: Vec<Name>,
    /// The words beyond the limit.
    pub too_many: Vec<String>,
}

/// A word of a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QueryTerm {
    /// The term to look up.
    pub term: String,
    /// The word as it is in the query.
    pub word: String,
    /// Whether it is a part of a name.
    pub is_part: bool,
    /// How often the query has it.
    pub times: u32,
}

/// Terms side by side, each with its distance from the start of the phrase in terms of the index.
pub type Phrase = Vec<(String, u32)>;

/// A name of a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Name {
    /// The term of the whole name.
    pub whole: String,
    /// Its parts that are looked up.
    pub parts: Phrase,
}

/// The terms of a query.
pub fn for_query(text: &str) -> QueryTerms {
    let is_short = pieces(text).count() <= SHORT;
    let with_function_words = |kept: bool| {
        let mut query = QueryTerms::default();
        let mut last: Option<(usize, String)> = None;
        for (place, joined) in pieces(text).enumerate() {
            if !kept && is_dropped(joined, text, is_short) {
                continue;
            }
            let Some((first, end)) = query.add(joined) else { continue };
            let near = last.filter(|(before, _)| place - before <= BETWEEN + 1);
            query.add_pair(near.map(|(_, term)| term), first);
            last = Some((place, end));
        }
        query
    };
    let mut query = with_function_words(false);
    if query.terms.is_empty() {
        query = with_function_words(true);
    }
    query.guesses = query.guess(text);
    query
}

/// The pieces of a text between spaces and apostrophes.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || matches!(c, '\'' | '\u{2019}');
    text.split(is_between).filter(|piece| !piece.is_empty())
}

/// Whether a piece of a query is a function word and nothing else.
fn is_dropped(piece: &str, query: &str, is_short: bool) -> bool {
    let mut words = words(piece);
    let (Some(word), None) = (words.next(), words.next()) else { return false };
    let is_name = word.text.chars().count() > 1
        && !word.text.contains(char::is_lowercase)
        && query.contains(char::is_lowercase);
    let mut folded = String::new();
    fold::fold(word.text, super::MAX_TERM_CHARS, &mut folded);
    !is_name && (is_function_word(&folded) || (!is_short && is_relation(&folded)))
}

impl QueryTerms {
    /// Adds the words of a piece, its names, and the phrase that it is. Returns the terms of its
    /// first and its last part.
    fn add<'p>(&mut self, piece: &'p str) -> Option<(String, String)> {
        let mut phrase = Phrase::new();
        let mut place = 0;
        let (mut names, mut split) = (Names::default(), Vec::new());
        let mut wholes: Vec<(String, Vec<Part<'p>>)> = Vec::new();
        let mut found = |name: &str, parts: &[Part<'p>]| {
            wholes.push((name.to_owned(), parts.to_vec()));
        };
        for word in words(piece) {
            if word.dense {
                names.end(&mut found);
                place += self.add_dense(&word, place, &mut phrase);
                continue;
            }
            split.clear();
            parts::split(word.text, &mut split);
            names.add(&word, &split, place, &mut found);
            for part in &split {
                // A letter that a word begins with, such as that of `v2`, matches too much.
                if split.len() == 1 || names::is_number(part) || part.chars().count() > 1 {
                    self.add_part(part, place, &mut phrase);
                }
                place += 1;
            }
            if let Some(beginning) = names::looked_up(word.text) {
                self.add_term(beginning, word.text);
            }
        }
        names.end(&mut found);
        let is_one_name = wholes.iter().any(|(_, parts)| parts.len() as u32 == place);
        for (whole, parts) in wholes {
            self.add_name(&whole, &parts, piece);
        }
        let ends = phrase.first().zip(phrase.last());
        let ends = ends.map(|((first, _), (last, _))| (first.clone(), last.clone()));
        let all_looked_up = |(term, _): &(String, u32)| self.has(term);
        if phrase.len() > 1
            && !is_one_name
            && phrase.iter().all(all_looked_up)
            && !self.phrases.contains(&phrase)
        {
            self.phrases.push(phrase);
        }
        ends
    }

    /// Adds a pair, if both are looked up.
    fn add_pair(&mut self, first: Option<String>, second: String) {
        let pair = first.map(|first| (first, second));
        let is_new = |(first, second): &(String, String)| {
            first != second && self.has(first) && self.has(second)
        };
        if let Some(pair) = pair.filter(is_new)
            && !self.pairs.contains(&pair)
        {
            self.pairs.push(pair);
        }
    }

    /// Adds a word of a script without spaces that begins at a place of its piece. Returns how many
    /// terms of the index it is.
    fn add_dense(&mut self, word: &Word<'_>, place: u32, phrase: &mut Phrase) -> u32 {
        let starts: Vec<usize> = word.text.char_indices().map(|(start, _)| start).collect();
        // A single character matches too much, so it is looked up only if it is the whole word.
        if starts.len() == 1 {
            self.add_part(word.text, place, phrase);
            return 1;
        }
        // In the index a pair follows its second character.
        let mut pair = place;
        for (index, start) in starts.iter().enumerate().take(starts.len() - 1) {
            let end = starts.get(index + 2).copied().unwrap_or(word.text.len());
            pair += 2;
            self.add_part(&word.text[*start..end], pair, phrase);
        }
        pair - place + 1
    }

    /// Adds a name of a piece.
    fn add_name(&mut self, whole: &str, parts: &[Part<'_>], piece: &str) {
        let whole = self.add_term(whole, written(parts, piece));
        let mut scratch = String::new();
        let parts = parts.iter().map(|(part, at)| (term(part, &mut scratch).to_owned(), *at));
        let parts: Phrase = parts.filter(|(part, _)| self.has(part)).collect();
        for known in &mut self.terms {
            known.is_part |= parts.iter().any(|(part, _)| *part == known.term);
        }
        let name = Name { whole, parts };
        if self.has(&name.whole) && !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    fn add_part(&mut self, word: &str, place: u32, phrase: &mut Phrase) {
        let term = self.add_term(word, word);
        phrase.push((term, place));
    }

    /// Adds the term of a text, which stands for a word of the query. Returns the term.
    fn add_term(&mut self, text: &str, word: &str) -> String {
        let mut scratch = String::new();
        let term = term(text, &mut scratch).to_owned();
        if let Some(known) = self.terms.iter_mut().find(|known| known.term == term) {
            known.times += 1;
            return term;
        }
        if self.terms.len() < MAX_QUERY_TERMS {
            let word = word.to_owned();
            self.terms.push(QueryTerm { term: term.clone(), word, is_part: false, times: 1 });
        } else if self.too_many.len() < MAX_QUERY_TERMS
            && !self.too_many.iter().any(|known| known == word)
        {
            self.too_many.push(word.to_owned());
        }
        term
    }

    /// The names that neighbouring words of a short query may be.
    fn guess(&self, text: &str) -> Vec<Name> {
        let words: Vec<&str> = pieces(text).collect();
        let is_plain = |piece: &&str| piece.chars().all(char::is_alphabetic);
        if words.len() > GUESSED.0 || !words.iter().all(is_plain) {
            return Vec::new();
        }
        let mut scratch = String::new();
        let mut guesses = Vec::new();
        for length in 2..=GUESSED.1 {
            for run in words.windows(length) {
                let parts = run.iter().map(|part| term(part, &mut scratch).to_owned());
                let parts: Phrase = parts.zip(0..).collect();
                if parts.iter().all(|(part, _)| self.has(part)) {
                    let whole = term(&run.concat(), &mut scratch).to_owned();
                    guesses.push(Name { whole, parts });
                }
            }
        }
        guesses
    }

    fn has(&self, term: &str) -> bool {
        self.terms.iter().any(|known| known.term == term)
    }
}

/// A name as it is written in a piece, from its first part to its last.
fn written<'p>(parts: &[Part<'p>], piece: &'p str) -> &'p str {
    let place = |part: &str| part.as_ptr().addr() - piece.as_ptr().addr();
    let bounds = parts.first().zip(parts.last());
    bounds.map_or(piece, |((first, _), (last, _))| &piece[place(first)..place(last) + last.len()])
}

#[cfg(test)]
mod tests {
    use super::super::for_index;
    use super::*;

    fn asked(text: &str) -> Vec<String> {
        for_query(text).terms.into_iter().map(|term| term.word).collect()
    }

    #[test]
    fn function_words_are_dropped_while_others_remain() {
        assert_eq!(asked("What did we decide about the queue?"), ["decide", "queue"]);
        assert_eq!(asked("Why isn't the agent's lease renewed"), ["agent", "lease", "renewed"]);
        assert_eq!(asked("who is it"), ["who", "is", "it"]);
        // In a short query, relations count.
        assert_eq!(asked("was it slow before?"), ["slow", "before"]);
        let long = "which of the queues did we find to be slow before the new lock was in it";
        assert_eq!(asked(long), ["queues", "find", "slow", "new", "lock"]);
        assert_eq!(asked("?!"), [""; 0]);
    }

    #[test]
    fn names_are_not_function_words() {
        assert_eq!(asked("is_ready to-do and"), ["is", "ready", "is_ready", "to", "do", "to-do"]);
        assert_eq!(asked("IT policy, CAN bus, it"), ["IT", "policy", "CAN", "bus"]);
        assert_eq!(asked("WHAT IS A QUEUE"), ["QUEUE"]);
    }

    #[test]
    fn joined_words_are_phrases_at_their_places_in_the_index() {
        for text in ["retry_backoff.rs", "日本語v2", "src/日本/a-b", "x/v2.4.1"] {
            let mut indexed = Vec::new();
            for_index(text, |term| indexed.push(term.to_owned()));
            let query = for_query(text);
            let [phrase] = &query.phrases[..] else { panic!("one phrase in {text}") };
            let names = query.names.iter().flat_map(|name| &name.parts);
            for (term, place) in phrase.iter().chain(names) {
                assert_eq!(indexed[*place as usize], *term, "{text}");
            }
        }
        assert_eq!(for_query("two words").phrases, [[]; 0]);
        assert_eq!(for_query("a.b a.b").phrases.len(), 1);
    }

    #[test]
    fn a_name_is_looked_up_whole_and_by_its_parts() {
        let query = for_query("src/parseHttpHeader fails");
        let [name] = &query.names[..] else { panic!("one name") };
        assert_eq!(name.whole, "parsehttphead");
        let parts: Vec<_> = name.parts.iter().map(|(part, at)| (part.as_str(), *at)).collect();
        assert_eq!(parts, [("pars", 1), ("http", 2), ("header", 3)]);
        assert_eq!(
            asked("src/parseHttpHeader fails"),
            ["src", "parse", "Http", "Header", "parseHttpHeader", "fails"]
        );
        let parts: Vec<bool> = query.terms.iter().map(|term| term.is_part).collect();
        assert_eq!(parts, [false, true, true, true, false, false]);
        // The phrase says nothing more than the name.
        assert_eq!(for_query("retry_backoff").phrases, [[]; 0]);
        assert_eq!(for_query("retry_backoff").names.len(), 1);
        // A letter alone is not looked up.
        assert_eq!(asked("X0382 v2"), ["0382", "X0382", "2", "v2"]);
    }

    #[test]
    fn neighbours_are_pairs_and_words_count_as_often_as_they_are_asked_for() {
        let query = for_query("Which lock does the queue of the lock hold, queue or src/parse_it?");
        let pairs: Vec<_> = query.pairs.iter().map(|(a, b)| format!("{a} {b}")).collect();
        // More than two words between `queue` and the second `lock` would be too many.
        assert_eq!(pairs, ["lock queue", "queue lock", "lock hold", "hold queue", "queue src"]);
        let times = |term: &str| query.terms.iter().find(|it| it.term == term).unwrap().times;
        assert_eq!((times("lock"), times("queue"), times("hold")), (2, 2, 1));
        assert_eq!(for_query("lock is it of queue").pairs, []);
    }

    #[test]
    fn words_of_a_short_query_may_be_names() {
        let guesses = |text: &str| -> Vec<String> {
            for_query(text).guesses.into_iter().map(|name| name.whole).collect()
        };
        assert_eq!(guesses("parse http header"), ["parsehttp", "httpheader", "parsehttphead"]);
        assert_eq!(guesses("is the header long"), ["headerlong"]);
        assert_eq!(guesses("read v2"), [""; 0]);
        assert_eq!(guesses("one two three four five six seven"), [""; 0]);
    }

    #[test]
    fn long_queries_count_by_their_beginning() {
        let letters = || 'a'..='z';
        let words = letters().flat_map(|one| letters().map(move |two| format!("z{one}{two}q")));
        let many: Vec<String> = words.take(MAX_QUERY_TERMS + 3).collect();
        let query = for_query(&many.join(" "));
        assert_eq!(query.terms.len(), MAX_QUERY_TERMS);
        assert_eq!(query.too_many, many[MAX_QUERY_TERMS..]);
        // A phrase that cannot be looked up whole is none.
        assert_eq!(for_query(&many.join("/")).phrases, [[]; 0]);
    }
}
