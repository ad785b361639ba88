//! Wire messages, declared once. [`message!`](crate::message) and [`wire_enum!`](crate::wire_enum)
//! make a Rust type, a strict reader whose errors name the place as a JSON pointer, a writer, an
//! entry of a contract snapshot ([`snapshot_fields`]) and a JSON Schema ([`json_schema`]).
//!
//! Invariants:
//! * Absent, `null` and a value are different ([`Field`]), in reading and in writing.
//! * An open message writes unknown members (`extra`) back; a closed one refuses them.
//! * An alias is written from its canonical member and never read.
//! * A number keeps its value within 64 bits and doubles, but not its spelling. So hashed text is
//!   never written from here.

mod alias;
mod describe;
mod enumeration;
mod equality;
mod error;
mod field;
mod form;
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
#[doc(hidden)]
pub use form::check_limits;
pub use form::{FormError, Limits, TextForm};
pub use message::Message;
#[doc(hidden)]
pub use message::refuse_rest;
pub use pointer::Pointer;
pub use schema::{json_schema, shape_schema};
pub use shape::{Alias, EnumShape, FieldShape, MessageShape, Shape, about};
pub use values::{False, Ratio, True, count_of, integer_of};

/// The members of a JSON object, in their order.
pub type Object = serde_json::Map<String, Value>;

/// A value that was read, or why it is refused.
pub type Decoded<T> = Result<T, DecodeError>;

/// A value with one form on the wire.
pub trait Wire: Sized {
    /// The wire form, as data.
    fn shape() -> Shape;

    /// Reads the wire form; `at` is the place of `value` in its document.
    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError>;

    /// Writes the wire form.
    fn write(&self, form: Form) -> Value;

    /// Reads a whole document.
    fn from_document(document: Value) -> Result<Self, DecodeError> {
        Self::decode(document, &Pointer::Root)
    }

    /// Reads a document of a later version: unknown members of closed messages are ignored.
    fn from_answer(document: Value) -> Result<Self, DecodeError> {
        Self::decode(document, &Pointer::Answer)
    }

    /// Writes everything: known members, aliases and unknown members.
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
