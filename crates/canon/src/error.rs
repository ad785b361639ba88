//! Why a document has no canonical form, and where.

use std::borrow::Cow;

/// Why a document is refused. Each reason has its own failure code.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Refusal {
    /// The text is not JSON.
    InvalidJson,
    /// The bytes are not UTF-8.
    InvalidUtf8,
    /// An object names the same key twice.
    DuplicateKey,
    /// A string contains half of a surrogate pair.
    LoneSurrogate,
    /// `null` is used where the profile forbids it.
    NullForbidden,
    /// A number is too large for a double.
    NonFinite,
    /// An integer's canonical form would be a different number.
    InexactInteger,
    /// Arrays and objects are nested past the limit.
    TooDeep,
}

impl Refusal {
    /// Every reason.
    pub const ALL: [Self; 8] = [
        Self::InvalidJson,
        Self::InvalidUtf8,
        Self::DuplicateKey,
        Self::LoneSurrogate,
        Self::NullForbidden,
        Self::NonFinite,
        Self::InexactInteger,
        Self::TooDeep,
    ];
}

/// A refused document: the reason, the place and what was found there.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{detail} (at {}, byte {offset})", place(.pointer))]
pub struct CanonError {
    refusal: Refusal,
    pointer: String,
    offset: usize,
    detail: String,
}

impl CanonError {
    pub(crate) fn new(refusal: Refusal, pointer: String, offset: usize, detail: String) -> Self {
        Self { refusal, pointer, offset, detail }
    }

    /// The same refusal in a document that contains this one at `pointer`, from byte `offset`.
    #[must_use]
    pub fn within(mut self, pointer: &str, offset: usize) -> Self {
        self.pointer.insert_str(0, pointer);
        self.offset += offset;
        self
    }

    /// The reason.
    pub fn refusal(&self) -> Refusal {
        self.refusal
    }

    /// The JSON pointer of the place; empty for the document itself.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The offset of the byte at which the document was refused.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// What was found, without the place.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

/// The error of the scanners, without allocations. `locate` computes the pointer if needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) refusal: Refusal,
    pub(crate) offset: usize,
    pub(crate) detail: &'static str,
}

impl Fault {
    pub(crate) fn syntax(offset: usize, detail: &'static str) -> Self {
        Self { refusal: Refusal::InvalidJson, offset, detail }
    }
}

fn place(pointer: &str) -> Cow<'_, str> {
    if pointer.is_empty() { "the top of the document".into() } else { shorten_path(pointer) }
}

/// A JSON pointer or path for a message, without the middle of one that a hostile document made
/// long.
pub fn shorten_path(path: &str) -> Cow<'_, str> {
    const WHOLE: usize = 200;
    const PART: usize = 80;
    if path.len() <= WHOLE {
        return path.into();
    }
    let head = &path[..path.floor_char_boundary(PART)];
    let head = head.rfind('/').filter(|at| *at > 0).map_or(head, |at| &head[..at]);
    let tail = &path[path.ceil_char_boundary(path.len() - PART)..];
    let tail = tail.find('/').map_or(tail, |at| &tail[at + 1..]);
    let hidden = path[head.len()..path.len() - tail.len()].split('/');
    match hidden.filter(|level| !level.is_empty()).count() {
        0 | 1 => format!("{head}…{tail}").into(),
        levels => format!("{head}/… {levels} levels …/{tail}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_shortened_in_the_middle() {
        let short = "/a".repeat(100);
        assert_eq!(shorten_path(&short), short);
        let deep = format!("/first{}/last", "/a".repeat(256));
        let shown = shorten_path(&deep);
        assert!(shown.starts_with("/first/a/") && shown.ends_with("/a/last"), "{shown}");
        let levels: usize = shown.split(' ').find_map(|word| word.parse().ok()).unwrap();
        let kept = shown.matches('/').count() - 1;
        assert_eq!(levels + kept, 258, "{shown}");
        assert!(shown.len() < 200);
        // One name, with characters of several bytes.
        let name = "é".repeat(1_000_000);
        assert!(shorten_path(&name).len() < 200);
    }

    #[test]
    fn a_message_does_not_print_every_level() {
        let pointer = "/a".repeat(256);
        let error = CanonError::new(Refusal::TooDeep, pointer.clone(), 9, "too deep".to_owned());
        assert!(error.to_string().len() < 250, "{error}");
        assert_eq!(error.pointer(), pointer);
    }
}
