//! Why a document has no canonical form, and where.

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

    /// The same refusal, relative to a document that contains this one at `pointer`, `offset` bytes
    /// from its start.
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

/// The error of the scanners: small, without allocations and without a pointer. The pointer is
/// computed only for a document that is refused (see `locate`).
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

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "the top of the document" } else { pointer }
}
