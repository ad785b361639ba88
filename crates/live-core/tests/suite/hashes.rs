//! The identity of contracts and variants.

use accord_live_core::contract::{contract_hash, variant_key};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn hash(contract: &Value) -> String {
    let contract = contract.as_object().expect("an object");
    contract_hash(contract).expect("a hash")
}

#[test]
fn a_hash_is_the_beginning_of_a_sha_256_digest_of_canonical_json() {
    // Computed with `printf '{}' | sha256sum` and its like.
    assert_eq!(hash(&json!({})), "44136fa355b3678a");
    assert_eq!(variant_key(None).unwrap(), "44136fa355b3678a");
    // printf '{"a":1,"b":[true]}' | sha256sum
    assert_eq!(hash(&json!({"b": [true], "a": 1.0})), "90eddf64b875cb5f");
}

#[test]
fn texts_that_explain_do_not_count_and_entries_of_their_names_do() {
    let bare = json!({"actionSpec": {"go": {"label": "Go"}}});
    let explained = json!({
        "description": "x",
        "actionSpec": {"go": {"label": "Go", "description": "y", "usage": "z"}},
    });
    assert_eq!(hash(&bare), hash(&explained));
    let named = json!({"actionSpec": {"go": {"label": "Go"}, "usage": {"label": "Use"}}});
    let other = json!({"actionSpec": {"go": {"label": "Go"}, "usage": {"label": "Using"}}});
    assert_ne!(hash(&bare), hash(&named));
    assert_ne!(hash(&named), hash(&other));
}

#[test]
fn the_version_of_a_server_does_not_count_and_its_name_does() {
    let tool = |name: &str, version: &str| {
        json!({"agentCapabilities": {"tools": {"t": {
            "toolInfo": {"inputSchema": {"type": "object"}},
            "serverInfo": {"name": name, "version": version},
        }}}})
    };
    assert_eq!(hash(&tool("a", "1")), hash(&tool("a", "2")));
    assert_ne!(hash(&tool("a", "1")), hash(&tool("b", "1")));
    // Elsewhere a member of that name is data.
    let elsewhere = |version: &str| json!({"x": {"serverInfo": {"version": version}}});
    assert_ne!(hash(&elsewhere("1")), hash(&elsewhere("2")));
}

#[test]
fn the_composition_of_letters_does_not_count() {
    assert_eq!(hash(&json!({"caf\u{e9}": "\u{e9}"})), hash(&json!({"cafe\u{301}": "e\u{301}"})));
}

#[test]
fn empty_members_of_a_variance_do_not_count_and_texts_do() {
    let key = |variance: Value| variant_key(Some(&variance)).unwrap();
    for empty in [json!({}), json!({"persona": ""}), json!({"context": {"a": [], "b": null}})] {
        assert_eq!(key(empty), variant_key(None).unwrap());
    }
    assert_ne!(key(json!({"description": "a"})), key(json!({"description": "b"})));
    assert_eq!(key(json!({"persona": "a", "aesthetic": ""})), key(json!({"persona": "a"})));
}

/// Any document.
fn documents() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\u{e9}]{0,4}".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,3}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The same document with the members of every object in reverse order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(members) => {
            let members: Map<_, _> =
                members.iter().rev().map(|(name, value)| (name.clone(), reversed(value))).collect();
            Value::Object(members)
        }
        scalar => scalar.clone(),
    }
}

proptest! {
    #[test]
    fn the_order_of_members_does_not_count(document in documents()) {
        let document = json!({"contract": document});
        prop_assert_eq!(hash(&document), hash(&reversed(&document)));
        prop_assert_eq!(variant_key(Some(&document)), variant_key(Some(&reversed(&document))));
    }
}
