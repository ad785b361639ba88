//! What a schema allows, in words.

use accord_contract::Value;

use super::pattern::sentence;
use crate::text::AgentText;

/// What a schema says about its values, for people. A list that need not be there can be empty.
pub(super) fn hint(schema: &Value, kind: &str, required: bool) -> String {
    let mut parts = Vec::new();
    match kind {
        "integer" => parts.push("a whole number".to_owned()),
        "json" => parts.push("enter it as JSON".to_owned()),
        _ => {}
    }
    let bound = |name: &str| schema.get(name).filter(|value| value.is_number());
    for (name, word) in [
        ("minimum", "at least"),
        ("maximum", "at most"),
        ("exclusiveMinimum", "more than"),
        ("exclusiveMaximum", "less than"),
        ("multipleOf", "a multiple of"),
    ] {
        parts.extend(bound(name).map(|value| format!("{word} {value}")));
    }
    let count = |name: &str| schema.get(name).and_then(Value::as_u64);
    for (least, most, what) in
        [("minLength", "maxLength", "characters"), ("minItems", "maxItems", "entries")]
    {
        let named = |count: u64| {
            let one = if what == "entries" { "entry" } else { "character" };
            format!("{count} {}", if count == 1 { one } else { what })
        };
        let least = count(least).filter(|least| *least > 0);
        let words = match (least, count(most)) {
            (Some(least), Some(most)) if least == most => Some(named(least)),
            (Some(least), Some(most)) => Some(format!("{least} to {}", named(most))),
            (Some(least), None) => Some(format!("at least {}", named(least))),
            (None, Some(most)) => Some(format!("at most {}", named(most))),
            (None, None) => None,
        };
        let or_none = kind == "list" && !required && least.is_some();
        parts.extend(words.map(|words| if or_none { format!("none, or {words}") } else { words }));
    }
    if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
        parts.push("no entry twice".to_owned());
    }
    let text = |name: &str| schema.get(name).and_then(Value::as_str);
    parts.extend(text("format").map(|format| plain(format_words(format))));
    parts.extend(text("pattern").map(pattern_words));
    let example = schema.get("example").or_else(|| schema.get("examples")?.get(0));
    parts.extend(example.map(|example| format!("for example {}", plain_value(example))));
    let mut words = parts.join(", ");
    if let Some(first) = words.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// The form of a text, in words. The pattern itself stands beside them.
fn pattern_words(pattern: &str) -> String {
    match sentence(pattern) {
        Some(words) => plain(&words),
        None => "in a form that the agent has set".to_owned(),
    }
}

fn format_words(format: &str) -> &str {
    match format {
        "date" => "a date",
        "date-time" | "iso-date-time" => "a date and a time",
        "time" | "iso-time" => "a time with its offset, such as 14:30:00Z",
        "duration" => "a duration, such as PT15M",
        "email" => "an email address",
        "uri" | "url" => "a URL, such as https://example.org/",
        "uuid" => "a UUID",
        "ipv4" | "ipv6" => "an IP address",
        "hostname" => "a host name",
        "password" => "a secret",
        other => other,
    }
}

fn plain(text: &str) -> String {
    AgentText::new(text).plain()
}

fn plain_value(value: &Value) -> String {
    match value {
        Value::String(text) => plain(text),
        other => plain(&other.to_string()),
    }
}
