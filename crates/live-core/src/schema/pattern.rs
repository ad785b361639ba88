//! The patterns of schemas: regular expressions of ECMAScript that run in linear time.
//!
//! Look-around and back-references cannot run in linear time and are refused.

use regex::{Regex, RegexBuilder};

const MOST_BYTES: usize = 1024;

/// The sizes that compiled patterns may have, and how expensive a byte of text is for each: a
/// matcher may visit every state of the program for every byte.
const SIZES: [(usize, u32); 3] = [(8 << 10, 1), (32 << 10, 4), (128 << 10, 16)];

const CACHE: usize = 256 << 10;

#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    regex: Regex,
    weight: u32,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PatternError {
    /// It is not a regular expression, or one that cannot run in linear time.
    Invalid,
    TooLarge,
}

impl Pattern {
    /// Clauses: GGUI-SCHEMA-LIMITS.
    pub(super) fn compile(text: &str) -> Result<Self, PatternError> {
        if text.len() > MOST_BYTES {
            return Err(PatternError::TooLarge);
        }
        let translated =
            jsonschema_regex::to_rust_regex(text).map_err(|()| PatternError::Invalid)?;
        for (size, weight) in SIZES {
            let mut builder = RegexBuilder::new(&translated);
            match builder.size_limit(size).dfa_size_limit(CACHE).build() {
                Ok(regex) => return Ok(Self { text: text.to_owned(), regex, weight }),
                Err(regex::Error::CompiledTooBig(_)) => {}
                Err(_) => return Err(PatternError::Invalid),
            }
        }
        Err(PatternError::TooLarge)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// How large its program is, in units of the smallest size.
    pub(super) fn weight(&self) -> u32 {
        self.weight
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    pub(super) fn cost(&self, text: &str) -> u64 {
        1 + text.len() as u64 * u64::from(self.weight) / 8
    }
}
