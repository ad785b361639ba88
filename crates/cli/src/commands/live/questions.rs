//! Questions for the data of an action, made from its schema.
//!
//! Invariants:
//! - Every value is checked with the schema when it is typed, as the channel will check it, so that
//!   a long answer is not refused at its end.
//! - What has no question of its own is typed as JSON.

use accord_contract::{Object, Value};
use accord_live_core::schema::{Question, QuestionKind, QuestionMember, written};

use crate::Result;
use crate::render::clean;
use crate::terminal::is_yes;

/// How deep objects are asked for member by member. What is deeper is typed as JSON.
const MOST_DEPTH: usize = 5;

pub(super) trait Person {
    /// Asks, and returns the line that was typed, without the spaces around it.
    fn line(&mut self, question: &str) -> Result<String>;
    fn note(&mut self, text: &str);
}

/// Asks for a value that must be there.
pub(super) fn required(person: &mut dyn Person, name: &str, question: &Question) -> Result<Value> {
    loop {
        if let Some(value) = asked(person, name, question, true, 0)? {
            return Ok(value);
        }
        person.note("a value is needed");
    }
}

pub(super) fn members(person: &mut dyn Person, question: &Question) -> Result<Object> {
    object(person, "", question, 0)
}

/// Asks for a value; `None` if it was left out.
fn asked(
    person: &mut dyn Person,
    name: &str,
    question: &Question,
    is_required: bool,
    depth: usize,
) -> Result<Option<Value>> {
    if let Some(about) = question.about() {
        person.note(&format!("  {}", clean(about)));
    }
    let is_deep = depth >= MOST_DEPTH;
    match question.kind() {
        QuestionKind::Group if !is_deep => {
            if !is_required && !is_yes(&person.line(&format!("{}? [y/N] ", clean(name)))?) {
                return Ok(None);
            }
            object(person, name, question, depth + 1).map(|members| Some(Value::Object(members)))
        }
        QuestionKind::List if !is_deep => list(person, name, question, is_required),
        _ => scalar(person, name, question, is_required),
    }
}

fn object(
    person: &mut dyn Person,
    path: &str,
    question: &Question,
    depth: usize,
) -> Result<Object> {
    let mut members = Object::new();
    for QuestionMember { name, question, is_required } in question.members() {
        let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let given = loop {
            match asked(person, &place, &question, is_required, depth)? {
                None if is_required => person.note("a value is needed"),
                given => break given,
            }
        };
        members.extend(given.map(|given| (name, given)));
    }
    Ok(members)
}

/// Asks for the entries of a list until one is empty.
fn list(
    person: &mut dyn Person,
    name: &str,
    question: &Question,
    is_required: bool,
) -> Result<Option<Value>> {
    let items = question.items();
    loop {
        let mut entries = Vec::new();
        loop {
            let label = format!("{} {}", clean(name), entries.len() + 1);
            let typed = person.line(&format!("{label}{}, empty to end: ", allowed(&items)))?;
            if typed.is_empty() {
                break;
            }
            match items.read_checked(&typed) {
                Ok(entry) => entries.push(entry),
                Err(reason) => person.note(&clean(&reason)),
            }
        }
        if entries.is_empty() && !is_required {
            return Ok(question.default_value().cloned());
        }
        let entries = Value::Array(entries);
        match question.problem(&entries) {
            None => return Ok(Some(entries)),
            Some(reason) => person.note(&format!("{}; type the entries again", clean(&reason))),
        }
    }
}

fn scalar(
    person: &mut dyn Person,
    name: &str,
    question: &Question,
    is_required: bool,
) -> Result<Option<Value>> {
    let default = question.default_value();
    let empty = match default {
        Some(default) => format!(" [{}]", written(default)),
        None if is_required => String::new(),
        None => ", empty for none".to_owned(),
    };
    let text = format!("{}{}{empty}: ", clean(name), allowed(question));
    loop {
        let typed = person.line(&text)?;
        if typed.is_empty() {
            return Ok(default.cloned());
        }
        match question.read_checked(&typed) {
            Ok(value) => return Ok(Some(value)),
            Err(reason) => person.note(&clean(&reason)),
        }
    }
}

/// What a value must be, in parentheses.
fn allowed(question: &Question) -> String {
    match question.allowed() {
        none if none.is_empty() => none,
        words => format!(" ({})", clean(&words)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use accord_contract::Code;
    use serde_json::json;

    use super::*;
    use crate::CliError;

    /// A person who types these lines. Keeps what was asked and told.
    struct Script {
        lines: VecDeque<&'static str>,
        seen: Vec<String>,
    }

    impl Person for Script {
        fn line(&mut self, question: &str) -> Result<String> {
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
        let members = members(&mut person, &Question::new(schema)).unwrap();
        assert!(person.lines.is_empty(), "lines are left: {:?}", person.lines);
        (Value::Object(members), person.seen)
    }

    #[test]
    fn the_schema_says_whether_a_text_is_json() {
        let value = |text: &str, schema: &Value| Question::new(schema).read(text);
        assert_eq!(value("3", &json!({"type": "integer"})), Ok(json!(3)));
        assert_eq!(value("3", &json!({"type": "string"})), Ok(json!("3")));
        assert_eq!(value("[1]", &json!({"type": ["array", "null"]})), Ok(json!([1])));
        assert_eq!(value("true", &Value::Null), Ok(json!("true")));
        assert_eq!(value("yes", &json!({"type": "boolean"})), Ok(json!(true)));
        assert_eq!(value("2", &json!({"type": "integer", "enum": [1, 2]})), Ok(json!(2)));
        let refused = value("three", &json!({"type": "number"})).unwrap_err();
        assert_eq!(refused, "expected number as JSON");
    }

    fn of(schema: Value) -> Question {
        Question::new(&schema)
    }

    #[test]
    fn a_question_says_what_a_value_must_be() {
        assert_eq!(allowed(&of(json!({"enum": ["a", 2]}))), " (a | 2)");
        assert_eq!(allowed(&of(json!({"type": ["string", "null"]}))), " (string or null)");
        assert_eq!(allowed(&of(json!({"type": "boolean"}))), " (yes or no)");
        assert_eq!(allowed(&of(json!({}))), "");
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
