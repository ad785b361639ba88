//! The rules of context slots.

use accord_contract::{Object, Value, rule};

use super::ContextEntry;
use crate::{reserved, schema::Schema, violation::Violation};

/// Names that would change the prototype of an object in a page.
const FORBIDDEN: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// Clauses: GGUI-CONTRACT-CONTEXT-KEYS, GGUI-CONTRACT-CONTEXT-DEFAULT.
pub(super) fn check(
    name: &str,
    entry: &ContextEntry,
    schema: Option<&Schema>,
    is_prop: bool,
) -> Vec<Violation> {
    let field = format!("contextSpec.{name}");
    let refuse = |message: String, expected: &str, received: &str| {
        vec![Violation::new(&field, message).expecting(expected, received)]
    };
    if rule!(FORBIDDEN.contains(&name); PrototypeSlots => false) {
        let message = format!("'{name}' cannot be the name of a slot");
        return refuse(message, "another name", name);
    }
    // A reserved name has a violation of its own.
    if !is_identifier(name) && !reserved::is_reserved(name) {
        let message = "a slot has a name of letters, digits and underscores, without a digit at \
                       the beginning";
        return refuse(message.to_owned(), "an identifier", name);
    }
    if is_prop {
        let message = format!("'{name}' is also the name of a prop");
        return refuse(message, "a name that no prop has", name);
    }
    if derived_default(entry).is_none() {
        let message = "the first value of the slot does not follow from its schema; set default";
        return refuse(message.to_owned(), "a default", "undefined");
    }
    match (schema, &entry.default) {
        (Some(schema), Some(value)) => schema.check(value, &format!("{field}.default")),
        _ => Vec::new(),
    }
}

fn is_identifier(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| letter(c) && !c.is_ascii_digit()) && name.chars().all(letter)
}

/// The first value of a slot: its default, or the empty value of the one type of its schema.
pub fn derived_default(entry: &ContextEntry) -> Option<Value> {
    first_value(entry.default.as_ref(), &entry.schema)
}

/// The same, from the members of the entry.
pub(crate) fn first_value(default: Option<&Value>, schema: &Value) -> Option<Value> {
    if default.is_some() {
        return default.cloned();
    }
    match schema.get("type")?.as_str()? {
        "string" => Some("".into()),
        "number" | "integer" => Some(0.into()),
        "boolean" => Some(false.into()),
        "array" => Some(Value::Array(Vec::new())),
        "object" => Some(Value::Object(Object::new())),
        "null" => Some(Value::Null),
        _ => None,
    }
}
