//! Limits what a report keeps of long values, so that memory does not grow with them.

use accord_contract::Value;

/// The value, or the beginning of its JSON text with the length of the whole.
pub(crate) fn value(value: Value) -> (Value, Option<u64>) {
    // Measured as text, because that is what a report and its memory grow with.
    let text = value.to_string();
    match text.len() {
        0..=KEPT => (value, None),
        length => (Value::String(beginning(&text).to_owned()), Some(length as u64)),
    }
}

/// The text, or its beginning with the length of the whole.
pub(crate) fn text(text: String) -> String {
    match text.len() {
        0..=KEPT => text,
        length => format!("{}… (cut, {length} bytes)", beginning(&text)),
    }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(KEPT)]
}

/// Enough to read, and small enough for hundreds of cases.
const KEPT: usize = 16 * 1024;
