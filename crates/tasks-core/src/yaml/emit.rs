//! Writing values as the lines of a block.

use accord_contract::{Object, Value};

use super::scalar;

/// The indentation of a nested block.
const STEP: usize = 2;

/// A value that stands on the line of its key.
pub(super) fn inline(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(scalar::text(text)),
        Value::Array(items) if items.is_empty() => Some("[]".into()),
        Value::Object(members) if members.is_empty() => Some("{}".into()),
        Value::Array(_) | Value::Object(_) => None,
        // JSON's spelling of null, booleans and numbers is YAML's.
        other => Some(other.to_string()),
    }
}

/// A member, as whole lines.
pub(super) fn member(key: &str, value: &Value, indent: usize, into: &mut String) {
    push_indent(indent, into);
    scalar::push(key, into);
    into.push(':');
    match value {
        Value::String(text) => {
            into.push(' ');
            scalar::push(text, into);
            into.push('\n');
        }
        value => match inline(value) {
            Some(text) => into.extend([" ", &text, "\n"]),
            None => {
                into.push('\n');
                block(value, indent + STEP, into);
            }
        },
    }
}

/// The members of a mapping, as whole lines.
pub(super) fn members(object: &Object, indent: usize, into: &mut String) {
    for (key, value) in object {
        member(key, value, indent, into);
    }
}

/// A collection that is not empty, as whole lines.
pub(super) fn block(value: &Value, indent: usize, into: &mut String) {
    match value {
        Value::Object(object) => members(object, indent, into),
        Value::Array(items) => {
            for item in items {
                push_indent(indent, into);
                match inline(item) {
                    Some(text) => into.push_str(&format!("- {text}\n")),
                    None => {
                        // The first line of the nested block follows the dash.
                        let mut nested = String::new();
                        block(item, indent + STEP, &mut nested);
                        into.push_str("- ");
                        into.push_str(nested.trim_start_matches(' '));
                    }
                }
            }
        }
        _ => {}
    }
}

fn push_indent(indent: usize, into: &mut String) {
    into.extend(std::iter::repeat_n(' ', indent));
}
