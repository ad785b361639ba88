//! The schema of a contract, as short as it can be for a model to write one.

use accord_contract::Value;
use serde_json::json;

pub(super) fn blueprint_draft() -> Value {
    let described = |about: &str| json!({"type": "object", "description": about});
    json!({
        "type": "object",
        "properties": {
            "contract": {
                "type": "object",
                "description": "Schemas: draft-07 subset, closed objects.",
                "properties": {
                    "propsSpec": described("contentMediaType text/markdown is rendered."),
                    "actionSpec": described("{NAME: {label, schema?, description?, confirm?}}"),
                    "streamSpec": described(
                        "{NAME: {schema, mode?: append|replace, replay?: latest|all}}",
                    ),
                    "contextSpec": {"type": "object"},
                },
            },
            "variance": {"type": "object"},
        },
        "required": ["contract"],
    })
}
