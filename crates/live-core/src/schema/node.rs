//! A compiled schema, as a tree.

use std::{collections::BTreeMap, fmt};

use accord_contract::{Value, wire::Number};

use super::{formats::Format, pattern::Pattern};

/// One schema. Rules about one JSON type are absent where it has none.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The schema `false`: it accepts nothing.
    pub(super) is_never: bool,
    /// The types that are accepted; all, if the schema names none.
    pub(super) types: Option<Types>,
    pub(super) values: Option<Vec<Value>>,
    pub(super) constant: Option<Value>,
    pub(super) numbers: Option<Box<Numbers>>,
    pub(super) texts: Option<Box<Texts>>,
    pub(super) lists: Option<Box<Lists>>,
    pub(super) objects: Option<Box<Objects>>,
    pub(super) all: Vec<Self>,
    pub(super) any: Vec<Self>,
    pub(super) one: Vec<Self>,
    pub(super) not: Option<Box<Self>>,
}

#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
    pub(super) above: Option<Number>,
    pub(super) below: Option<Number>,
    pub(super) multiple_of: Option<f64>,
    pub(super) format: Option<&'static Format>,
}

#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
    pub(super) pattern: Option<Pattern>,
    pub(super) format: Option<&'static Format>,
}

#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) items: Option<Node>,
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
    pub(super) is_unique: bool,
}

#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) properties: BTreeMap<String, Node>,
    pub(super) patterns: Vec<(Pattern, Node)>,
    pub(super) required: Vec<String>,
    /// What members must be that are not declared; anything, if absent.
    pub(super) additional: Option<Node>,
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Types(u8);

/// The names of types, in the order of their bits. An integer is also a number.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

impl Types {
    pub(super) const NONE: Self = Self(0);

    pub(super) fn named(name: &str) -> Option<Self> {
        TYPES.iter().position(|known| *known == name).map(|bit| Self(1 << bit))
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn has_all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a value has one of the types. A number without a fraction is an integer.
    pub(super) fn accept(self, value: &Value) -> bool {
        let bit = |name| Self::named(name).is_some_and(|bit| self.has_all(bit));
        match value {
            Value::Null => bit("null"),
            Value::Bool(_) => bit("boolean"),
            Value::Number(number) => bit("number") || (bit("integer") && is_whole(number)),
            Value::String(_) => bit("string"),
            Value::Array(_) => bit("array"),
            Value::Object(_) => bit("object"),
        }
    }
}

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = TYPES.iter().enumerate().filter(|(bit, _)| self.0 & (1 << bit) != 0);
        let names: Vec<_> = named.map(|(_, name)| *name).collect();
        f.write_str(&names.join(" | "))
    }
}

pub(super) fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|value| value.fract() == 0.0)
}
