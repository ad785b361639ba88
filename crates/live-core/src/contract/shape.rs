//! Whether the schemas of a contract say enough to check data, and to make a form from them.

use accord_contract::{Value, rule};

use super::read::join;
use crate::schema::types;
use crate::violation::{Violation, listed};

/// What is missing in a schema of the entry at `field`.
///
/// Clauses: GGUI-CONTRACT-SCHEMA-TYPED, GGUI-CONTRACT-ARRAY-ITEMS,
/// GGUI-CONTRACT-REQUIRED-DECLARED.
pub(super) fn check(schema: &Value, field: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    walk(schema, field, &mut violations);
    violations
}

fn walk(schema: &Value, field: &str, violations: &mut Vec<Violation>) {
    if !schema.is_object() {
        return;
    }
    let types = types(schema);
    if types.is_empty() && schema.get("oneOf").is_none() && schema.get("anyOf").is_none() {
        let violation = Violation::new(field, "a schema has a type, oneOf or anyOf");
        violations.push(violation.expecting("type | oneOf | anyOf", "none"));
        return;
    }
    let has_no_items = types.contains(&"array") && schema.get("items").is_none();
    if rule!(has_no_items; ArraysOfAnything => false) {
        let violation = Violation::new(field, "the schema of an array has items");
        violations.push(violation.expecting("items", "undefined"));
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    if types.contains(&"object") {
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if properties.is_none_or(|properties| !properties.contains_key(name)) {
                let declared = properties.into_iter().flat_map(|members| members.keys());
                let declared = listed(declared.map(String::as_str));
                let message = format!("'{name}' is required and is not declared in properties");
                let violation = Violation::new(join(field, name), message);
                violations.push(violation.expecting(format!("'{name}' in properties"), declared));
            }
        }
    }
    if let Some(items) = schema.get("items") {
        walk(items, &format!("{field}.items"), violations);
    }
    for (name, property) in properties.into_iter().flatten() {
        walk(property, &join(field, name), violations);
    }
    for union in ["oneOf", "anyOf"] {
        let branches = schema.get(union).and_then(Value::as_array);
        for (index, branch) in branches.into_iter().flatten().enumerate() {
            walk(branch, &format!("{field}.{union}[{index}]"), violations);
        }
    }
}
