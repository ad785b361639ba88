//! Adds, replaces and removes top-level members of an object in its text.
//!
//! Invariant: bytes that are not part of a named member stay as they are.

use std::ops::Range;

use accord_canon::{CanonError, Canonicalizer, Part, Profile};

use super::quoted;

/// Finds a top-level member; `None` when the object has none of that name, or the
/// document is not an object.
pub(crate) fn member(text: &str, name: &str) -> Result<Option<Range<usize>>, CanonError> {
    let mut canonicalizer = Canonicalizer::new(Profile::Agentic);
    let part = |key: &str| {
        if key == name { Part::Raw } else { Part::Ignored }
    };
    let projection = canonicalizer.project(text.as_bytes(), part)?;
    let found = projection.and_then(|projection| projection.raw(name));
    Ok(found.map(|(value, start)| start..start + value.len()))
}

/// The text with other values for some members, which must exist.
pub(crate) fn replace(text: &str, values: &[(&str, &str)]) -> Result<String, CanonError> {
    let mut changed = text.to_owned();
    for (name, value) in values {
        // Found again each time, because a replacement moves what follows it.
        if let Some(found) = member(&changed, name)? {
            changed.replace_range(found, value);
        }
    }
    Ok(changed)
}

/// The text without a member that was found in it.
pub(crate) fn without(text: &str, found: &Range<usize>) -> String {
    let bytes = text.as_bytes();
    let space = |byte: u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
    let back_over_space = |mut end: usize| {
        while space(bytes[end - 1]) {
            end -= 1;
        }
        end
    };
    // Before the value are a colon and the key in quotes. No removed name contains a quote, however
    // it is escaped.
    let colon = back_over_space(found.start) - 1;
    let closing = back_over_space(colon) - 1;
    let opening = bytes[..closing].iter().rposition(|byte| *byte == b'"');
    let key = opening.expect("a member has a key in quotes");
    let before = back_over_space(key) - 1;
    let (start, end) = if bytes[before] == b',' {
        (before, found.end)
    } else {
        // The first member is removed with the comma that follows it.
        let rest = &bytes[found.end..];
        let comma = rest.iter().position(|byte| !space(*byte));
        let comma = comma.filter(|place| rest[*place] == b',');
        (key, found.end + comma.map_or(0, |place| place + 1))
    };
    format!("{}{}", &text[..start], &text[end..])
}

/// The text of an object with one more member at the end. Removing it restores the text.
pub(crate) fn append(text: &str, name: &str, value: &str) -> String {
    // The text is an object, so its last brace closes it.
    let brace = text.rfind('}').unwrap_or(text.len());
    let inside = text[..brace].trim_end();
    let comma = if inside.ends_with('{') { "" } else { "," };
    format!("{inside}{comma}{}:{value}{}", quoted(name), &text[inside.len()..])
}

/// The text of an object with one more member at the start.
pub(crate) fn insert_first(text: &str, name: &str, value: &str) -> String {
    let start = text.trim_start();
    let inside = start.strip_prefix('{').unwrap_or(start);
    let comma = if inside.trim_start().starts_with('}') { "" } else { "," };
    format!("{{{}:{value}{comma}{inside}", quoted(name))
}

/// The text without white space between its tokens, on one line; every token is kept.
pub fn compact(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for character in text.chars() {
        if quoted {
            kept.push(character);
            quoted = escaped || character != '"';
            escaped = character == '\\' && !escaped;
        } else if !matches!(character, ' ' | '\n' | '\t' | '\r') {
            kept.push(character);
            quoted = character == '"';
        }
    }
    kept
}
