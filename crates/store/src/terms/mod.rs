//! Search terms.
//!
//! Engines index only the terms of this module, so that all of them find the same. A term contains
//! only letters and digits, so that a query is never syntax.
//!
//! A term is a word, without case and accents, and for English without its ending. Scripts
//! without spaces between words have a term for every character and for every pair of neighbours.

mod fold;
mod function_words;
mod query;
mod stem;

pub use query::{MAX_QUERY_TERMS, Phrase, QueryTerm, QueryTerms, for_query};

/// The longest term, in characters. A longer word is cut.
const MAX_TERM_CHARS: usize = 48;

/// Calls `emit` with every occurrence of a term in a text, in order.
pub fn for_index(text: &str, mut emit: impl FnMut(&str)) {
    let mut scratch = String::new();
    for word in words(text) {
        if !word.dense {
            emit(term(word.text, &mut scratch));
            continue;
        }
        let mut last = None;
        for (start, character) in word.text.char_indices() {
            let end = start + character.len_utf8();
            emit(term(&word.text[start..end], &mut scratch));
            if let Some(last) = last {
                emit(term(&word.text[last..end], &mut scratch));
            }
            last = Some(start);
        }
    }
}

/// A run of letters and digits of one kind of script.
struct Word<'a> {
    text: &'a str,
    /// Whether its script has no spaces between words.
    dense: bool,
}

fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        // A combining mark alone is not a word.
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric() || fold::is_mark(c));
        let dense = fold::is_dense(rest.chars().next()?);
        let belongs = |c: char| {
            (c.is_alphanumeric() && fold::is_dense(c) == dense) || (!dense && fold::is_mark(c))
        };
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Some(Word { text: word, dense })
    })
}

fn term<'a>(word: &str, scratch: &'a mut String) -> &'a str {
    scratch.clear();
    fold::fold(word, MAX_TERM_CHARS, scratch);
    stem::stem(scratch);
    scratch
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indexed(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        for_index(text, |term| terms.push(term.to_owned()));
        terms
    }

    fn asked(text: &str) -> Vec<String> {
        for_query(text).terms.into_iter().map(|term| term.term).collect()
    }

    #[test]
    fn words_are_letters_and_digits() {
        assert_eq!(
            indexed("open_questions: \"97.0\" % (x-trust) \u{0}\t*"),
            ["open", "question", "97", "0", "x", "trust"]
        );
        assert_eq!(indexed(" ... \u{301} "), [""; 0]);
    }

    #[test]
    fn case_accents_and_endings_make_no_difference() {
        assert_eq!(asked("Deciding DECIDED"), ["decid"]);
        assert_eq!(asked("Café CAFE\u{301} cafe"), ["cafe"]);
        assert_eq!(asked("Łódź straße STRASSE"), ["lodz", "strass"]);
        assert_eq!(asked("ΔΟΚΙΜΉ δοκιμή"), ["δοκιμή"]);
    }

    #[test]
    fn scripts_without_spaces_are_found_by_pairs_and_by_single_characters() {
        assert_eq!(indexed("日本語v2"), ["日", "本", "日本", "語", "本語", "v2"]);
        assert_eq!(asked("日本語v2"), ["日本", "本語", "v2"]);
        assert_eq!(asked("語"), ["語"]);
    }

    #[test]
    fn long_words_count_by_their_beginning() {
        let long = "ab12".repeat(100);
        assert_eq!(indexed(&long)[0].len(), MAX_TERM_CHARS);
    }

    #[test]
    fn whatever_is_asked_for_is_found_in_itself() {
        for text in
            ["\" OR (", "*", "NEAR(a b, 2)", "col:word^2 -x", "🦀 emoji", "ราคา ถูก", "한국어"]
        {
            let terms = indexed(text);
            for term in asked(text) {
                assert!(terms.contains(&term), "{term:?} of {text:?}");
                assert!(term.chars().all(char::is_alphanumeric), "{term:?}");
            }
        }
    }
}
