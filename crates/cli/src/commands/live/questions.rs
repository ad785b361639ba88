//! Questions for the data of an action, made from its schema.
//!
//! Invariants:
//! - Every value is checked with the schema when it is typed, as the channel will check it, so that
//!   a long answer is not refused at its end.
//! - What has no question of its own is typed as JSON.

use accord_contract::wire::{Object, Value};
use accord_live_core::schema::Schema;

use crate::error::CliError;
use crate::render::clean;

/// How deep objects are asked for member by member. What is deeper is typed as JSON.
const MOST_DEPTH: usize = 5;

/// A person who is asked.
pub(super) trait Person {
    /// Asks, and returns the line that was typed, without the spaces around it.
    fn line(&mut self, question: &str) -> Result<String, CliError>;
    /// Tells something.
    fn note(&mut self, text: &str);
}

/// Asks for a value that must be there.
pub(super) fn required(
    person: &mut dyn Person,
    name: &str,
    schema: &Value,
) -> Result<Value, CliError> {
    loop {
        if let Some(value) = asked(person, name, schema, true, 0)? {
            return Ok(value);
        }
        person.note("a value is needed");
    }
}

/// Asks for the members of an object.
pub(super) fn members(person: &mut dyn Person, schema: &Value) -> Result<Object, CliError> {
    object(person, "", schema, 0)
}

/// A value from its text, as a schema says. A text needs no quotes; anything else is JSON.
pub(super) fn value(text: &str, schema: &Value) -> Result<Value, String> {
    let schema = &plain(schema);
    let types = types(schema);
    let choices = schema["enum"].as_array().map_or(&[][..], Vec::as_slice);
    if let Some(choice) = choices.iter().find(|choice| written(choice) == text) {
        return Ok(choice.clone());
    }
    if types.is_empty() || types.contains(&"string") {
        return Ok(text.into());
    }
    if types == ["boolean"] {
        match text.to_lowercase().as_str() {
            "y" | "yes" => return Ok(true.into()),
            "n" | "no" => return Ok(false.into()),
            _ => {}
        }
    }
    serde_json::from_str(text).map_err(|_| match types == ["boolean"] {
        true => "expected yes or no".to_owned(),
        false => format!("expected {} as JSON", types.join(" or ")),
    })
}

/// Asks for a value; `None` if it was left out.
fn asked(
    person: &mut dyn Person,
    name: &str,
    schema: &Value,
    is_required: bool,
    depth: usize,
) -> Result<Option<Value>, CliError> {
    let schema = &plain(schema);
    if let Some(about) = schema["description"].as_str() {
        person.note(&format!("  {}", clean(about)));
    }
    let is_deep = depth >= MOST_DEPTH;
    match kind(schema) {
        Kind::Group if !is_deep => {
            if !is_required && !is_yes(&person.line(&format!("{}? [y/N] ", clean(name)))?) {
                return Ok(None);
            }
            object(person, name, schema, depth + 1).map(|members| Some(Value::Object(members)))
        }
        Kind::List if !is_deep => list(person, name, schema, is_required),
        _ => scalar(person, name, schema, is_required),
    }
}

fn object(
    person: &mut dyn Person,
    path: &str,
    schema: &Value,
    depth: usize,
) -> Result<Object, CliError> {
    let mut members = Object::new();
    let needed: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let is_required = needed.contains(&name.as_str());
        let given = loop {
            match asked(person, &place, property, is_required, depth)? {
                None if is_required => person.note("a value is needed"),
                given => break given,
            }
        };
        members.extend(given.map(|given| (name.clone(), given)));
    }
    Ok(members)
}

/// Asks for the entries of a list until one is empty.
fn list(
    person: &mut dyn Person,
    name: &str,
    schema: &Value,
    is_required: bool,
) -> Result<Option<Value>, CliError> {
    let items = &schema["items"];
    loop {
        let mut entries = Vec::new();
        loop {
            let label = format!("{} {}", clean(name), entries.len() + 1);
            let question = format!("{label}{}, empty to end: ", allowed(items));
            let typed = person.line(&question)?;
            if typed.is_empty() {
                break;
            }
            match checked(&typed, items) {
                Ok(entry) => entries.push(entry),
                Err(reason) => person.note(&reason),
            }
        }
        if entries.is_empty() && !is_required {
            return Ok(schema.get("default").cloned());
        }
        let entries = Value::Array(entries);
        match problem(&entries, schema) {
            None => return Ok(Some(entries)),
            Some(reason) => person.note(&format!("{reason}; type the entries again")),
        }
    }
}

