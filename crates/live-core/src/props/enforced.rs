//! The enforced props schema.

use std::cmp::Ordering;

use accord_contract::{Code, Object, Value, rule, wire_enum};

use crate::contract::{PropsSpec, digest};
use crate::schema::{Quota, Schema, close};
use crate::violation::Violation;

wire_enum! {
    /// What a client can do with the schema before it sends props.
    pub enum Profile("GguiPropsSchemaProfile", closed) {
        /// A grammar that generates only valid props can be made from it.
        GrammarSafe = "grammar-safe",
        /// It can only be read.
        Full = "full",
    }
}

#[derive(Debug)]
pub struct EnforcedProps {
    document: Value,
    hash: String,
    profile: Profile,
    validator: Schema,
}

impl EnforcedProps {
    /// The schema for a propsSpec. Without one, only empty props are valid. The error is what is
    /// wrong with the schemas of the props.
    ///
    /// Clauses: GGUI-PROPS-ENFORCED, GGUI-PROPS-HASH.
    pub fn build(spec: Option<&PropsSpec>, quota: &mut Quota) -> Result<Self, Vec<Violation>> {
        let mut properties = Object::new();
        let mut required: Vec<Value> = Vec::new();
        let mut violations = Vec::new();
        for (name, entry) in spec.into_iter().flat_map(|spec| spec.properties.iter()) {
            // Compiled once more inside of the whole: here a violation gets the place of its prop.
            let field = format!("propsSpec.properties.{name}.schema");
            if let Err(found) = Schema::compile_at(&entry.schema, &field, quota) {
                violations.extend(found);
            }
            properties.insert(name.to_owned(), entry.schema.clone());
            if entry.required {
                required.push(name.into());
            }
        }
        if !violations.is_empty() {
            return Err(violations);
        }
        let mut whole = Object::new();
        whole.insert("type".into(), "object".into());
        whole.insert("properties".into(), Value::Object(properties));
        whole.insert("required".into(), Value::Array(required));
        let closed = close(&Value::Object(whole));
        let document = canonical(&closed);
        let hash = digest(rule!(&document; HashBeforeForm => &closed)).map_err(|error| {
            let violation = Violation::new("propsSpec", error.to_string());
            vec![violation.of_code(Code::GguiCtrSchemaTooLarge)]
        })?;
        let validator = Schema::compile(&document)?;
        Ok(Self { hash: hash.hex(), profile: Profile::of(&document), validator, document })
    }

    pub fn document(&self) -> &Value {
        &self.document
    }

    /// The SHA-256 digest of the schema in canonical form (RFC 8785), in hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    pub fn profile(&self) -> Profile {
        self.profile
    }

    pub fn check(&self, props: &Value) -> Vec<Violation> {
        self.validator.check(props, "")
    }
}

/// The form of a schema that is returned: members in order, `required` sorted, and without what
/// has no effect. `nullable` becomes a type.
///
/// Clauses: GGUI-PROPS-CANONICAL.
fn canonical(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let is_nullable = members.get("nullable") == Some(&Value::Bool(true));
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_unstable_by(|(one, _), (other, _)| order(one, other));
    let mut canonical_members = Object::new();
    for (keyword, value) in sorted {
        let value = match (keyword.as_str(), value) {
            ("example" | "nullable", _) => continue,
            ("type", value) if rule!(is_nullable; NullableDropped => false) => nullable(value),
            ("properties", Value::Object(properties)) => {
                let mut properties: Vec<_> = properties.iter().collect();
                properties.sort_unstable_by(|(one, _), (other, _)| order(one, other));
                let properties = properties.into_iter();
                properties.map(|(name, schema)| (name.clone(), canonical(schema))).collect()
            }
            ("items" | "additionalProperties", schema) => canonical(schema),
            ("oneOf" | "anyOf", Value::Array(branches)) => branches.iter().map(canonical).collect(),
            ("required", Value::Array(names)) => {
                rule!(sorted_names(names); RequiredUnsorted => value.clone())
            }
            (_, other) => other.clone(),
        };
        canonical_members.insert(keyword.clone(), value);
    }
    Value::Object(canonical_members)
}

fn nullable(types: &Value) -> Value {
    let mut types = match types {
        Value::Array(types) => types.clone(),
        single => vec![single.clone()],
    };
    if !types.iter().any(|name| name == "null") {
        types.push("null".into());
    }
    // One type that is null already is no list.
    if types.len() == 1 { types.remove(0) } else { Value::Array(types) }
}

fn sorted_names(names: &[Value]) -> Value {
    let text = |name: &Value| name.as_str().unwrap_or_default().to_owned();
    let mut names = names.to_vec();
    names.sort_by(|one, other| order(&text(one), &text(other)));
    Value::Array(names)
}

/// The order of canonical JSON (RFC 8785): by UTF-16 code unit.
fn order(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}

impl Profile {
    /// The profile of a schema: `grammar-safe` if it uses only keywords and formats that grammars
    /// can express.
    ///
    /// Clauses: GGUI-PROPS-PROFILE.
    pub fn of(schema: &Value) -> Self {
        let is_safe = rule!(is_grammar_safe(schema); EverythingIsSafe => true);
        if is_safe { Self::GrammarSafe } else { Self::Full }
    }
}

const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

fn is_grammar_safe(schema: &Value) -> bool {
    let Value::Object(members) = schema else { return false };
    members.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        ("type" | "enum" | "const" | "required" | "description" | "title" | "aliases", _) => true,
        ("format", Value::String(format)) => FORMATS.contains(&format.as_str()),
        ("additionalProperties", value) => *value == Value::Bool(false),
        ("properties", Value::Object(properties)) => properties.values().all(is_grammar_safe),
        ("items", schema) => is_grammar_safe(schema),
        ("oneOf" | "anyOf", Value::Array(branches)) => branches.iter().all(is_grammar_safe),
        _ => false,
    })
}
