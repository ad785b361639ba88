//! What is kept of an answer for the memory.

use accord_live_core::session::kept_data;
use serde_json::json;

#[test]
fn secret_fields_are_not_kept() {
    let schema = json!({
        "type": "object",
        "$defs": {"key": {"type": "string", "writeOnly": true}},
        "properties": {
            "name": {"type": "string"},
            "pin": {"type": "string", "format": "password"},
            "own": {"type": "string", "x-secret": true},
            "other": {"$ref": "#/$defs/key"},
            "api_token": {"type": "string"},
            "more": {"type": "object", "properties": {
                "city": {"type": "string"}, "code": {"type": "string", "writeOnly": true},
            }},
            "keys": {"type": "array", "items": {"type": "string", "format": "password"}},
            "either": {"anyOf": [{"type": "null"}, {"type": "string", "writeOnly": true}]},
        },
    });
    let data = json!({
        "name": "Ann", "pin": "1", "own": "2", "other": "3", "api_token": "4",
        "more": {"city": "Ulm", "code": "5"}, "keys": ["6"], "either": "7", "unknown": "8",
    });
    let kept = kept_data(&data, &schema);
    assert_eq!(kept, Some(json!({"name": "Ann", "more": {"city": "Ulm"}})));
    let open = json!({"type": "object"});
    let kept = kept_data(&json!({"name": "Ann", "n": [1]}), &open);
    assert_eq!(kept, Some(json!({"name": "Ann", "n": [1]})));
    let whole = json!({"type": "string", "writeOnly": true});
    assert_eq!(kept_data(&json!("x"), &whole), None);
}
