//! The JSON types that a place of a contract may have.

use std::collections::BTreeSet;

use crate::wire::{DecodeError, DecodeErrorKind, EnumShape, Form, Pointer, Shape, Value, Wire};

/// The JSON types that a place may have: one name, or a list of them in any order.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct JsonTypes(BTreeSet<String>);

impl JsonTypes {
    /// The types as text for people.
    pub(super) fn in_words(&self) -> String {
        let names: Vec<_> = self.0.iter().map(String::as_str).collect();
        names.join(" or ")
    }

    /// Removes null, unless it is the only type, and returns whether it was included.
    pub(super) fn take_null(&mut self) -> bool {
        let found = self.0.contains(NULL);
        // A member that is always null has no other type, and an empty set is no type.
        if self.0.len() > 1 {
            self.0.remove(NULL);
        }
        found
    }
}

const NULL: &str = "null";

/// The types that a snapshot may name.
const NAMES: [&str; 8] = ["any", "array", "boolean", "integer", NULL, "number", "object", "string"];

impl Wire for JsonTypes {
    fn shape() -> Shape {
        Shape::Any
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        match value {
            Value::String(name) => type_name(name, at).map(|name| Self(BTreeSet::from([name]))),
            Value::Array(names) if names.is_empty() => {
                let (expected, found) = ("at least one type".into(), "an empty list".into());
                Err(DecodeError::new(at, DecodeErrorKind::Value, expected, found))
            }
            Value::Array(names) => {
                let names = names.into_iter().enumerate().map(|(index, name)| {
                    let at = at.index(index);
                    type_name(String::decode(name, &at)?, &at)
                });
                names.collect::<Result<_, _>>().map(Self)
            }
            other => Err(DecodeError::wrong_type(at, &Shape::Text, &other)),
        }
    }

    fn write(&self, _: Form) -> Value {
        match self.0.first() {
            Some(only) if self.0.len() == 1 => only.clone().into(),
            _ => self.0.iter().cloned().collect(),
        }
    }
}

fn type_name(name: String, at: &Pointer<'_>) -> Result<String, DecodeError> {
    if NAMES.contains(&name.as_str()) {
        return Ok(name);
    }
    let known = Shape::Enum(EnumShape { name: "JsonType", open: false, members: NAMES.into() });
    Err(DecodeError::wrong_value(at, &known, &name.into()))
}
