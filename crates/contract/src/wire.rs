//! Wire messages, declared once.
//!
//! [`message!`](crate::message) and [`wire_enum!`](crate::wire_enum) turn one
//! declaration into a Rust type, a strict reader whose errors name the place as
//! a JSON pointer, a writer, a contract snapshot entry ([`snapshot_fields`]) and
//! a JSON Schema ([`json_schema`]).
//!
//! Invariants:
//! * Absent, `null` and a value are three things ([`Field`]); none becomes another
//!   by being read and written.
//! * An open message keeps the members that it does not know in `extra`, at the
//!   level where they stood, and writes them back. A closed one refuses them.
//! * An alias is written from its canonical place and dropped unread: whatever a
//!   sender puts there, or leaves out, reading gives the same value.
//! * A number is a [`serde_json::Number`]: an integer of 64 bits and a double come
//!   through as the numbers that they are, and a non-finite one cannot be written.
//!   Their spelling does not (`1.10` is written `1.1`), and an integer past 64 bits
//!   becomes the nearest double. What is hashed is therefore never written from here.

mod alias;
mod describe;
mod enumeration;
mod equality;
mod error;
mod field;
mod message;
mod pointer;
mod schema;
mod shape;
mod values;

pub use serde_json::{Number, Value};

pub use crate::{message, wire_enum};
pub use alias::{AliasCheck, AliasState, check_aliases};
pub use describe::snapshot_fields;
pub use enumeration::{Extensible, Names};
#[doc(hidden)]
pub use enumeration::{decode_name, names_shape};
pub(crate) use equality::identity_text;
pub use equality::{compare_numbers, same};
pub use error::{DecodeError, DecodeErrorKind};
#[doc(hidden)]
pub use field::presence;
pub use field::{Field, Presence};
pub use message::Message;
#[doc(hidden)]
pub use message::refuse_rest;
pub use pointer::Pointer;
pub use schema::json_schema;
pub use shape::{Alias, EnumShape, FieldShape, MessageShape, Shape, about};
pub use values::{False, Ratio, True, count_of, integer_of};

/// The members of a JSON object, in the order in which they stood.
pub type Object = serde_json::Map<String, Value>;

/// A value that has one form on the wire.
pub trait Wire: Sized {
    /// What the wire form looks like.
    fn shape() -> Shape;

    /// Reads the wire form; `at` is where `value` stands in its document.
    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError>;

    /// Writes the wire form, whole or reduced to what its contract names.
    fn write(&self, form: Form) -> Value;

    /// Reads a whole document.
    fn from_document(document: Value) -> Result<Self, DecodeError> {
        Self::decode(document, &Pointer::Root)
    }

    /// Writes everything: known members, aliases, and what came in unknown.
    fn encode(&self) -> Value {
        self.write(Form::Document)
    }

    /// Writes only the canonical members that the contract names.
    fn view(&self) -> Value {
        self.write(Form::View)
    }
}

/// How much [`Wire::write`] writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// Everything that belongs on the wire, aliases and unknown members included.
    Document,
    /// The canonical members alone.
    View,
}
