//! A set of names that is fast to read from a document.
//!
//! Most names are in one sorted text, separated by spaces. It is taken from the document without
//! copying each name and searched in place. New names are stored separately.
//!
//! Invariants:
//! - the text is sorted and has no duplicates, and no name is both in the text and outside it;
//! - two sets with the same names are equal, regardless of where the names are stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use accord_contract::{Object, Value};

use crate::members::{build, list, text};

/// The separator. JSON must not have to escape it, because escapes would make reading slower.
const BETWEEN: char = ' ';

#[derive(Clone, Debug, Default, Eq)]
pub(crate) struct Names {
    packed: Arc<str>,
    packed_count: usize,
    added: BTreeSet<String>,
}

impl Names {
    /// Adds a name. Returns false when it exists.
    pub(crate) fn insert(&mut self, name: &str) -> bool {
        !self.contains(name) && self.added.insert(name.to_owned())
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.added.contains(name) || is_packed(&self.packed, name)
    }

    pub(crate) fn len(&self) -> usize {
        self.packed_count + self.added.len()
    }

    /// The names, sorted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let mut packed = lines(&self.packed).peekable();
        let mut added = self.added.iter().map(String::as_str).peekable();
        std::iter::from_fn(move || match (packed.peek(), added.peek()) {
            (Some(one), Some(other)) if other < one => added.next(),
            (Some(_), _) => packed.next(),
            (None, _) => added.next(),
        })
    }

    pub(crate) fn document(&self) -> Object {
        // A name from a foreign file may contain a space.
        let (odd, plain): (Vec<&str>, Vec<&str>) = self.iter().partition(|name| !is_packable(name));
        build([
            ("names", plain.join(&BETWEEN.to_string()).into()),
            ("others", odd.into_iter().map(Value::from).collect()),
        ])
    }

    /// Reads the output of [`Names::document`]; `None` when it is anything else.
    pub(crate) fn read(document: &Object) -> Option<Self> {
        let packed = text(document, "names")?;
        let mut packed_count = 0;
        let mut last = "";
        for name in lines(packed) {
            // Comparing with the empty text also refuses an empty name.
            if name <= last {
                return None;
            }
            last = name;
            packed_count += 1;
        }
        let others = list(document, "others").iter();
        let others = others.map(|name| name.as_str().map(str::to_owned));
        let added: Option<BTreeSet<String>> = others.collect();
        // A name that could be packed might be in both places, which the invariant excludes.
        let added = added.filter(|added| added.iter().all(|name| !is_packable(name)))?;
        Some(Self { packed: packed.into(), packed_count, added })
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

fn is_packable(name: &str) -> bool {
    !name.is_empty() && !name.contains(BETWEEN)
}

fn lines(packed: &str) -> impl Iterator<Item = &str> {
    packed.split(BETWEEN).filter(|_| !packed.is_empty())
}

/// Binary search in the text.
fn is_packed(packed: &str, name: &str) -> bool {
    let bytes = packed.as_bytes();
    let (mut low, mut high) = (0, bytes.len());
    while low < high {
        // `low` and `high` are borders of names, so the slice around `middle` is a whole name.
        let middle = low + (high - low) / 2;
        let before = bytes[low..middle].iter().rposition(|byte| *byte == BETWEEN as u8);
        let start = before.map_or(low, |found| low + found + 1);
        let behind = bytes[middle..high].iter().position(|byte| *byte == BETWEEN as u8);
        let end = behind.map_or(high, |found| middle + found);
        match bytes[start..end].cmp(name.as_bytes()) {
            std::cmp::Ordering::Equal => return is_packable(name),
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start.saturating_sub(1),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_wherever_they_lie() {
        for count in [0, 1, 2, 3, 10, 257] {
            let mut names = Names::default();
            // Different lengths, so that the binary search splits inside of names.
            let name = |number: usize| format!("{}{number}", "x".repeat(number % 7));
            for number in (0..count).rev() {
                assert!(names.insert(&name(number)));
                assert!(!names.insert(&name(number)));
            }
            let mut again = Names::read(&names.document()).unwrap();
            assert!(again.added.is_empty());
            assert_eq!(again, names);
            assert!(again.insert("later") && again != names && names.insert("later"));
            assert_eq!(again, names);
            assert_eq!(again.len(), count + 1);
            let sorted: Vec<&str> = again.iter().collect();
            assert!(sorted.is_sorted() && sorted.len() == count + 1);
            for number in 0..count {
                assert!(again.contains(&name(number)), "{number} of {count}");
                assert!(!again.insert(&name(number)));
            }
            for absent in ["", " ", "\n", "zzz", "!", "x", "0 1", "late", "laterr"] {
                let is_there = (0..count).any(|number| name(number) == absent);
                assert_eq!(again.contains(absent), is_there, "{absent:?} of {count}");
            }
        }
    }

    #[test]
    fn odd_names_survive_and_odd_documents_do_not() {
        let mut names = Names::default();
        for name in ["", "a b", "a\nb", "a", "b"] {
            assert!(names.insert(name));
        }
        let again = Names::read(&names.document()).unwrap();
        assert_eq!(again, names);
        assert!(again.contains("a b") && again.contains("a\nb") && again.contains(""));
        assert!(!again.contains("b a"));
        for (packed, others) in [("b a", ""), ("a a", ""), ("a ", ""), ("a", "b")] {
            let others = Value::Array(vec![others.into()]);
            let document = build([("names", packed.into()), ("others", others)]);
            assert_eq!(Names::read(&document), None, "{packed:?}");
        }
    }
}
