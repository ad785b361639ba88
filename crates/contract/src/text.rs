//! Texts for files and messages.

use crate::wire::Object;

/// At most `longest` characters of a text, followed by its length in bytes if it has more. A
/// hostile value must not fill a log or a report.
pub fn excerpt(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
    }
}

/// A number with its noun.
pub fn counted(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

/// A document in the form of files: indented by two spaces, with a line end.
pub fn pretty(document: &Object) -> String {
    let text = serde_json::to_string_pretty(document);
    text.expect("an object of JSON values can be written") + "\n"
}
