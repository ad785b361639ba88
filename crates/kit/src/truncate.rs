//! What a report keeps of something that may be long, so that a run's memory does not grow with
//! what adapters say.

use accord_contract::wire::Value;

/// The value itself, or the beginning of its JSON text with the length of the whole.
pub(crate) fn value(value: Value) -> (Value, Option<u64>) {
    let text = value.to_string();
    match text.len() {
        0..=KEPT => (value, None),
        length => (
            Value::String(beginning(&text).to_owned()),
            Some(length as u64),
        ),
    }
}

/// The text itself, or its beginning with a word about the rest.
pub(crate) fn text(text: String) -> String {
    match text.len() {
        0..=KEPT => text,
        length => format!("{}… (cut, {length} bytes)", beginning(&text)),
    }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(KEPT)]
}

/// Enough for anybody who reads it, and for hundreds of cases at once.
const KEPT: usize = 16 * 1024;
