//! The words of a search query.

use accord_contract::Failure;

use crate::refuse;

/// The most words of a search. More words cost time and hardly improve the results.
pub const MAX_TERMS: usize = 16;
/// The longest query, in bytes; past it `text_too_long`.
pub const MAX_QUERY_BYTES: usize = 4 * 1024;

/// The words of a query: in lower case, each once, in their order.
/// Clauses: AGENTIC-R-077.
///
/// A word is a run of letters and digits of any script, including combining accents. Everything
/// else, such as quotes, stars and brackets, separates words, so that a query never contains the
/// syntax of an engine. A query without words finds nothing.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Terms(Vec<String>);

impl Terms {
    /// The words of a query. Fails when the query is longer than [`MAX_QUERY_BYTES`].
    pub fn parse(query: &str) -> Result<Self, Failure> {
        Self::parse_at("/query", query)
    }

    /// The words of the parameter at `pointer`.
    pub(super) fn parse_at(pointer: &str, query: &str) -> Result<Self, Failure> {
        refuse::check_length(pointer, query, MAX_QUERY_BYTES)?;
        let mut terms: Vec<String> = Vec::new();
        for word in words(query) {
            let word = word.to_lowercase();
            if !terms.contains(&word) {
                terms.push(word);
            }
            if terms.len() == MAX_TERMS {
                break;
            }
        }
        Ok(Self(terms))
    }

    pub fn words(&self) -> &[String] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The runs of letters and digits in a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|character: char| !is_of_word(character));
    parts.filter(|word| word.contains(char::is_alphanumeric))
}

/// Whether a character belongs to a word.
pub(crate) fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&character)
}
