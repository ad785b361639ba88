//! The closed shape of a schema.

use accord_contract::{Object, Value, rule};

/// A schema in which every object that says nothing about undeclared members refuses them.
///
/// An object is a schema whose type includes `object`, or that has `properties`. Properties,
/// items, schemas of additional properties and the branches of `oneOf` and `anyOf` are closed
/// too. An author who wants an open object writes `additionalProperties`.
///
/// Clauses: GGUI-SCHEMA-CLOSED.
pub fn close(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let mut closed = Object::new();
    for (keyword, value) in members {
        let value = match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.iter().map(|(name, schema)| (name.clone(), close(schema))).collect()
            }
            ("items" | "additionalProperties", schema) => close(schema),
            ("oneOf" | "anyOf", Value::Array(branches)) => branches.iter().map(close).collect(),
            (_, other) => other.clone(),
        };
        closed.insert(keyword.clone(), value);
    }
    let is_silent = is_object(members) && !members.contains_key("additionalProperties");
    if rule!(is_silent; ShapesOpen => false) {
        closed.insert("additionalProperties".into(), false.into());
    }
    Value::Object(closed)
}

fn is_object(members: &Object) -> bool {
    members.contains_key("properties")
        || match members.get("type") {
            Some(Value::String(name)) => name == "object",
            Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
            _ => false,
        }
}
