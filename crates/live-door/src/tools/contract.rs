//! The schema of a contract, as short as it can be for a model to write one.

use accord_contract::Value;
use serde_json::json;

pub(super) fn blueprint_draft() -> Value {
    json!({
        "type": "object",
        "properties": {
            "contract": {
                "type": "object",
                "description": "Schemas are JSON Schema (draft-07 subset). Objects are closed: \
                    name every property. Names are unique over actionSpec, streamSpec and \
                    contextSpec.",
                "properties": {
                    "propsSpec": {
                        "type": "object",
                        "description": "What the page shows: {properties: {NAME: {schema, \
                            required?, description?, default?}}}. A text whose schema has \
                            contentMediaType text/markdown is shown as Markdown, format uri as a \
                            link.",
                    },
                    "actionSpec": {
                        "type": "object",
                        "description": "What the person can do: {NAME: {label, schema?, \
                            description?, confirm?}}. Without schema it is a button; with an \
                            object schema it is a form.",
                    },
                    "streamSpec": {
                        "type": "object",
                        "description": "Channels for ggui_emit: {NAME: {schema, mode? append or \
                            replace, replay? none, latest or all, complete?}}.",
                    },
                    "contextSpec": {
                        "type": "object",
                        "description": "State of the page that you get as uiContext: {NAME: \
                            {schema, default?}}.",
                    },
                    "agentCapabilities": {
                        "type": "object",
                        "description": "Tools that actions or channels name: {tools: {NAME: \
                            {toolInfo: {inputSchema}}}}.",
                    },
                    "clientCapabilities": {
                        "type": "object",
                        "description": "Gadgets of ggui_list_gadgets: {gadgets: {PACKAGE: \
                            {EXPORT: {}}}}.",
                    },
                },
            },
            "variance": {
                "type": "object",
                "description": "What tells UIs of one contract apart: persona, aesthetic, \
                    context, seedPrompt.",
            },
            "generator": {"description": "Ignored: no model is called."},
        },
        "required": ["contract"],
    })
}