fn scalar(
    person: &mut dyn Person,
    name: &str,
    schema: &Value,
    is_required: bool,
) -> Result<Option<Value>, CliError> {
    let default = schema.get("default").filter(|default| !default.is_null());
    let empty = match default {
        Some(default) => format!(" [{}]", written(default)),
        None if is_required => String::new(),
        None => ", empty for none".to_owned(),
    };
    let question = format!("{}{}{empty}: ", clean(name), allowed(schema));
    loop {
        let typed = person.line(&question)?;
        if typed.is_empty() {
            return Ok(default.cloned());
        }
        match checked(&typed, schema) {
            Ok(value) => return Ok(Some(value)),
            Err(reason) => person.note(&reason),
        }
    }
}

/// A value that the schema allows.
fn checked(text: &str, schema: &Value) -> Result<Value, String> {
    let value = value(text, schema)?;
    match problem(&value, schema) {
        None => Ok(value),
        Some(reason) => Err(reason),
    }
}

/// What is wrong with a value. Where the schema itself is wrong, the host decides.
fn problem(value: &Value, schema: &Value) -> Option<String> {
    let schema = Schema::compile(schema).ok()?;
    let violations = schema.check(value, "");
    let reasons = violations.iter().map(|violation| match violation.field.as_str() {
        "" => clean(&violation.message),
        place => format!("{}: {}", clean(place), clean(&violation.message)),
    });
    let reasons: Vec<String> = reasons.collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// What a value must be, in parentheses.
fn allowed(schema: &Value) -> String {
    let choices = schema["enum"].as_array().map(|choices| {
        choices.iter().map(|choice| clean(&written(choice))).collect::<Vec<_>>().join(" | ")
    });
    let types = || match types(schema).as_slice() {
        ["boolean"] => "yes or no".to_owned(),
        types => types.join(" or "),
    };
    match choices.unwrap_or_else(types) {
        none if none.is_empty() => none,
        words => format!(" ({words})"),
    }
}

/// How a value is asked for.
enum Kind {
    Group,
    List,
    Scalar,
}

fn kind(schema: &Value) -> Kind {
    let has_members = schema["properties"].as_object().is_some_and(|members| !members.is_empty());
    if is_object(schema) && has_members {
        return Kind::Group;
    }
    let items = &plain(&schema["items"]);
    let is_flat = !types(items).is_empty() && !is_object(items) && !types(items).contains(&"array");
    if types(schema).contains(&"array") && is_flat { Kind::List } else { Kind::Scalar }
}

/// Whether a schema is for objects.
pub(super) fn is_object(schema: &Value) -> bool {
    types(schema).contains(&"object") || schema["properties"].is_object()
}

/// A schema without the branch for null: the answer can be left out instead.
fn plain(schema: &Value) -> Value {
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    let is_null = |branch: &&Value| types(branch) == ["null"];
    let (Some(branches), Some(outer)) = (branches, schema.as_object()) else {
        return schema.clone();
    };
    let (nulls, others): (Vec<&Value>, Vec<&Value>) = branches.iter().partition(is_null);
    let ([_], [Value::Object(only)]) = (nulls.as_slice(), others.as_slice()) else {
        return schema.clone();
    };
    let mut merged = outer.clone();
    merged.retain(|name, _| !matches!(name.as_str(), "anyOf" | "oneOf"));
    merged.extend(only.clone());
    Value::Object(merged)
}

/// The types that a schema names.
fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A value as it is typed.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether an answer is yes.
pub(super) fn is_yes(answer: &str) -> bool {
    matches!(answer.to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use accord_contract::codes::Code;
    use serde_json::json;

    use super::*;

    /// A person who types these lines. Keeps what was asked and told.
    struct Script {
        lines: VecDeque<&'static str>,
        seen: Vec<String>,
    }

    impl Person for Script {
        fn line(&mut self, question: &str) -> Result<String, CliError> {
            self.seen.push(question.to_owned());
            let line = self.lines.pop_front();
            let line = line.ok_or_else(|| CliError::new(Code::XchainGivenUp, "the input ended"))?;
            Ok(line.to_owned())
        }

        fn note(&mut self, text: &str) {
            self.seen.push(text.to_owned());
        }
    }

    fn script(lines: &[&'static str]) -> Script {
        Script { lines: lines.iter().copied().collect(), seen: Vec::new() }
    }

    /// The data, and everything that the person saw.
    fn answered(schema: &Value, lines: &[&'static str]) -> (Value, Vec<String>) {
        let mut person = script(lines);
        let members = members(&mut person, schema).unwrap();
        assert!(person.lines.is_empty(), "lines are left: {:?}", person.lines);
        (Value::Object(members), person.seen)
    }

    #[test]
    fn the_schema_says_whether_a_text_is_json() {
        assert_eq!(value("3", &json!({"type": "integer"})), Ok(json!(3)));
        assert_eq!(value("3", &json!({"type": "string"})), Ok(json!("3")));
        assert_eq!(value("[1]", &json!({"type": ["array", "null"]})), Ok(json!([1])));
        assert_eq!(value("true", &Value::Null), Ok(json!("true")));
        assert_eq!(value("yes", &json!({"type": "boolean"})), Ok(json!(true)));
        assert_eq!(value("2", &json!({"type": "integer", "enum": [1, 2]})), Ok(json!(2)));
        let refused = value("three", &json!({"type": "number"})).unwrap_err();
        assert_eq!(refused, "expected number as JSON");
    }

    #[test]
    fn a_question_says_what_a_value_must_be() {
        assert_eq!(allowed(&json!({"enum": ["a", 2]})), " (a | 2)");
        assert_eq!(allowed(&json!({"type": ["string", "null"]})), " (string or null)");
        assert_eq!(allowed(&json!({"type": "boolean"})), " (yes or no)");
        assert_eq!(allowed(&json!({})), "");
    }

    #[test]
    fn a_value_that_the_schema_does_not_allow_is_asked_for_again() {
        let schema = json!({"type": "object", "required": ["env", "count", "sure"], "properties": {
            "env": {"type": "string", "enum": ["staging", "production"]},
            "count": {"type": "integer", "minimum": 5, "description": "How many"},
            "sure": {"type": "boolean"},
        }});
        let lines = ["prod", "production", "2", "many", "7", "", "maybe", "no"];
        let (data, seen) = answered(&schema, &lines);
        assert_eq!(data, json!({"env": "production", "count": 7, "sure": false}));
        assert_eq!(seen[0], "env (staging | production): ");
        assert!(seen.contains(&"  How many".to_owned()), "{seen:?}");
        assert!(seen.iter().any(|text| text.contains("at least 5")), "{seen:?}");
        assert!(seen.contains(&"expected integer as JSON".to_owned()), "{seen:?}");
        assert!(seen.contains(&"a value is needed".to_owned()), "{seen:?}");
        assert!(seen.contains(&"expected yes or no".to_owned()), "{seen:?}");
    }

    #[test]
    fn what_is_left_empty_is_left_out_or_the_default() {
        let schema = json!({"type": "object", "properties": {
            "note": {"type": "string"},
            "percent": {"type": "number", "default": 25},
            "due": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        }});
        let (data, seen) = answered(&schema, &["", "", ""]);
        assert_eq!(data, json!({"percent": 25}));
        assert_eq!(
            seen,
            [
                "note (string), empty for none: ",
                "percent (number) [25]: ",
                "due (string), empty for none: "
            ]
        );
        let (data, _) = answered(&schema, &["", "", "24 December", "2026-12-24"]);
        assert_eq!(data, json!({"percent": 25, "due": "2026-12-24"}));
    }

    #[test]
    fn members_and_entries_are_asked_for_one_by_one() {
        let schema = json!({"type": "object", "required": ["address", "tags"], "properties": {
            "address": {"type": "object", "required": ["street"], "properties": {
                "street": {"type": "string"}, "number": {"type": "integer"},
            }},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}, "minItems": 2},
            "extra": {"type": "object", "properties": {"a": {"type": "integer"}}},
            "rows": {"type": "array", "items": {"type": "object", "properties": {}}},
        }});
        let lines = ["Main St", "4", "long", "a", "", "a", "b", "", "n", r#"[{"b":1}]"#, "[{}]"];
        let (data, seen) = answered(&schema, &lines);
        assert_eq!(
            data,
            json!({"address": {"street": "Main St", "number": 4}, "tags": ["a", "b"], "rows": [{}]})
        );
        assert_eq!(seen[0], "address.street (string): ");
        assert!(seen.iter().any(|text| text.ends_with("type the entries again")), "{seen:?}");
        assert!(seen.contains(&"extra? [y/N] ".to_owned()), "{seen:?}");
    }
}
