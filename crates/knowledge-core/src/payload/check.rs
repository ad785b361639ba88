//! Checking a payload against its schema.

use accord_canon::escape_segment;
use serde_json::{Map, Value};

use super::schemas::{Member, Shape, schema};
use crate::KbError;

pub(crate) fn check_payload(kind: &str, payload: &Value) -> Result<(), KbError> {
    let Some(members) = schema(kind) else {
        return Err(KbError::schema(
            "/type".to_owned(),
            format!("no payload type is called {kind:?}; use one that has a schema"),
        ));
    };
    check(&Shape::Object(members), payload, "/payload")
}

fn check(shape: &Shape, value: &Value, pointer: &str) -> Result<(), KbError> {
    let fits = match (shape, value) {
        (Shape::Any, _)
        | (Shape::Text, Value::String(_))
        | (Shape::Number, Value::Number(_))
        | (Shape::Flag, Value::Bool(_))
        | (Shape::List, Value::Array(_)) => true,
        (Shape::ListOf(element), Value::Array(elements)) => {
            for (index, value) in elements.iter().enumerate() {
                check(element, value, &format!("{pointer}/{index}"))?;
            }
            true
        }
        (Shape::MapOf(member), Value::Object(members)) => {
            for (key, value) in members {
                check(member, value, &format!("{pointer}/{}", escape_segment(key)))?;
            }
            true
        }
        (Shape::Object(shapes), Value::Object(members)) => {
            return check_members(shapes, members, pointer);
        }
        (Shape::Choice(choices), Value::String(text)) => choices.contains(&text.as_str()),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    Err(KbError::schema(
        pointer.to_owned(),
        format!("{} must be {}", name(pointer), describe(shape)),
    ))
}

/// Clauses: ALX-PAYLOAD-EXTRA.
fn check_members(
    shapes: &[Member],
    members: &Map<String, Value>,
    pointer: &str,
) -> Result<(), KbError> {
    // The schema is iterated, not the payload: members that the schema does not name are allowed.
    for shape in shapes {
        let pointer = format!("{pointer}/{}", shape.name);
        match members.get(shape.name) {
            Some(value) => check(&shape.shape, value, &pointer)?,
            None if shape.required => {
                let detail =
                    format!("{} is missing; it must be {}", shape.name, describe(&shape.shape));
                return Err(KbError::schema(pointer, detail));
            }
            None => {}
        }
    }
    Ok(())
}

fn describe(shape: &Shape) -> String {
    match shape {
        Shape::Any => "a value".to_owned(),
        Shape::Text => "a string".to_owned(),
        Shape::Number => "a number".to_owned(),
        Shape::Flag => "true or false".to_owned(),
        Shape::List => "a list".to_owned(),
        Shape::ListOf(element) => format!("a list, each element {}", describe(element)),
        Shape::MapOf(member) => format!("an object, each value {}", describe(member)),
        Shape::Object(_) => "an object".to_owned(),
        Shape::Choice(choices) => format!("one of {}", choices.join(", ")),
    }
}

fn name(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or(pointer)
}
