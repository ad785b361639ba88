//! Excerpts of packages that contain the words of a query.

use crate::package::PackageFields;
use crate::query::{Terms, is_of_word};

/// The longest excerpt, in characters, without the ellipses.
const LONGEST: usize = 240;
/// How much of a text is searched, in bytes.
const LOOKED_AT: usize = 64 * 1024;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Excerpt {
    pub field: &'static str,
    /// The text, with `…` where it was cut.
    pub text: String,
}

/// The member of a package with the most words of a query: title, decision, question, handoff
/// note, description or body. The first in this order wins a tie. Without any match, the title.
pub fn excerpt(package: &PackageFields, terms: &Terms) -> Excerpt {
    let title = ("title", package.title.as_str());
    let decisions = package.decisions_made().iter();
    let questions = package.open_questions().iter();
    let texts = [title]
        .into_iter()
        .chain(decisions.map(|item| ("decisions_made", item.as_str())))
        .chain(questions.map(|item| ("open_questions", item.as_str())))
        .chain([
            ("handoff_note", package.handoff_note()),
            ("description", package.description()),
            ("content_md", package.content_md()),
        ]);
    let mut best = (0, 0, title);
    for (field, text) in texts {
        let text = &text[..text.floor_char_boundary(LOOKED_AT)];
        let mut found = vec![false; terms.words().len()];
        let first = matches(text, terms, &mut found);
        let found = found.into_iter().filter(|found| *found).count();
        if found > best.0 {
            best = (found, first, (field, text));
        }
    }
    let (_, first, (field, text)) = best;
    Excerpt { field, text: around(text, first) }
}

/// Notes which words of a query are in a text. Returns the character offset of the first.
pub(super) fn matches(text: &str, terms: &Terms, found: &mut [bool]) -> usize {
    let mut first = None;
    let mut word = String::new();
    let mut start = 0;
    // The blank ends the last word.
    for (place, character) in text.chars().chain([' ']).enumerate() {
        if is_of_word(character) {
            if word.is_empty() {
                start = place;
            }
            word.extend(character.to_lowercase());
            continue;
        }
        if let Some(term) = terms.words().iter().position(|term| is_like(&word, term)) {
            found[term] = true;
            first.get_or_insert(start);
        }
        word.clear();
    }
    first.unwrap_or(0)
}

/// Whether a word begins with a term, as most inflections of it do.
fn is_like(word: &str, term: &str) -> bool {
    word == term || (term.chars().count() >= 3 && word.starts_with(term))
}

/// At most [`LONGEST`] characters around an offset, a third of them before it.
fn around(text: &str, place: usize) -> String {
    let length = text.chars().count();
    if length <= LONGEST {
        return text.to_owned();
    }
    let start = place.saturating_sub(LONGEST / 3).min(length - LONGEST);
    let part: String = text.chars().skip(start).take(LONGEST).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if start + LONGEST < length { "…" } else { "" };
    format!("{before}{part}{after}")
}
