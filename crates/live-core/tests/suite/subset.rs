//! Whether one schema fits another, and what follows for contracts.

use accord_contract::Code;
use accord_live_core::contract::DataContract;
use accord_live_core::subset::{
    FindingKind, Policy, Reason, check_contract, check_tools, failures,
};
use serde_json::{Value, json};

use crate::support::is_subset;

fn reasons(superset: Value, subset: Value) -> Vec<(String, Reason)> {
    failures(&superset, &subset).into_iter().map(|found| (found.path, found.reason)).collect()
}

fn one(superset: Value, subset: Value, path: &str, reason: Reason) {
    assert_eq!(
        reasons(superset.clone(), subset.clone()),
        [(path.to_owned(), reason)],
        "{superset} {subset}"
    );
}

#[test]
fn equal_schemas_fit_whatever_they_use() {
    for schema in [
        json!({"enum": ["a"]}),
        json!({"$ref": "#/a"}),
        json!({"oneOf": [{"type": "string"}]}),
        json!({"type": "array", "items": [{"type": "string"}]}),
    ] {
        assert!(is_subset(&schema, &schema));
    }
    let spelled = (json!({"type": "number", "const": 1}), json!({"const": 1.0, "type": "number"}));
    assert!(is_subset(&spelled.0, &spelled.1));
}

#[test]
fn what_cannot_be_compared_does_not_fit() {
    let text = json!({"type": "string"});
    for keyword in ["$ref", "allOf", "oneOf", "anyOf", "enum", "const"] {
        let other = json!({"type": "string", keyword: ["a"]});
        one(text.clone(), other.clone(), "", Reason::Unsupported);
        one(other, text.clone(), "", Reason::Unsupported);
    }
}

#[test]
fn types_are_compared_as_sets() {
    let types = |types: Value| json!({"type": types});
    assert!(is_subset(&types(json!(["string", "null"])), &types(json!("string"))));
    assert!(is_subset(&types(json!("number")), &types(json!("integer"))));
    assert!(is_subset(&json!({}), &types(json!("string"))), "no type is any type");
    assert!(is_subset(
        &json!({"type": "string", "nullable": true}),
        &types(json!(["string", "null"]))
    ));
    one(types(json!("string")), types(json!(["string", "null"])), "", Reason::TypeMismatch);
    one(types(json!("integer")), types(json!("number")), "", Reason::TypeMismatch);
    one(types(json!("string")), json!({}), "", Reason::TypeMismatch);
    one(
        types(json!("string")),
        json!({"type": "string", "nullable": true}),
        "",
        Reason::TypeMismatch,
    );
    // After a mismatch nothing more is reported.
    one(
        json!({"type": "object", "required": ["a"], "additionalProperties": false}),
        json!({"type": "array", "properties": {"b": {}}}),
        "",
        Reason::TypeMismatch,
    );
}

#[test]
fn objects_are_compared_member_by_member() {
    let closed = |properties: Value, required: Value| {
        json!({"type": "object", "properties": properties, "required": required,
            "additionalProperties": false})
    };
    let tool = closed(json!({"id": {"type": "string"}, "n": {"type": "number"}}), json!(["id"]));
    assert!(is_subset(&tool, &closed(json!({"id": {"type": "string"}}), json!(["id"]))));
    one(
        tool.clone(),
        closed(json!({"id": {"type": "string"}}), json!([])),
        "required.id",
        Reason::MissingRequired,
    );
    one(
        tool.clone(),
        closed(json!({"id": {"type": "number"}}), json!(["id"])),
        "properties.id",
        Reason::TypeMismatch,
    );
    one(
        tool.clone(),
        closed(json!({"id": {"type": "string"}, "x": {"type": "string"}}), json!(["id"])),
        "properties.x",
        Reason::ExtraProperty,
    );
    let mut open = closed(json!({"id": {"type": "string"}}), json!(["id"]));
    open["additionalProperties"] = json!(true);
    one(tool.clone(), open.clone(), "", Reason::AdditionalPropertiesWidens);
    open["additionalProperties"] = json!({"type": "string"});
    one(tool, open.clone(), "", Reason::AdditionalPropertiesWidens);
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    assert!(is_subset(&map, &open));
    assert!(is_subset(&map, &json!({"type": "object", "additionalProperties": false})));
    one(map.clone(), json!({"type": "object"}), "", Reason::AdditionalPropertiesWidens);
    let numbers = json!({"type": "object", "additionalProperties": {"type": "number"}});
    one(map.clone(), numbers, "additionalProperties", Reason::TypeMismatch);
    let member = closed(json!({"a": {"type": "number"}}), json!([]));
    one(map, member, "properties.a", Reason::TypeMismatch);
    assert!(is_subset(
        &json!({"type": "object"}),
        &json!({"type": "object", "properties": {"a": {}}})
    ));
}

