//! The enforced schema of props, and updates of props.

use accord_contract::Code;
use accord_live_core::contract::DataContract;
use accord_live_core::props::{EnforcedProps, Profile, PropsUpdate, merge_patch};
use accord_live_core::schema::Quota;
use serde_json::{Value, json};

fn enforced(props: Value) -> EnforcedProps {
    let contract = DataContract::read(&json!({"propsSpec": {"properties": props}}));
    let contract = contract.expect("a contract");
    let props = EnforcedProps::build(contract.props.as_ref(), &mut Quota::default());
    props.expect("schemas that hold")
}

#[test]
fn the_schema_is_closed_sorted_and_without_notes_that_have_no_effect() {
    let props = enforced(json!({
        "rows": {"schema": {"type": "array", "items": {
            "type": "object", "required": ["id", "at"], "example": {"nullable": true},
            "properties": {"id": {"type": "string", "nullable": true}, "at": {"type": "string"}},
        }}, "required": true},
        "b": {"schema": {"type": ["string"], "nullable": true, "default": {"example": 1}}},
        "a": {"schema": {"type": "string", "format": "date"}, "required": true, "example": "x"},
    }));
    let expected = concat!(
        r#"{"additionalProperties":false,"properties":{"#,
        r#""a":{"format":"date","type":"string"},"#,
        r#""b":{"default":{"example":1},"type":["string","null"]},"#,
        r#""rows":{"items":{"additionalProperties":false,"properties":{"at":{"type":"string"},"#,
        r#""id":{"type":["string","null"]}},"required":["at","id"],"type":"object"},"#,
        r#""type":"array"}},"#,
        r#""required":["a","rows"],"type":"object"}"#,
    );
    assert_eq!(props.document().to_string(), expected);
    // printf of the text above | sha256sum: the document is in canonical form.
    assert_eq!(props.hash(), "4ed1ba2f44366a14492d832fc462d87b084cc1c9a3c47a752dc871f8a784513c");
    assert_eq!(props.profile(), Profile::Full, "a default is not in a grammar");
    assert!(props.check(&json!({"a": "2026-01-01", "rows": [{"id": null, "at": "x"}]})).is_empty());
    let violations = props.check(&json!({"a": "x", "rows": [{"id": 1}], "c": 1}));
    let fields: Vec<_> = violations.iter().map(|violation| violation.field.as_str()).collect();
    assert_eq!(fields, ["a", "rows[0].at", "rows[0].id", "c"]);
}

#[test]
fn without_props_only_empty_props_are_valid() {
    let props = EnforcedProps::build(None, &mut Quota::default()).unwrap();
    assert_eq!(
        props.document().to_string(),
        r#"{"additionalProperties":false,"properties":{},"required":[],"type":"object"}"#
    );
    assert!(props.check(&json!({})).is_empty());
    assert_eq!(props.check(&json!({"x": 1}))[0].keyword.as_deref(), Some("additionalProperties"));
    assert_eq!(props.check(&json!([]))[0].keyword.as_deref(), Some("type"));
}

#[test]
fn the_profile_follows_from_keywords_and_formats() {
    for (schema, profile) in [
        (json!({"type": "string", "format": "date-time"}), Profile::GrammarSafe),
        (json!({"type": "string", "format": "url"}), Profile::Full),
        (json!({"type": "string", "pattern": "a"}), Profile::Full),
        (json!({"type": "string", "minLength": 1}), Profile::Full),
        (
            json!({"type": "string", "enum": ["a"], "title": "t", "description": "d"}),
            Profile::GrammarSafe,
        ),
        (json!({"type": "object", "additionalProperties": true}), Profile::Full),
        (json!({"type": "object", "additionalProperties": {"type": "string"}}), Profile::Full),
        (json!({"type": "array", "items": {"type": "number", "minimum": 1}}), Profile::Full),
        (json!({"anyOf": [{"type": "string"}, {"type": "object"}]}), Profile::GrammarSafe),
    ] {
        let props = enforced(json!({"a": {"schema": schema}}));
        assert_eq!(props.profile(), profile, "{}", props.document());
    }
}

#[test]
fn an_update_has_what_its_kind_asks_for() {
    let read = |request: Value| PropsUpdate::read(request.as_object().unwrap());
    assert!(matches!(read(json!({"kind": "replace", "props": {}})), Ok(PropsUpdate::Replace(_))));
    assert!(matches!(read(json!({"kind": "merge", "patch": {}})), Ok(PropsUpdate::Merge(_))));
    for (request, field, code) in [
        (json!({"kind": "replace"}), "props", Some(Code::GguiCtrUpdateMissingProps)),
        (json!({"kind": "merge"}), "patch", Some(Code::GguiCtrUpdateMissingPatch)),
        (
            json!({"kind": "merge", "patch": {}, "props": {}}),
            "props",
            Some(Code::GguiCtrUpdateMixedFields),
        ),
        (
            json!({"kind": "replace", "patch": {}, "props": {}}),
            "patch",
            Some(Code::GguiCtrUpdateMixedFields),
        ),
        (json!({"kind": "replace", "patch": {}}), "patch", Some(Code::GguiCtrUpdateMixedFields)),
        (json!({"kind": "append"}), "kind", None),
        (json!({"props": {}}), "kind", None),
        (json!({"kind": "merge", "patch": []}), "patch", None),
    ] {
        let violation = read(request.clone()).expect_err(&request.to_string()).remove(0);
        assert_eq!((violation.field.as_str(), violation.known_code()), (field, code), "{request}");
    }
}

#[test]
fn an_update_that_changes_nothing_says_so() {
    let current = json!({"a": 1, "b": {"c": [1]}});
    let current = current.as_object().unwrap();
    let update = |request: Value| {
        PropsUpdate::read(request.as_object().unwrap()).unwrap().apply(current).map(Value::Object)
    };
    assert_eq!(update(json!({"kind": "merge", "patch": {"b": {"c": [1.0]}, "d": null}})), None);
    assert_eq!(update(json!({"kind": "replace", "props": {"b": {"c": [1]}, "a": 1}})), None);
    let merged = update(json!({"kind": "merge", "patch": {"a": null, "b": {"d": 2}}}));
    assert_eq!(merged, Some(json!({"b": {"c": [1], "d": 2}})));
    assert_eq!(update(json!({"kind": "replace", "props": {"a": 2}})), Some(json!({"a": 2})));
}

#[test]
fn a_patch_is_merged_as_rfc_7396_defines_it() {
    for (target, patch, merged) in [
        (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
        (json!({"a": "b"}), json!({"a": null}), json!({})),
        (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
        (json!({"a": "foo"}), json!(null), json!(null)),
        (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
        (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
        (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
    ] {
        assert_eq!(merge_patch(&target, &patch), merged, "{target} {patch}");
    }
}
