//! Scalars: what a plain text means, and how a text must be written so that it stays a text.

use std::fmt::Write as _;

use accord_contract::Value;
use serde_json::Number;

/// What a plain scalar means in YAML 1.2's core schema. `None` for a number that JSON cannot hold.
pub(super) fn resolve(text: &str) -> Option<Value> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
        _ => {}
    }
    if is_not_finite(text) {
        return None;
    }
    if let Some(digits) = text.strip_prefix("0x").filter(|digits| !digits.is_empty()) {
        if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return u64::from_str_radix(digits, 16).ok().map(Value::from);
        }
    } else if let Some(digits) = text.strip_prefix("0o").filter(|digits| !digits.is_empty())
        && digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte))
    {
        return u64::from_str_radix(digits, 8).ok().map(Value::from);
    }
    if !is_number(text) {
        return Some(Value::from(text));
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let is_whole = unsigned.strip_prefix('-').unwrap_or(unsigned);
    if is_whole.bytes().all(|byte| byte.is_ascii_digit()) {
        let whole = unsigned.parse::<i64>().map(Number::from);
        if let Ok(number) = whole.or_else(|_| unsigned.parse::<u64>().map(Number::from)) {
            return Some(Value::Number(number));
        }
    }
    Number::from_f64(unsigned.parse().ok()?).map(Value::Number)
}

/// `.inf` and `.nan`, in the spellings of the core schema.
fn is_not_finite(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let exponent = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
    has_digits
        && digits(whole)
        && digits(fraction)
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}

/// A text as a scalar: plain if every parser reads it as this text, else between double quotes.
pub(super) fn text(text: &str) -> String {
    let mut scalar = String::with_capacity(text.len() + 2);
    push(text, &mut scalar);
    scalar
}

pub(super) fn push(text: &str, into: &mut String) {
    if is_plain(text) {
        return into.push_str(text);
    }
    into.push('"');
    for character in text.chars() {
        match character {
            '"' => into.push_str("\\\""),
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            // Line separators and the byte order mark, which a parser may treat as its own.
            control if control.is_control() || "\u{2028}\u{2029}\u{feff}".contains(control) => {
                let code = u32::from(control);
                let _ = match code {
                    0..=0xff => write!(into, "\\x{code:02x}"),
                    _ => write!(into, "\\u{code:04x}"),
                };
            }
            plain => into.push(plain),
        }
    }
    into.push('"');
}

/// Whether a text needs no quotes. Stricter than YAML, for readers of YAML 1.1, except about
/// timestamps, which the reference writes without quotes.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 10] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan"];
    let is_word = || WORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
    let is_safe =
        |character: char| character.is_alphanumeric() || "-_./@+ :,()'".contains(character);
    let begins_well = text.starts_with(|first: char| first.is_alphanumeric() || first == '_');
    begins_well
        && text.chars().all(is_safe)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !is_word()
        && (is_timestamp(text) || !looks_like_number(text))
}

/// Digits with separators, which YAML 1.1 may read as a number, a date or a time of day.
fn looks_like_number(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_digit() || b"_.:-+eExXoO".contains(&byte);
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0o"));
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    has_digit && (text.bytes().all(is_part) || hexadecimal.is_some() || is_number(text))
}

/// The form in which Accord and the reference write a time.
fn is_timestamp(text: &str) -> bool {
    text.len() > 19 && text.ends_with('Z') && text.as_bytes().get(10) == Some(&b'T')
}
