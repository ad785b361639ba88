//! Whole names, versions, and the beginnings of hashes.
//!
//! A name is what hyphens and underscores join, and what `parts` takes apart. A version is numbers
//! with dots between them.

use super::parts::{self, PREFIXES};
use super::{Joint, MAX_TERM_CHARS, Word};

/// The most parts of a name.
const MAX_PARTS: usize = 6;

/// A part of a name, and its place in the text, counted in terms.
pub(super) type Part<'t> = (&'t str, u32);

/// Finds the names of a text while its words are read.
#[derive(Default)]
pub(super) struct Names<'t> {
    /// The parts of the name that the last word belongs to.
    name: Vec<Part<'t>>,
    /// The numbers of the version that the last word belongs to.
    version: Vec<Part<'t>>,
}

impl<'t> Names<'t> {
    /// Takes the next word of the text. It has these parts, the first of them at a place. Calls
    /// `found` with the terms of names that end before it, and their parts.
    pub(super) fn add(
        &mut self,
        word: &Word<'t>,
        split: &[&'t str],
        place: u32,
        found: &mut impl FnMut(&str, &[Part<'t>]),
    ) {
        if word.joint != Joint::Hyphen {
            self.end_name(found);
        }
        if word.joint != Joint::Dot {
            self.end_version(found);
        }
        let parts = split.iter().copied().zip(place..);
        // One more than a name can have says that it is none.
        self.name.extend(parts.clone());
        self.name.truncate(MAX_PARTS + 1);
        for (index, part) in parts.enumerate() {
            let is_first = index == 0;
            if !is_first || !is_number(part.0) {
                self.end_version(found);
            }
            if is_number(part.0) {
                self.version.push(part);
            }
        }
    }

    /// Ends the last name and version: the next word does not belong to them.
    pub(super) fn end(&mut self, found: &mut impl FnMut(&str, &[Part<'t>])) {
        self.end_name(found);
        self.end_version(found);
    }

    fn end_name(&mut self, found: &mut impl FnMut(&str, &[Part<'t>])) {
        let length: usize = self.name.iter().map(|(part, _)| part.len()).sum();
        let is_name = (2..=MAX_PARTS).contains(&self.name.len())
            && length <= MAX_TERM_CHARS
            && !self.name.iter().any(|(part, _)| parts::is_hash(part));
        if is_name {
            let whole: String = self.name.iter().map(|(part, _)| *part).collect();
            found(&whole, &self.name);
        }
        self.name.clear();
    }

    fn end_version(&mut self, found: &mut impl FnMut(&str, &[Part<'t>])) {
        if (2..=MAX_PARTS).contains(&self.version.len()) {
            let numbers: Vec<&str> = self.version.iter().map(|(number, _)| *number).collect();
            found(&numbers.join("v"), &self.version);
        }
        self.version.clear();
    }
}

/// The beginnings by which a hash in a text is found; none for another word.
pub(super) fn beginnings(word: &str) -> impl Iterator<Item = &str> {
    let lengths = PREFIXES.iter().filter(|length| word.len() > **length && parts::is_hash(word));
    lengths.map(|length| &word[..*length])
}

/// The beginning by which a hash, or the beginning of one, is looked up besides itself.
pub(super) fn looked_up(word: &str) -> Option<&str> {
    let shorter = PREFIXES.iter().rev().find(|length| word.len() > **length);
    let is_hash = parts::begins_hash(word);
    shorter.filter(|_| is_hash).map(|length| &word[..*length])
}

pub(super) fn is_number(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}
