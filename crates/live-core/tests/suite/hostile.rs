//! Very large contracts, and documents made at random.

use accord_contract::Code;
use accord_live_core::contract::{CompiledContract, DataContract, contract_hash};
use accord_live_core::gadgets::{ClientCapabilities, GadgetDescriptor, check_gadgets};
use accord_live_core::reserved::Channel;
use accord_live_core::subset::{check_contract, failures};
use accord_live_core::violation::MOST_VIOLATIONS;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// An object of so many members.
fn many(count: usize, prefix: &str, member: impl Fn(usize) -> Value) -> Value {
    Value::Object((0..count).map(|n| (format!("{prefix}{n}"), member(n))).collect())
}

#[test]
fn many_actions_and_tools_are_not_compared_one_by_one() {
    let contract = json!({
        "actionSpec": many(5_000, "a", |n| json!({"label": "", "nextStep": format!("x{n}")})),
        "agentCapabilities": {"tools": many(4_000, "t", |_| {
            json!({"toolInfo": {"inputSchema": {}}})
        })},
    });
    let refusal = CompiledContract::read(&contract).unwrap_err();
    assert_eq!(refusal.violations.len(), MOST_VIOLATIONS);
    assert_eq!(refusal.code, Code::GguiToolCrossReferenceUnresolved);
    let expected = refusal.violations[0].expected.as_deref().unwrap();
    assert!(expected.starts_with("t0, t1, ") && expected.ends_with("…"), "{expected}");
}

#[test]
fn a_large_tool_in_many_actions_is_compared_within_limits() {
    let names: Vec<_> = (0..20_000).map(|n| format!("p{n}")).collect();
    let contract = json!({
        "actionSpec": many(5_000, "a", |_| json!({"label": "", "nextStep": "large"})),
        "agentCapabilities": {"tools": {"large": {"toolInfo": {"inputSchema": {
            "type": names, "required": names, "properties": {},
        }}}}},
    });
    let contract = DataContract::read(&contract).unwrap();
    let violations = check_contract(&contract);
    assert_eq!(violations.len(), 5_000);
    let last = &violations[4_999].message;
    assert!(last.contains("too large to be compared"), "{last}");
    // A comparison on its own has limits as well.
    let large = many(300_000, "p", |_| json!({"type": "string"}));
    let large = json!({"type": "object", "properties": large});
    let other = json!({"type": "object", "properties": {"p0": {"type": "string"}}});
    assert!(failures(&other, &large).is_empty(), "within the limits");
    let twice = json!({"type": "array", "items": large.clone()});
    let found = failures(
        &json!({"type": "array", "items": json!({"type": "object",
        "properties": large["properties"], "title": "x"})}),
        &twice,
    );
    assert!(!found.is_empty());
    assert!(found.iter().all(|failure| failure.message.contains("too large")), "{found:?}");
}

#[test]
fn many_unknown_gadgets_get_few_suggestions() {
    let exports = many(20_000, "useThing", |_| json!({}));
    let used = ClientCapabilities::read(&json!({"gadgets": {"acme": exports}})).unwrap();
    let known: Vec<_> = (0..50).map(|n| json!({"hook": format!("useOther{n}")})).collect();
    let known = GadgetDescriptor::read(&json!({"package": "acme", "exports": known})).unwrap();
    let refusal = check_gadgets(Some(&used), &[known], []).unwrap_err();
    assert_eq!(refusal.violations.len(), MOST_VIOLATIONS);
}

#[test]
fn many_unknown_members_are_reported_up_to_the_limit() {
    let contract = json!({"actionSpec": {"a": many(20_000, "label", |_| json!(1))}});
    let refusal = CompiledContract::read(&contract).unwrap_err();
    assert_eq!(refusal.violations.len(), MOST_VIOLATIONS);
}

/// Words that contracts and schemas use, so that documents reach deep into the rules.
fn words() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "propsSpec",
        "properties",
        "actionSpec",
        "streamSpec",
        "contextSpec",
        "schema",
        "label",
        "agentCapabilities",
        "tools",
        "toolInfo",
        "inputSchema",
        "clientCapabilities",
        "gadgets",
        "type",
        "items",
        "required",
        "enum",
        "pattern",
        "format",
        "oneOf",
        "nullable",
        "source",
        "tool",
        "nextStep",
        "default",
        "kind",
        "version",
        "createSurface",
        "string",
        "object",
        "array",
        "date",
        "_ggui:preview",
        "__proto__",
        "",
        "a",
    ])
    .prop_map(str::to_owned)
}

fn documents() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    scalar.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((words(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn every_document_is_a_contract_or_is_refused_with_reasons(
        document in documents(),
        spec in words(),
        data in documents(),
    ) {
        for document in [document.clone(), json!({spec.as_str(): document})] {
            if let Some(members) = document.as_object() {
                prop_assert_eq!(contract_hash(members).unwrap().len(), 16);
            }
            match CompiledContract::read(&document) {
                Ok(contract) => {
                    let _ = contract.check_action(&data);
                    let _ = contract.check_stream("a", &data, true);
                    contract.check_context("a", &data);
                    contract.check_props(&data);
                }
                Err(refusal) => {
                    let count = refusal.violations.len();
                    prop_assert!((1..=MOST_VIOLATIONS).contains(&count), "{}", count);
                }
            }
        }
        for channel in Channel::ALL {
            channel.check(&data);
        }
    }
}
