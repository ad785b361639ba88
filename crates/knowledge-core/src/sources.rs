//! The normal form of a block's list of sources.

use std::cmp::Ordering;
use std::ops::Range;

use accord_canon::{Canonicalizer, KeyOrder, Numbers, Profile, compare_strings};

use crate::KbError;

/// What happens to a source that is listed twice. Clauses: ALX-ID-DUPLICATES.
///
/// The protocol's documentation removes it before hashing, its reference implementation hashes it,
/// and its registry refuses it. They disagree on the identity, so the caller must choose.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SourceMode {
    #[default]
    Reject,
    /// It is hashed once.
    Dedup,
    /// It is hashed as often as it is listed.
    AsIs,
}

/// Writes the normal form of a list of sources, with buffers that are reused.
#[derive(Debug)]
pub(crate) struct SourceWriter {
    canonicalizer: Canonicalizer,
    /// The range of each string in the canonical list, quotes included, and its index in the list.
    strings: Vec<(Range<usize>, usize)>,
}

impl SourceWriter {
    pub(crate) fn new(profile: Profile, numbers: Numbers) -> Self {
        Self { canonicalizer: Canonicalizer::with_numbers(profile, numbers), strings: Vec::new() }
    }

    /// Appends the sorted list to `out`. `text` is the member called `name`,
    /// `offset` bytes into the envelope. Clauses: ALX-ID-SOURCES-SORTED, ALX-ID-SOURCES-VERBATIM.
    pub(crate) fn write(
        &mut self,
        text: &[u8],
        name: &str,
        offset: usize,
        mode: SourceMode,
        out: &mut Vec<u8>,
    ) -> Result<(), KbError> {
        let list = self
            .canonicalizer
            .canonicalize(text)
            .map_err(|error| KbError::Canon(error.within(&format!("/{name}"), offset)))?;
        self.strings.clear();
        let most = list.iter().filter(|byte| **byte == b',').count() + 1;
        self.strings.reserve(most);
        split(list, name, &mut self.strings)?;
        // Each string has one canonical spelling, so the index only orders equal strings.
        self.strings
            .sort_unstable_by(|(a, first), (b, second)| order(list, a, b).then(first.cmp(second)));
        out.push(b'[');
        for (position, (range, index)) in self.strings.iter().enumerate() {
            if position > 0 {
                let (before, _) = &self.strings[position - 1];
                if list[before.clone()] == list[range.clone()] {
                    match mode {
                        SourceMode::Reject => {
                            // The sort keeps equal strings in order.
                            return Err(KbError::DuplicateSource {
                                pointer: format!("/{name}/{index}"),
                            });
                        }
                        SourceMode::Dedup => continue,
                        SourceMode::AsIs => {}
                    }
                }
                out.push(b',');
            }
            out.extend_from_slice(&list[range.clone()]);
        }
        out.push(b']');
        Ok(())
    }
}

fn order(list: &[u8], a: &Range<usize>, b: &Range<usize>) -> Ordering {
    compare_strings(KeyOrder::Utf16, &list[a.start + 1..a.end - 1], &list[b.start + 1..b.end - 1])
}

fn split(list: &[u8], name: &str, strings: &mut Vec<(Range<usize>, usize)>) -> Result<(), KbError> {
    if list.first() != Some(&b'[') {
        return Err(KbError::envelope(
            format!("/{name}"),
            format!("{name} must be a list of block ids"),
        ));
    }
    // `list` is canonical JSON that ends with `]`; the indexes below cannot leave it.
    let mut pos = 1;
    while list[pos] != b']' {
        let index = strings.len();
        if list[pos] != b'"' {
            return Err(KbError::envelope(
                format!("/{name}/{index}"),
                "a source must be a string that names a block".to_owned(),
            ));
        }
        let start = pos;
        pos += 1;
        while list[pos] != b'"' {
            pos += if list[pos] == b'\\' { 2 } else { 1 };
        }
        pos += 1;
        strings.push((start..pos, index));
        if list[pos] == b',' {
            pos += 1;
        }
    }
    Ok(())
}
