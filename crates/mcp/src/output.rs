//! The receipts of tools as data, for the output schema that clients read.
//!
//! Only a tool whose every successful answer is a receipt declares one: a client may refuse an
//! answer without structured content if there is a schema for it. Some clients also check the
//! structured content of errors, so the schema allows for these.

use accord_contract::Object;
use serde_json::json;

/// One member of a tool's receipt. Receipts may have more members.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    name: &'static str,
    kind: &'static str,
    nullable: bool,
    required: bool,
}

impl Output {
    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub const fn text(name: &'static str) -> Self {
        Self::new(name, "string")
    }

    pub const fn flag(name: &'static str) -> Self {
        Self::new(name, "boolean")
    }

    pub const fn count(name: &'static str) -> Self {
        Self::new(name, "integer")
    }

    pub const fn object(name: &'static str) -> Self {
        Self::new(name, "object")
    }

    pub const fn list(name: &'static str) -> Self {
        Self::new(name, "array")
    }

    #[must_use]
    pub const fn or_null(mut self) -> Self {
        self.nullable = true;
        self
    }

    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    const fn new(name: &'static str, kind: &'static str) -> Self {
        Self { name, kind, nullable: false, required: true }
    }
}

/// The JSON Schema of a receipt, or of the error in its place.
pub fn schema(members: &[Output]) -> Object {
    let mut properties = Object::new();
    for member in members {
        let kind = match member.nullable {
            true => json!([member.kind, "null"]),
            false => json!(member.kind),
        };
        properties.insert(member.name.into(), json!({ "type": kind }));
    }
    properties.insert("error".into(), json!({"type": "object"}));
    let required = members.iter().filter(|member| member.required);
    let required: Vec<&str> = required.map(|member| member.name).collect();
    let mut schema = Object::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    schema.insert("anyOf".into(), json!([{"required": required}, {"required": ["error"]}]));
    schema
}
