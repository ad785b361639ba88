//! What a value must be, in words for people, from its JSON Schema.

use accord_api::{Location, Parameter};
use accord_contract::Value;
use accord_contract::wire::shape_schema;

/// How the words are written.
pub(super) struct Writer<'w> {
    pub(super) text: &'w dyn Fn(&str) -> String,
    /// Refers to the description of a message.
    pub(super) link: &'w dyn Fn(&str) -> String,
}

/// Where a parameter is sent, and whether it must be.
pub(super) fn place(parameter: &Parameter) -> &'static str {
    match (parameter.location, parameter.required) {
        (Location::Path, _) => "path",
        (Location::Query, false) => "query",
        (Location::Query, true) => "query, required",
        (Location::Header, _) => "header",
    }
}

/// What the value of a parameter must be.
pub(super) fn of_parameter(parameter: &Parameter) -> String {
    let mut schema = shape_schema(&parameter.shape);
    if let Some(default) = &parameter.default {
        schema["default"] = default.clone();
    }
    let writer = Writer { text: &str::to_owned, link: &str::to_owned };
    of_schema(&schema, &writer)
}

/// What a schema allows.
pub(super) fn of_schema(schema: &Value, writer: &Writer<'_>) -> String {
    if let Some(place) = schema["$ref"].as_str() {
        return (writer.link)(place.rsplit('/').next().unwrap_or_default());
    }
    if let Some(options) = schema["anyOf"].as_array() {
        let options: Vec<_> = options.iter().map(|option| of_schema(option, writer)).collect();
        return options.join(" or ");
    }
    let text = |words: String| (writer.text)(&words);
    let mut words = match schema["type"].as_str() {
        _ if schema["enum"].is_array() => {
            let names = schema["enum"].as_array().into_iter().flatten();
            let names: Vec<_> = names.map(plain).collect();
            text(format!("one of {}", names.join(", ")))
        }
        _ if schema.get("const").is_some() => text(plain(&schema["const"])),
        Some("array") => {
            let size = match (schema["minItems"].as_u64(), schema["maxItems"].as_u64()) {
                (None, None) => "a list".to_owned(),
                (None, Some(most)) => format!("a list of at most {most} items"),
                (Some(least), None) => format!("a list of at least {least} item"),
                (Some(least), Some(most)) => format!("a list of {least} to {most} items"),
            };
            format!("{size}, each: {}", of_schema(&schema["items"], writer))
        }
        Some("string") => text(format!("string{}", of_string(schema))),
        Some(kind @ ("integer" | "number")) => text(format!("{kind}{}", of_number(schema))),
        Some(kind) => text(kind.to_owned()),
        None => "any value".to_owned(),
    };
    if let Some(default) = schema.get("default") {
        words.push_str(&text(format!("; default {}", plain(default))));
    }
    words
}

fn of_string(schema: &Value) -> String {
    let mut words = match (schema["minLength"].as_u64(), schema["maxLength"].as_u64()) {
        (None, None) => String::new(),
        (Some(least), None) => format!(" of at least {least} character"),
        (None, Some(most)) => format!(" of at most {most} characters"),
        (Some(least), Some(most)) => format!(" of {least} to {most} characters"),
    };
    match (schema["format"].as_str(), schema["pattern"].as_str()) {
        (Some("date-time"), _) => words.push_str(", a time in UTC"),
        (Some(format), _) => words.push_str(&format!(", {format}")),
        (None, Some("^[^\\u0000]*$")) => words.push_str(", without U+0000"),
        (None, Some(pattern)) => words.push_str(&format!(", matching {pattern}")),
        (None, None) => {}
    }
    if let Some(examples) = schema["examples"].as_array() {
        let examples: Vec<_> = examples.iter().map(plain).collect();
        words.push_str(&format!(", such as {}", examples.join(", ")));
    }
    words
}

fn of_number(schema: &Value) -> String {
    match (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
        (None, None) => String::new(),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of at most {most}"),
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
    }
}

/// A value as people write it: a text without its quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
