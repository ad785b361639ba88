//! Why a document is not a valid message.

use serde_json::Value;

use super::{Pointer, Shape};
use crate::text::excerpt;

/// A place in a document that does not match the message.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}: expected {expected}, found {found}", place(pointer))]
#[non_exhaustive]
pub struct DecodeError {
    /// JSON pointer of the place; empty for the whole document.
    pub pointer: String,
    /// The kind of mismatch; decides the failure code.
    pub kind: DecodeErrorKind,
    /// What the message requires there, in words.
    pub expected: String,
    /// What was found there, in words.
    pub found: String,
}

/// The kinds of mismatch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DecodeErrorKind {
    /// A required member is not there.
    Missing,
    /// The value has another JSON type.
    Type,
    /// The JSON type is right and the value is not one that is allowed.
    Value,
    /// A closed message has a member that it does not know.
    Unknown,
    /// A text has more bytes than its member allows.
    TooLong,
    /// A list has more items than its member allows.
    TooMany,
}

impl DecodeErrorKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Missing, Self::Type, Self::Value, Self::Unknown, Self::TooLong, Self::TooMany];
}

impl DecodeError {
    /// A required member that is not there.
    pub fn missing(at: &Pointer<'_>, shape: &Shape) -> Self {
        Self::new(at, DecodeErrorKind::Missing, shape.in_words(), "nothing".into())
    }

    /// A value of another JSON type than the shape has.
    pub fn wrong_type(at: &Pointer<'_>, shape: &Shape, found: &Value) -> Self {
        Self::new(at, DecodeErrorKind::Type, shape.in_words(), json_type(found).into())
    }

    /// A value of the right JSON type that the shape does not allow.
    pub fn wrong_value(at: &Pointer<'_>, shape: &Shape, found: &Value) -> Self {
        Self::new(at, DecodeErrorKind::Value, shape.in_words(), describe(found))
    }

    /// A member that a closed message does not know.
    pub fn unknown(at: &Pointer<'_>, found: &Value) -> Self {
        let expected = "no member of this name".into();
        Self::new(at, DecodeErrorKind::Unknown, expected, json_type(found).into())
    }

    pub(crate) fn new(
        at: &Pointer<'_>,
        kind: DecodeErrorKind,
        expected: String,
        found: String,
    ) -> Self {
        Self { pointer: at.to_string(), kind, expected, found }
    }
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "the document" } else { pointer }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The type of a list or an object; the beginning of any other value.
fn describe(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => json_type(value).into(),
        scalar => excerpt(&scalar.to_string(), 60),
    }
}
