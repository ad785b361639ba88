//! When two texts are the same question.

use accord_canon::{Digest, sha256};
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

/// Identifies a question by its text, without surrounding white space, in NFC and without case.
/// Equal keys mean the same question.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct QuestionKey(Digest);

impl QuestionKey {
    pub fn of(text: &str) -> Self {
        Self(sha256(folded(text).as_bytes()))
    }

    /// The key as a digest, to store it.
    pub fn digest(&self) -> &Digest {
        &self.0
    }
}

impl From<Digest> for QuestionKey {
    fn from(digest: Digest) -> Self {
        Self(digest)
    }
}

fn folded(text: &str) -> String {
    let text = text.trim();
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let composed: String = if is_nfc(text) { text.to_owned() } else { text.nfc().collect() };
    // The lower case of the upper case is the same for all forms of a letter, such as `ß` and `SS`,
    // or `σ` and `ς`. The first step makes `ẞ`, which has no other upper case, an `ß`.
    let folded = composed
        .chars()
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase);
    folded.nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_form_and_surrounding_space_do_not_matter() {
        for (one, other) in [
            ("Who pays?", "  who PAYS?\n"),
            ("Caf\u{e9}?", "CAFE\u{301}?"),
            ("Welche Straße?", "WELCHE STRASSE?"),
            ("STRAẞE", "strasse"),
            ("Ποιος;", "ΠΟΙΟΣ;"),
            ("\u{1100}\u{1161}?", "\u{ac00}?"),
        ] {
            assert_eq!(QuestionKey::of(one), QuestionKey::of(other), "{one} {other}");
        }
    }

    #[test]
    fn everything_else_does() {
        for (one, other) in [("Why?", "Why"), ("Why so?", "Why  so?"), ("Cafe?", "Café?")] {
            assert_ne!(QuestionKey::of(one), QuestionKey::of(other), "{one} {other}");
        }
    }
}
