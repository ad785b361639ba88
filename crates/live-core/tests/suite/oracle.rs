//! Schemas and values made at random: the validator against another one, and the laws of closing
//! and comparing.

use accord_live_core::schema::{Schema, close};
use accord_live_core::subset::failures;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::is_subset;

/// Names that collide often.
fn names() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "type"]).prop_map(str::to_owned)
}

fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..4_i64).prop_map(Value::from),
        prop::sample::select(vec![0.5, 1.0, -2.5]).prop_map(Value::from),
        prop::sample::select(vec!["", "a", "ab", "2026-01-01", "é"]).prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(names(), inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn types() -> impl Strategy<Value = Value> {
    let one = || prop::sample::select(vec!["string", "number", "integer", "boolean", "null"]);
    prop_oneof![
        one().prop_map(Value::from),
        one().prop_filter_map("two types", |name| {
            (name != "null").then(|| json!([name, "null"]))
        }),
    ]
}

/// Schemas of every keyword that both validators know.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        types().prop_map(|types| json!({"type": types})),
        values().prop_map(|value| json!({"const": value})),
        prop::collection::vec(values(), 1..4).prop_map(|values| json!({"enum": values})),
        (-2..3_i64, 0..3_u64).prop_map(|(bound, length)| {
            json!({"minimum": bound, "exclusiveMaximum": bound + 2, "minLength": length})
        }),
        prop::sample::select(vec!["^a", "b$", "^[ab]*$"])
            .prop_map(|pattern| json!({"type": "string", "pattern": pattern})),
        Just(json!({"type": "string", "format": "date"})),
        any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        prop_oneof![
            objects(inner.clone(), true),
            (inner.clone(), 0..3_u64, any::<bool>()).prop_map(|(items, least, unique)| {
                json!({"type": "array", "items": items, "minItems": least, "uniqueItems": unique})
            }),
            (
                prop::sample::select(vec!["anyOf", "oneOf", "allOf"]),
                prop::collection::vec(inner.clone(), 1..4)
            )
                .prop_map(|(keyword, branches)| json!({keyword: branches})),
            inner.prop_map(|schema| json!({"not": schema})),
        ]
    })
}

/// Objects. `is_wild` ones may say nothing about undeclared members.
fn objects(inner: impl Strategy<Value = Value>, is_wild: bool) -> impl Strategy<Value = Value> {
    let properties = prop::collection::btree_map(names(), (inner, any::<bool>()), 0..3);
    let additional = if is_wild {
        prop::sample::select(vec![None, Some(true), Some(false)])
    } else {
        prop::sample::select(vec![Some(false)])
    };
    (properties, additional).prop_map(|(properties, additional)| {
        let required: Vec<_> = properties
            .iter()
            .filter(|(_, (_, is_required))| *is_required)
            .map(|(name, _)| name.clone())
            .collect();
        let properties: Map<_, _> =
            properties.into_iter().map(|(name, (schema, _))| (name, schema)).collect();
        let mut schema = json!({"type": "object", "properties": properties, "required": required});
        if let Some(additional) = additional {
            schema["additionalProperties"] = additional.into();
        }
        schema
    })
}

/// Schemas of the fragment that can be compared: types, closed objects, arrays with items.
fn comparable() -> impl Strategy<Value = Value> {
    let leaf = types().prop_map(|types| json!({"type": types}));
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            objects(inner.clone(), false),
            inner.prop_map(|items| json!({"type": "array", "items": items})),
        ]
    })
}

/// A schema that accepts less, or the same.
fn narrowed(schema: &Value, choices: &mut impl Iterator<Item = bool>) -> Value {
    let mut chosen = || choices.next().unwrap_or(false);
    let Value::Object(members) = schema else { return schema.clone() };
    let mut narrow = members.clone();
    match members["type"].as_str() {
        Some("number") if chosen() => {
            narrow.insert("type".into(), "integer".into());
        }
        None if chosen() => {
            narrow.insert("type".into(), members["type"][0].clone());
        }
        _ => {}
    }
    if let Some(items) = members.get("items") {
        narrow.insert("items".into(), narrowed(items, choices));
    }
    if let Some(properties) = members.get("properties").and_then(Value::as_object) {
        let required = members["required"].as_array().cloned().unwrap_or_default();
        let mut kept = Map::new();
        let mut needed = Vec::new();
        for (name, schema) in properties {
            let is_required = required.contains(&json!(name));
            // A property that is not required can be left out, or be required.
            if !is_required && choices.next().unwrap_or(false) {
                continue;
            }
            if is_required || choices.next().unwrap_or(false) {
                needed.push(json!(name));
            }
            kept.insert(name.clone(), narrowed(schema, choices));
        }
        narrow.insert("properties".into(), Value::Object(kept));
        narrow.insert("required".into(), Value::Array(needed));
    }
    Value::Object(narrow)
}

/// The other validator, with the same closed shape.
fn other(schema: &Value) -> jsonschema::Validator {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft7)
        .should_validate_formats(true)
        .build(schema)
        .expect("a schema that both know")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn another_validator_agrees(schema in schemas(), values in prop::collection::vec(values(), 4)) {
        let ours = Schema::compile(&schema).expect("a schema that both know");
        let other = other(&close(&schema));
        for value in values {
            prop_assert_eq!(ours.accepts(&value), other.is_valid(&value), "{} {}", schema, value);
            let violations = ours.check(&value, "");
            prop_assert_eq!(violations.is_empty(), ours.accepts(&value));
            prop_assert!(violations.iter().all(|violation| violation.keyword.is_some()));
        }
    }

    #[test]
    fn closing_twice_is_closing_once(schema in schemas()) {
        let closed = close(&schema);
        prop_assert_eq!(close(&closed), closed);
    }

    #[test]
    fn a_schema_fits_itself(schema in schemas()) {
        prop_assert_eq!(failures(&schema, &schema), []);
    }

    #[test]
    fn what_fits_accepts_nothing_else(
        schema in comparable(),
        choices in prop::collection::vec(any::<bool>(), 24),
        values in prop::collection::vec(values(), 6),
    ) {
        let narrow = narrowed(&schema, &mut choices.into_iter());
        prop_assert_eq!(failures(&schema, &narrow), [], "{} {}", schema, narrow);
        let (wide_validator, narrow_validator) = (other(&schema), other(&narrow));
        for value in values {
            prop_assert!(!narrow_validator.is_valid(&value) || wide_validator.is_valid(&value));
        }
    }

    #[test]
    fn any_two_schemas_that_fit_agree_on_values(
        one in comparable(),
        two in comparable(),
        values in prop::collection::vec(values(), 6),
    ) {
        if is_subset(&one, &two) {
            let (wide, narrow) = (other(&one), other(&two));
            for value in values {
                let fits = !narrow.is_valid(&value) || wide.is_valid(&value);
                prop_assert!(fits, "{} {} {}", one, two, value);
            }
        }
    }

    #[test]
    fn fitting_is_transitive(
        wide in comparable(),
        first in prop::collection::vec(any::<bool>(), 24),
        second in prop::collection::vec(any::<bool>(), 24),
    ) {
        let middle = narrowed(&wide, &mut first.into_iter());
        let narrow = narrowed(&middle, &mut second.into_iter());
        prop_assert!(is_subset(&wide, &middle) && is_subset(&middle, &narrow));
        prop_assert!(is_subset(&wide, &narrow), "{} {}", wide, narrow);
    }
}