#[test]
fn items_are_compared_where_both_have_them() {
    let list = |items: Value| json!({"type": "array", "items": items});
    assert!(is_subset(&list(json!({"type": "number"})), &list(json!({"type": "integer"}))));
    one(
        list(json!({"type": "string"})),
        list(json!({"type": "number"})),
        "items",
        Reason::TypeMismatch,
    );
    assert!(is_subset(&json!({"type": "array"}), &list(json!({"type": "string"}))));
    assert!(is_subset(&list(json!({"type": "string"})), &json!({"type": "array"})));
    one(
        list(json!({"type": "string"})),
        list(json!([{"type": "string"}])),
        "items",
        Reason::ItemsMismatch,
    );
    let nested = list(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    let other = list(json!({"type": "object", "properties": {"a": {"type": "null"}}}));
    one(nested, other, "items.properties.a", Reason::TypeMismatch);
}

fn contract(action: Value, input: Value) -> DataContract {
    let mut entry = json!({"label": "Go", "nextStep": "go"});
    if !action.is_null() {
        entry["schema"] = action;
    }
    DataContract::read(&json!({
        "actionSpec": {"go": entry},
        "agentCapabilities": {"tools": {"go": {"toolInfo": {"inputSchema": input}}}},
    }))
    .expect("a contract")
}

#[test]
fn what_an_action_sends_fits_its_tool() {
    let strict = json!({"type": "object", "properties": {"id": {"type": "string"}},
        "required": ["id"], "additionalProperties": false});
    // A page can send nothing but what is declared, so an action need not say that it is closed.
    let action =
        json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    assert_eq!(check_contract(&contract(action.clone(), strict.clone())), []);
    let mut open = action;
    open["additionalProperties"] = json!(true);
    let violations = check_contract(&contract(open, strict.clone()));
    assert_eq!(violations[0].field, "actionSpec.go.schema");
    assert_eq!(violations[0].known_code(), Some(Code::GguiCtrSchemaIncompat));
    // A void action sends an empty object.
    assert_eq!(check_contract(&contract(Value::Null, json!({"type": "object"}))), []);
    assert_eq!(check_contract(&contract(Value::Null, strict)).len(), 1);
}

#[test]
fn what_a_source_returns_fits_its_channel() {
    let contract = |output: Value| {
        DataContract::read(&json!({
            "streamSpec": {"s": {"schema": {"type": "number"}, "source": {"tool": "t"}}},
            "agentCapabilities": {"tools": {"t": {"toolInfo": {
                "inputSchema": {"type": "object"}, "outputSchema": output}}}},
        }))
        .unwrap()
    };
    assert_eq!(check_contract(&contract(json!({"type": "integer"}))), []);
    let violations = check_contract(&contract(json!({"type": "string"})));
    assert_eq!(violations[0].field, "streamSpec.s.schema");
    assert!(violations[0].message.contains("type-mismatch"), "{}", violations[0].message);
}

#[test]
fn the_tools_of_the_server_are_compared_too() {
    let text = json!({"type": "object", "properties": {"id": {"type": "string"}}});
    let number = json!({"type": "object", "properties": {"id": {"type": "number"}}});
    let declared = contract(text.clone(), text.clone());
    assert_eq!(check_tools(&declared, |_| Some(&text)), []);
    let findings = check_tools(&declared, |name| (name == "go").then_some(&number));
    assert_eq!((findings[0].kind, findings[0].failures.len()), (FindingKind::SchemaMismatch, 1));
    // A tool that the contract declares need not be one of this server.
    assert_eq!(check_tools(&declared, |_| None), []);
    let unknown = json!({"actionSpec": {"go": {"label": "Go", "nextStep": "none"}}});
    let unknown = DataContract::read(&unknown).unwrap();
    let missing = check_tools(&unknown, |_| None);
    assert_eq!(missing[0].kind, FindingKind::ToolNotFound);

    assert_eq!(Policy::Reject.decide("ggui_render", missing.clone()), Ok(missing.clone()));
    assert_eq!(Policy::Warn.decide("ggui_render", findings.clone()), Ok(findings.clone()));
    assert_eq!(Policy::Off.decide("ggui_render", findings.clone()), Ok(Vec::new()));
    let failure = Policy::Reject.decide("ggui_render", findings).unwrap_err();
    assert_eq!(failure.code, Code::GguiSchemaMismatchError);
    let start = "ggui_render: SCHEMA_MISMATCH_ERROR — 1 finding";
    assert!(failure.message.starts_with(start), "{}", failure.message);
    let details = failure.details.unwrap();
    assert_eq!(details["error"], "SCHEMA_MISMATCH_ERROR");
    assert_eq!(details["findings"][0]["failures"][0]["reason"], "type-mismatch");
}
