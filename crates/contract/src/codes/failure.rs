//! A failure: a code with the details of one occurrence, and its form in each protocol.

use accord_canon::unescape_segment;

use super::{Code, Protocol};
use crate::alx::{Capabilities, ErrorEnvelope};
use crate::wire::{DecodeError, DecodeErrorKind, Object, Value, Wire};

/// A refusal or an error.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
#[non_exhaustive]
pub struct Failure {
    /// The code.
    pub code: Code,
    /// What happened, for people.
    pub message: String,
    /// JSON pointer of the refused place; empty for the whole document.
    pub pointer: Option<String>,
    /// A suggestion that is more specific than the code's own.
    pub suggestion: Option<String>,
    /// Details for programs, under the names of the protocol. Boxed, so that a failure is small.
    pub details: Option<Box<Object>>,
}

/// The exchange that a failure ends: the values that its body repeats.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exchange {
    /// The id that joins the answer to its request.
    pub correlation_id: String,
    /// What the server says that it can do.
    pub capabilities: Capabilities,
}

impl Failure {
    /// A failure with only a code and a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), pointer: None, suggestion: None, details: None }
    }

    /// Sets the place in the document.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Sets the suggestion.
    #[must_use]
    pub fn suggesting(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Adds a detail for programs.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        let details = self.details.get_or_insert_default();
        details.insert(name.into(), value.into());
        self
    }

    /// The error body for a protocol's clients: the ALX envelope on every surface.
    pub fn body(&self, protocol: Protocol, exchange: Exchange) -> Value {
        let mut envelope = ErrorEnvelope::from_failure(self, exchange);
        let extra = &mut envelope.error.extra;
        if let Some(details) = &self.details {
            extra.extend((**details).clone());
        }
        // AGENTIC-R-047: an error names the field. The pointer says the same to programs.
        if protocol.has_agentic_errors()
            && let Some(pointer) = self.pointer.as_ref().filter(|place| !place.is_empty())
        {
            extra.insert("field".into(), field_name(pointer).into());
            extra.insert("pointer".into(), pointer.as_str().into());
        }
        envelope.encode()
    }
}

/// A pointer as people write it: `created_by.type`, `tags.0`.
fn field_name(pointer: &str) -> String {
    let path = pointer.strip_prefix('/').unwrap_or(pointer);
    path.split('/').map(unescape_segment).collect::<Vec<_>>().join(".")
}

impl From<DecodeErrorKind> for Code {
    fn from(kind: DecodeErrorKind) -> Self {
        match kind {
            DecodeErrorKind::Missing => Self::WireFieldMissing,
            DecodeErrorKind::Type => Self::WireFieldType,
            DecodeErrorKind::Value | DecodeErrorKind::TooLong | DecodeErrorKind::TooMany => {
                Self::WireFieldValue
            }
            DecodeErrorKind::Unknown => Self::WireFieldUnknown,
        }
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        Self::new(error.kind.into(), error.to_string()).at(error.pointer)
    }
}

impl From<accord_canon::Refusal> for Code {
    fn from(refusal: accord_canon::Refusal) -> Self {
        use accord_canon::Refusal;
        match refusal {
            Refusal::InvalidJson => Self::CanonInvalidJson,
            Refusal::InvalidUtf8 => Self::CanonInvalidUtf8,
            Refusal::DuplicateKey => Self::CanonDuplicateKey,
            Refusal::LoneSurrogate => Self::CanonLoneSurrogate,
            Refusal::NullForbidden => Self::CanonNullForbidden,
            Refusal::NonFinite => Self::CanonNonFinite,
            Refusal::InexactInteger => Self::CanonInexactInteger,
            Refusal::TooDeep => Self::CanonTooDeep,
        }
    }
}

impl From<accord_canon::CanonError> for Failure {
    fn from(error: accord_canon::CanonError) -> Self {
        Self::new(error.refusal().into(), error.to_string()).at(error.pointer())
    }
}
