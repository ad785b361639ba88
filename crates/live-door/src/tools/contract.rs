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
                    "propsSpec": described(
                        "A text can have contentMediaType text/markdown, or format uri.",
                    ),
                    "actionSpec": described("{NAME: {label, schema?, description?, confirm?}}"),
                    "streamSpec": described(
                        "{NAME: {schema, mode?: append|replace, replay?: none|latest|all, \
                         complete?}}",
                    ),
                    "contextSpec": described("{NAME: {schema, default?}}, given as uiContext"),
                },
            },
            "variance": {"type": "object"},
        },
        "required": ["contract"],
    })
}
