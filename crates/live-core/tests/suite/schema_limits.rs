//! Hostile schemas and values: refused with a code, in bounded time.

use accord_contract::Code;
use accord_live_core::schema::{Quota, Schema};
use accord_live_core::violation::MOST_VIOLATIONS;
use serde_json::{Value, json};

fn too_large(schema: &Value) {
    let violations = Schema::compile(schema).expect_err("a schema past the limits");
    let code = violations[0].known_code();
    assert_eq!(code, Some(Code::GguiCtrSchemaTooLarge), "{:?}", violations[0]);
}

#[test]
fn schemas_are_not_nested_without_end() {
    let nested = |depth| {
        (0..depth)
            .fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}))
    };
    Schema::compile(&nested(40)).expect("a deep schema");
    too_large(&nested(60));
}

#[test]
fn schemas_do_not_have_parts_without_end() {
    let properties = |count: usize| {
        let members = (0..count).map(|n| (format!("p{n}"), json!({"type": "string"})));
        json!({"type": "object", "properties": members.collect::<serde_json::Map<_, _>>()})
    };
    Schema::compile(&properties(5_000)).expect("a large schema");
    too_large(&properties(20_000));
    too_large(&json!({"type": "number", "enum": (0..20_000).collect::<Vec<_>>()}));
    // The parts of one contract share a quota.
    let mut quota = Quota::default();
    Schema::compile_at(&properties(5_000), "a", &mut quota).expect("half of the quota");
    let violations = Schema::compile_at(&properties(6_000), "b", &mut quota).expect_err("no more");
    assert!(violations[0].field.starts_with("b."), "{:?}", violations[0]);
}

#[test]
fn patterns_are_small_and_few() {
    too_large(&json!({"type": "string", "pattern": "a".repeat(2_000)}));
    too_large(&json!({"type": "string", "pattern": "((a{1,100}){1,100}){1,100}"}));
    let members = (0..500).map(|n| (format!("p{n}"), json!({"type": "string", "pattern": "a"})));
    let members: serde_json::Map<_, _> = members.collect();
    too_large(&json!({"type": "object", "properties": members}));
    // A large one counts as several.
    let large = |n: usize| (format!("p{n}"), json!({"type": "string", "pattern": "\\w{90}"}));
    let members: serde_json::Map<_, _> = (0..100).map(large).collect();
    too_large(&json!({"type": "object", "properties": members}));
}

#[test]
fn a_pattern_that_blows_up_elsewhere_runs_in_linear_time() {
    let schema = Schema::compile(&json!({"type": "string", "pattern": "^(a+)+$"})).unwrap();
    let text = format!("{}b", "a".repeat(60_000));
    assert!(!schema.accepts(&json!(text)));
    assert!(schema.accepts(&json!("a".repeat(60_000))));
    // A text that is too long for a pattern does not match it.
    assert!(!schema.accepts(&json!("a".repeat(70_000))));
}

#[test]
fn a_check_that_takes_too_many_steps_is_refused() {
    let branches: Vec<_> = (0..200).map(|n| json!({"const": n})).collect();
    let schema = json!({"type": "array", "items": {"oneOf": branches}});
    let schema = Schema::compile(&schema).unwrap();
    let value = json!((0..100_000).map(|n| n % 200).collect::<Vec<_>>());
    assert!(!schema.accepts(&value));
    let violations = schema.check(&value, "list.payload");
    let last = violations.last().unwrap();
    assert_eq!(last.known_code(), Some(Code::GguiCtrValueTooComplex));
    assert_eq!(last.field, "list.payload");
    // A long list of unique items is compared pair by pair.
    let unique = Schema::compile(&json!({"type": "array", "uniqueItems": true})).unwrap();
    assert!(unique.accepts(&json!((0..1_000).collect::<Vec<_>>())));
    assert!(!unique.accepts(&json!((0..10_000).collect::<Vec<_>>())));
}

#[test]
fn a_value_does_not_fill_the_memory_with_violations() {
    let schema = Schema::compile(&json!({"type": "array", "items": {"type": "string"}})).unwrap();
    let value = json!((0..50_000).collect::<Vec<_>>());
    assert_eq!(schema.check(&value, "").len(), MOST_VIOLATIONS);
    let object = Schema::compile(&json!({"type": "object"})).unwrap();
    let long = "x".repeat(500_000);
    let violations = object.check(&json!({long: 1}), "");
    assert!(violations[0].field.len() + violations[0].message.len() < 2_000);
}

#[test]
fn a_deep_value_is_not_followed_past_the_schema() {
    let deep = (0..100_000).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let schema =
        Schema::compile(&json!({"type": "array", "items": {"type": "array", "items": true}}));
    assert!(schema.unwrap().accepts(&deep));
    // Dropping such a value recurses, which a value of the wire cannot do.
    std::mem::forget(deep);
}
