//! The forms of settings files, and their values.

use accord_contract::Failure;
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::{Map, Value};

use crate::bytes::broken;

/// What a client can read in its settings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Dialect {
    /// JSON without comments: the client calls a file with one malformed.
    Strict,
    /// JSON with comments, without trailing commas.
    Comments,
    /// JSON with comments and trailing commas.
    Jsonc,
    Toml,
}

impl Dialect {
    pub(crate) fn options(self) -> ParseOptions {
        ParseOptions {
            allow_comments: self != Self::Strict,
            allow_trailing_commas: self == Self::Jsonc,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        }
    }

    /// The value of a text. An empty one is an empty object.
    pub(crate) fn value(self, path: &str, text: &str) -> Result<Value, Failure> {
        let value = match self {
            Self::Toml => toml_value(path, text)?,
            _ => parse_to_serde_value(text, &self.options()).map_err(|error| {
                let why = error.kind().to_string();
                broken(path, error.line_display(), error.column_display(), &why)
            })?,
        };
        match value {
            Value::Null if text.trim().is_empty() => Ok(Value::Object(Map::new())),
            Value::Object(_) => Ok(value),
            _ => Err(broken(path, 1, 1, "the document is not an object")),
        }
    }
}

fn toml_value(path: &str, text: &str) -> Result<Value, Failure> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.get(..at).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.rsplit('\n').next().map_or(0, |last| last.chars().count());
        broken(path, line, column, error.message())
    })?;
    Ok(json_of(toml::Value::Table(table)))
}

/// A TOML value as JSON. What JSON does not have becomes text that only compares.
fn json_of(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::from(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Boolean(flag) => Value::from(flag),
        toml::Value::Float(number) => Value::from(format!("float {:?}", number.to_bits())),
        toml::Value::Datetime(time) => Value::from(format!("time {time}")),
        toml::Value::Array(items) => items.into_iter().map(json_of).collect(),
        toml::Value::Table(table) => {
            let members = table.into_iter().map(|(name, value)| (name, json_of(value)));
            Value::Object(members.collect())
        }
    }
}

/// The value at a path of members.
pub(crate) fn get<'a>(value: &'a Value, keys: &[String]) -> Option<&'a Value> {
    keys.iter().try_fold(value, |value, key| value.get(key))
}
