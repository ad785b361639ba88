//! Inputs for fuzz targets that are almost valid, so that they get past the first syntax check.

use accord_canon::escape_segment;
use serde_json::{Value, json};

/// A document with some values replaced: two bytes choose a value, the third the change.
pub fn mutate(document: &Value, bytes: &[u8]) -> Value {
    let mut document = document.clone();
    for change in bytes.chunks_exact(3) {
        let mut pointer = String::new();
        for step in &change[..2] {
            let step = usize::from(*step);
            match document.pointer(&pointer) {
                Some(Value::Object(members)) if !members.is_empty() => {
                    let name = members.keys().nth(step % members.len());
                    let name = name.map(|name| escape_segment(name)).unwrap_or_default();
                    pointer = format!("{pointer}/{name}");
                }
                Some(Value::Array(items)) if !items.is_empty() => {
                    pointer = format!("{pointer}/{}", step % items.len());
                }
                _ => break,
            }
        }
        if let Some(value) = document.pointer_mut(&pointer) {
            *value = replacement(change[2], value);
        }
    }
    document
}

fn replacement(choice: u8, value: &Value) -> Value {
    match choice % 16 {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(0),
        3 => json!(-1),
        4 => json!(u64::MAX),
        5 => json!(1.5),
        6 => json!(""),
        7 => json!("x"),
        8 => json!("../outside"),
        9 => json!("a\u{0}\u{7f}\u{1f600}"),
        10 => json!([]),
        11 => json!({}),
        12 => json!([value, value]),
        13 => json!({"a": value}),
        14 => json!([null]),
        _ => json!(value.to_string()),
    }
}

/// A text out of pieces, one per byte.
pub fn assemble(pieces: &[&str], bytes: &[u8]) -> String {
    let pieces = bytes.iter().map(|byte| pieces[usize::from(*byte) % pieces.len()]);
    pieces.collect()
}
