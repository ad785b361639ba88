//! The terms of a query.
//!
//! Function words of a question (`what`, `did`, `the`) are not looked up, unless there is nothing
//! else. A part of an identifier is never a function word: `is_ready`, `to-do`. Neither is a word
//! in capitals in a query that has small letters, too: `IT policy`.
//!
//! Words that the query joins without a space (`retry_backoff.rs`, `2.4.1`, `日本語`) are also a
//! phrase: a package that has them side by side ranks higher.

use super::function_words::is_function_word;
use super::{Word, fold, term, words};

/// The most terms of a query. Further ones are left out.
pub const MAX_QUERY_TERMS: usize = 32;

/// The terms of a query.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct QueryTerms {
    /// The terms, each once, in order.
    pub terms: Vec<QueryTerm>,
    /// The phrases, in order.
    pub phrases: Vec<Phrase>,
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
}

/// Terms side by side, each with its distance from the start of the phrase in terms of the index.
pub type Phrase = Vec<(String, u32)>;

/// The terms of a query.
pub fn for_query(text: &str) -> QueryTerms {
    let with_function_words = |kept: bool| {
        let mut query = QueryTerms::default();
        for joined in pieces(text) {
            query.add(joined, kept || !is_dropped(joined, text));
        }
        query
    };
    let query = with_function_words(false);
    if query.terms.is_empty() { with_function_words(true) } else { query }
}

/// The pieces of a text between spaces and apostrophes.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || matches!(c, '\'' | '\u{2019}');
    text.split(is_between).filter(|piece| !piece.is_empty())
}

/// Whether a piece of a query is a function word and nothing else.
fn is_dropped(piece: &str, query: &str) -> bool {
    let mut words = words(piece);
    let (Some(word), None) = (words.next(), words.next()) else { return false };
    let is_name = word.text.chars().count() > 1
        && !word.text.contains(char::is_lowercase)
        && query.contains(char::is_lowercase);
    let mut folded = String::new();
    fold::fold(word.text, super::MAX_TERM_CHARS, &mut folded);
    !is_name && is_function_word(&folded)
}

impl QueryTerms {
    /// Adds the words of a piece, and the phrase that they are.
    fn add(&mut self, piece: &str, is_wanted: bool) {
        if !is_wanted {
            return;
        }
        let mut phrase = Phrase::new();
        let mut place = 0;
        for word in words(piece) {
            place += self.add_word(&word, place, &mut phrase);
        }
        let all_looked_up = |(term, _): &(String, u32)| self.has(term);
        if phrase.len() > 1 && phrase.iter().all(all_looked_up) && !self.phrases.contains(&phrase) {
            self.phrases.push(phrase);
        }
    }

    /// Adds a word that begins at a place of its piece. Returns how many terms of the index it is.
    fn add_word(&mut self, word: &Word<'_>, place: u32, phrase: &mut Phrase) -> u32 {
        let starts: Vec<usize> = word.text.char_indices().map(|(start, _)| start).collect();
        // A single character matches too much, so it is looked up only if it is the whole word.
        if !word.dense || starts.len() == 1 {
            self.add_term(word.text, place, phrase);
            return 1;
        }
        // In the index a pair follows its second character.
        let mut pair = place;
        for (index, start) in starts.iter().enumerate().take(starts.len() - 1) {
            let end = starts.get(index + 2).copied().unwrap_or(word.text.len());
            pair += 2;
            self.add_term(&word.text[*start..end], pair, phrase);
        }
        pair - place + 1
    }

    fn add_term(&mut self, word: &str, place: u32, phrase: &mut Phrase) {
        let mut scratch = String::new();
        let term = term(word, &mut scratch);
        phrase.push((term.to_owned(), place));
        if self.has(term) {
            return;
        }
        if self.terms.len() < MAX_QUERY_TERMS {
            self.terms.push(QueryTerm { term: term.to_owned(), word: word.to_owned() });
        } else if self.too_many.len() < MAX_QUERY_TERMS
            && !self.too_many.iter().any(|known| known == word)
        {
            self.too_many.push(word.to_owned());
        }
    }

    fn has(&self, term: &str) -> bool {
        self.terms.iter().any(|known| known.term == term)
    }
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
        assert_eq!(asked("?!"), [""; 0]);
    }

    #[test]
    fn names_are_not_function_words() {
        assert_eq!(asked("is_ready to-do and"), ["is", "ready", "to", "do"]);
        assert_eq!(asked("IT policy, CAN bus, it"), ["IT", "policy", "CAN", "bus"]);
        assert_eq!(asked("WHAT IS A QUEUE"), ["QUEUE"]);
    }

    #[test]
    fn joined_words_are_phrases_at_their_places_in_the_index() {
        for text in ["retry_backoff.rs", "v2.4.1", "日本語v2", "src/日本/a-b"] {
            let mut indexed = Vec::new();
            for_index(text, |term| indexed.push(term.to_owned()));
            let query = for_query(text);
            let [phrase] = &query.phrases[..] else { panic!("one phrase in {text}") };
            for (term, place) in phrase {
                assert_eq!(indexed[*place as usize], *term, "{text}");
            }
        }
        assert_eq!(for_query("two words").phrases, [[]; 0]);
        assert_eq!(for_query("a.b a.b").phrases.len(), 1);
    }

    #[test]
    fn long_queries_count_by_their_beginning() {
        let many: Vec<String> = (0..MAX_QUERY_TERMS + 3).map(|n| format!("w{n}")).collect();
        let query = for_query(&many.join(" "));
        assert_eq!(query.terms.len(), MAX_QUERY_TERMS);
        assert_eq!(query.too_many, ["w32", "w33", "w34"]);
        // A phrase that cannot be looked up whole is none.
        assert_eq!(for_query(&many.join("-")).phrases, [[]; 0]);
    }
}
