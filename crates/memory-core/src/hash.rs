//! The content hash of a package.

use std::fmt;
use std::str::FromStr;

use accord_canon::{CanonError, Canonicalizer, Digest, Profile, sha256};
use accord_contract::wire::{DecodeError, Form, Pointer, Shape};
use accord_contract::{TextForm, Value, Wire};

const PREFIX: &str = "sha256:";

/// SHA-256 over a package's canonical form, written `sha256:` and 64 digits.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ContentHash(Digest);

#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a content hash is sha256: and 64 lowercase hexadecimal digits")]
pub struct ContentHashError;

impl ContentHash {
    /// The hash of the package in `text`. It does not depend on white space, the order and spelling
    /// of members, or members that are `null`.
    /// Clauses: AGENTIC-R-026, AGENTIC-R-035.
    pub fn of(text: &[u8]) -> Result<Self, CanonError> {
        let mut canonicalizer = Canonicalizer::new(Profile::Agentic);
        Ok(Self(sha256(canonicalizer.canonicalize(text)?)))
    }

    pub fn digest(&self) -> &Digest {
        &self.0
    }
}

impl From<Digest> for ContentHash {
    fn from(digest: Digest) -> Self {
        Self(digest)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PREFIX}{}", self.0.hex())
    }
}

impl FromStr for ContentHash {
    type Err = ContentHashError;

    fn from_str(text: &str) -> Result<Self, ContentHashError> {
        let digits = text.strip_prefix(PREFIX).ok_or(ContentHashError)?;
        if digits.len() != 64 {
            return Err(ContentHashError);
        }
        digits.parse().map(Self).map_err(|_| ContentHashError)
    }
}

impl Wire for ContentHash {
    fn shape() -> Shape {
        let form = TextForm::ANY.pattern("^sha256:[0-9a-f]{64}$");
        Shape::Form(form)
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        let text = String::decode(value, at)?;
        text.parse().map_err(|error: ContentHashError| {
            let mut refused = DecodeError::wrong_value(at, &Shape::Text, &text.into());
            refused.expected = error.to_string();
            refused
        })
    }

    fn write(&self, _: Form) -> Value {
        self.to_string().into()
    }
}
