//! The variables of a case, and filling them in.

use std::collections::BTreeMap;

use accord_contract::{Object, Value};

#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(BTreeMap<String, Value>);

impl Variables {
    pub(crate) fn of(name: &str, value: &str) -> Self {
        let mut variables = Self::default();
        variables.set(name, value);
        variables
    }

    pub(crate) fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.insert(name.into(), value.into());
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A text with its variables filled in; `write` encodes the text of a value.
    pub(crate) fn fill(&self, text: &str, write: fn(&str) -> String) -> Result<String, Unknown> {
        let mut filled = String::with_capacity(text.len());
        for part in parts(text) {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Name(name) => match self.get(name) {
                    Some(Value::String(value)) => filled.push_str(&write(value)),
                    Some(value) => filled.push_str(&write(&value.to_string())),
                    None => return Err(Unknown(name.to_owned())),
                },
            }
        }
        Ok(filled)
    }

    /// A text with its variables filled in, without encoding.
    pub(crate) fn text(&self, text: &str) -> Result<String, Unknown> {
        self.fill(text, str::to_owned)
    }

    /// A value with its variables filled in. A string that is one variable becomes its value.
    pub(crate) fn value(&self, value: &Value) -> Result<Value, Unknown> {
        Ok(match value {
            Value::String(text) => match parts(text).as_slice() {
                // Keeps the type, so that a captured number is sent as a number.
                [Part::Name(name)] => {
                    let found = self.get(name);
                    found.cloned().ok_or_else(|| Unknown((*name).to_owned()))?
                }
                _ => Value::String(self.text(text)?),
            },
            Value::Array(items) => {
                let items = items.iter().map(|item| self.value(item));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => Value::Object(self.object(members)?),
            other => other.clone(),
        })
    }

    pub(crate) fn object(&self, members: &Object) -> Result<Object, Unknown> {
        let members = members.iter().map(|(key, value)| Ok((key.clone(), self.value(value)?)));
        members.collect()
    }
}

#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the variable `{0}` has no value here")]
pub(crate) struct Unknown(pub(crate) String);

pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    parts(text).into_iter().filter_map(|part| match part {
        Part::Name(name) => Some(name),
        Part::Text(_) => None,
    })
}

enum Part<'a> {
    Text(&'a str),
    Name(&'a str),
}

/// A text split at its variables. A `${` without an end is text.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        if !before.is_empty() {
            found.push(Part::Text(before));
        }
        found.push(Part::Name(name));
        rest = behind;
    }
    if !rest.is_empty() {
        found.push(Part::Text(rest));
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Unknown, Variables, names};

    #[test]
    fn variables_keep_their_type_where_they_stand_alone() {
        let mut variables = Variables::default();
        variables.set("id", "a/b");
        variables.set("n", 3);
        variables.set("list", json!([1, null]));
        let filled = variables.value(&json!({
            "alone": "${n}", "within": "x-${n}-${id}", "deep": [{"l": "${list}"}],
            "plain": "${", "number": 7,
        }));
        assert_eq!(
            filled.unwrap(),
            json!({
                "alone": 3, "within": "x-3-a/b", "deep": [{"l": [1, null]}],
                "plain": "${", "number": 7,
            })
        );
        assert_eq!(variables.text("${list} of ${id}").unwrap(), "[1,null] of a/b");
        assert_eq!(variables.text("${m}"), Err(Unknown("m".to_owned())));
    }

    #[test]
    fn names_are_found_in_their_order() {
        let found: Vec<&str> = names("${a}/${b}${a} $c {d} ${").collect();
        assert_eq!(found, ["a", "b", "a"]);
        assert_eq!(names("").count(), 0);
    }
}
