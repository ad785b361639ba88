//! A JSON value in words, for people.

use accord_contract::{Object, Value};

/// The members that say nothing to a person.
const LEFT_OUT: [&str; 2] = ["metadata", "digest"];

/// A value as people read it: a text without quotes, a list with commas, members as `name: value`.
/// Ids are left out of objects, and so is what is empty.
pub fn in_words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => joined(items.iter().map(in_words), "; "),
        Value::Object(members) => {
            let members = shown(members).map(|(name, value)| named(name, value));
            joined(members.map(|(name, value)| format!("{name}: {value}")), ", ")
        }
    }
}

/// The members of an object that say something to a person, with their values in words.
pub fn members_in_words(members: &Object) -> Vec<(String, String)> {
    shown(members).map(|(name, value)| named(name, value)).collect()
}

fn named(name: &str, value: &Value) -> (String, String) {
    (name.replace('_', " "), in_words(value))
}

fn shown(members: &Object) -> impl Iterator<Item = (&String, &Value)> {
    let is_id = |name: &str| name == "id" || name.ends_with("_id") || name.ends_with("Id");
    members.iter().filter(move |(name, value)| {
        !is_id(name) && !LEFT_OUT.contains(&name.as_str()) && !in_words(value).is_empty()
    })
}

fn joined(parts: impl Iterator<Item = String>, between: &str) -> String {
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(between)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_read_as_words() {
        let value = json!({
            "run_id": "run_1", "phase": "planning", "metadata": {"observed": {}}, "empty": [],
            "turns": ["turn_1", "turn_2"], "is_last": true,
            "checks": [
                {"command": "make", "exit_code": 0}, {"command": "make test", "exit_code": 2},
            ],
        });
        let words = "phase: planning, turns: turn_1; turn_2, is last: yes, \
                     checks: command: make, exit code: 0; command: make test, exit code: 2";
        assert_eq!(in_words(&value), words);
        assert_eq!(in_words(&json!([null, "", {}])), "");
        let Value::Object(members) = value else { panic!("an object") };
        let names: Vec<String> = members_in_words(&members).into_iter().map(|it| it.0).collect();
        assert_eq!(names, ["phase", "turns", "is last", "checks"]);
    }
}
