//! Search terms.
//!
//! Engines index only the terms of this module, so that all of them find the same. A term contains
//! only letters and digits, so that a query is never syntax.
//!
//! A term is a word, without case and accents, and for English without its ending. Scripts
//! without spaces between words have a term for every character and for every pair of neighbours.
//!
//! Names are terms by their parts (`parts`), and the whole name, in whatever way it is written, is
//! a term behind the text (`names`). So `parseHttpHeader`, `parse_http_header` and
//! `parsehttpheader` are the same, and the words `parse http header` find all of them.

mod fold;
mod function_words;
mod names;
mod parts;
mod query;
mod spelling;
mod stem;

pub use query::{MAX_QUERY_TERMS, Name, Phrase, QueryTerm, QueryTerms, for_query};
pub(crate) use spelling::Misspelling;

use names::Names;

/// The longest term, in characters. A longer word is cut.
const MAX_TERM_CHARS: usize = 48;

/// Calls `emit` with every occurrence of a term in a text, in order; then with its whole names.
pub fn for_index(text: &str, mut emit: impl FnMut(&str)) {
    let mut scratch = String::new();
    let (mut names, mut split) = (Names::default(), Vec::new());
    let mut found: Vec<String> = Vec::new();
    for word in words(text) {
        if word.dense {
            names.end(&mut |name, _| found.push(name.to_owned()));
            let mut last = None;
            for (start, character) in word.text.char_indices() {
                let end = start + character.len_utf8();
                emit(term(&word.text[start..end], &mut scratch));
                if let Some(last) = last {
                    emit(term(&word.text[last..end], &mut scratch));
                }
                last = Some(start);
            }
            continue;
        }
        split.clear();
        parts::split(word.text, &mut split);
        for part in &split {
            emit(term(part, &mut scratch));
        }
        // Places do not matter here.
        names.add(&word, &split, 0, &mut |name, _| found.push(name.to_owned()));
        found.extend(names::beginnings(word.text).map(str::to_owned));
    }
    names.end(&mut |name, _| found.push(name.to_owned()));
    for name in &found {
        emit(term(name, &mut scratch));
    }
}

/// A run of letters and digits of one kind of script.
struct Word<'a> {
    text: &'a str,
    /// Whether its script has no spaces between words.
    dense: bool,
    /// What is between it and the word before.
    joint: Joint,
}

/// What is between two words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Joint {
    /// A hyphen or an underscore.
    Hyphen,
    Dot,
    Other,
}

fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = text;
    let mut is_first = true;
    std::iter::from_fn(move || {
        // A combining mark alone is not a word.
        let behind = rest.trim_start_matches(|c: char| !c.is_alphanumeric() || fold::is_mark(c));
        let joint = match &rest[..rest.len() - behind.len()] {
            "-" | "_" if !is_first => Joint::Hyphen,
            "." if !is_first => Joint::Dot,
            _ => Joint::Other,
        };
        is_first = false;
        rest = behind;
        let dense = fold::is_dense(rest.chars().next()?);
        let belongs = |c: char| {
            (c.is_alphanumeric() && fold::is_dense(c) == dense) || (!dense && fold::is_mark(c))
        };
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Some(Word { text: word, dense, joint })
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
            indexed("open questions: \"97\" % (trust) \u{0}\t*"),
            ["open", "question", "97", "trust"]
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
        assert_eq!(indexed("日本語v2"), ["日", "本", "日本", "語", "本語", "v", "2", "v2"]);
        assert_eq!(asked("日本語v2"), ["日本", "本語", "2", "v2"]);
        assert_eq!(asked("語"), ["語"]);
    }

    #[test]
    fn long_words_count_by_their_beginning() {
        let long = "ab12".repeat(100);
        assert_eq!(indexed(&long)[0].len(), MAX_TERM_CHARS);
    }

    #[test]
    fn a_name_is_its_parts_and_the_same_however_it_is_written() {
        let expected = ["pars", "http", "header", "parsehttphead"];
        for name in ["parseHttpHeader", "parse_http_header", "PARSE-HTTP-HEADER", "ParseHTTPHeader"]
        {
            assert_eq!(indexed(name), expected, "{name}");
        }
        assert_eq!(indexed("use open_file here"), ["us", "open", "file", "here", "openfil"]);
        assert_eq!(asked("openfile"), ["openfil"]);
        assert_eq!(asked("open_file"), ["open", "file", "openfil"]);
    }

    #[test]
    fn versions_and_beginnings_of_hashes_are_terms() {
        assert_eq!(indexed("v2.4.1"), ["v", "2", "4", "1", "v2", "2v4v1"]);
        assert_eq!(asked("2.4.1"), ["2", "4", "1", "2v4v1"]);
        let hash = "1a2b3c4d5e6f";
        assert_eq!(indexed(&format!("in {hash}")), ["in", hash, "1a2b", "1a2b3c4"]);
        assert_eq!(asked(hash), [hash, "1a2b3c4"]);
        assert_eq!(asked("1a2b3c"), ["1a2b3c", "1a2b"]);
        assert_eq!(indexed("pkg_1a2b3c4d"), ["pkg", "1a2b3c4d", "1a2b", "1a2b3c4"]);
    }

    #[test]
    fn whatever_is_asked_for_is_found_in_itself() {
        for text in [
            "\" OR (",
            "*",
            "NEAR(a b, 2)",
            "col:word^2 -x",
            "🦀 emoji",
            "ราคา ถูก",
            "한국어",
            "src/parseHttpHeader_v2.rs 1.2.3-rc.1 1a2b3c4d5e",
        ] {
            let terms = indexed(text);
            for term in asked(text) {
                assert!(terms.contains(&term), "{term:?} of {text:?}");
                assert!(term.chars().all(char::is_alphanumeric), "{term:?}");
            }
        }
    }
}
