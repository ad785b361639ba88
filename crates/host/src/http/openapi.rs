//! The routes as an OpenAPI 3.1 document.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use accord_contract::alx::ErrorEnvelope;
use accord_contract::codes::Code;
use accord_contract::wire::{Object, Value, json_schema};
use serde_json::json;

use super::errors;
use super::reply::status_of;
use super::table::{Content, Location, Route};

/// The failure codes of every route.
const COMMON: [Code; 11] = [
    Code::HttpMalformed,
    Code::AuthRequired,
    Code::Unauthorized,
    Code::HttpHostRefused,
    Code::HttpOriginRefused,
    Code::HttpHeadersTooLarge,
    Code::HttpFault,
    Code::HttpTooManyConnections,
    Code::StoreBusy,
    Code::StoreCorrupt,
    Code::StoreUnavailable,
];

/// The additional failure codes of routes that write.
const OF_WRITES: [Code; 2] = [Code::StoreFull, Code::StoreReadOnly];

/// The additional failure codes of Accord's own routes with a JSON body.
const OF_OWN_DOCUMENTS: [Code; 3] =
    [Code::WireFieldMissing, Code::WireFieldType, Code::WireFieldValue];

/// The additional failure codes of routes with a body.
const OF_BODIES: [Code; 3] = [Code::HttpBodyTimeout, Code::HttpBodyBroken, Code::InputTooLarge];

/// The document.
pub(super) fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| document(&super::every_route()).to_string())
}

/// The document for a list of routes.
pub(super) fn document(routes: &[Route]) -> Value {
    let mut schemas = Schemas::default();
    let error = schemas.take(json_schema::<ErrorEnvelope>());
    let mut paths: BTreeMap<&str, Object> = BTreeMap::new();
    for route in routes {
        let method = route.method.as_str().to_lowercase();
        let operation = operation(route, &error, &mut schemas);
        paths.entry(route.path).or_default().insert(method, operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Accord",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Shared memory for teams of humans and AI agents.",
            "description": "The routes below /v1 belong to the Agentic Protocol 0.1; those below \
                /accord/v1 are Accord's own. Every error has the same body, an ErrorEnvelope with \
                a code.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"key": []}, {}],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {
                "type": "http",
                "scheme": "bearer",
                "description": "A key of the server. A server without keys needs none, and listens \
                    only on its own machine.",
            }},
            "schemas": schemas.0,
        },
    })
}

/// The names of the parameters in a path.
pub(super) fn path_parameters(path: &str) -> Vec<&str> {
    let parts = path.split('{').skip(1);
    parts.filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
}

/// The description of a path parameter.
pub(super) fn about_path_parameter(name: &str) -> &'static str {
    match name {
        "project_id" => "The project's id.",
        "package_id" => "The package's id.",
        "fact_id" => "The fact's id.",
        "session_id" => "The session's id.",
        "key_id" => "The key's id (not the key itself).",
        "digest" => "The SHA-256 digest of the content, in lower-case hexadecimal.",
        _ => "The id.",
    }
}

/// All failure codes of a route.
pub(super) fn refusals(route: &Route) -> Vec<Code> {
    let mut codes = route.refusals.clone();
    codes.extend(COMMON);
    if route.method != hyper::Method::GET {
        codes.extend(OF_WRITES);
    }
    if matches!(route.body, Some(Content::Json(_))) && !route.path.starts_with("/v1/") {
        codes.extend(OF_OWN_DOCUMENTS);
    }
    match route.body {
        Some(Content::Json(_)) => {
            codes.push(Code::HttpMediaType);
            codes.extend(OF_BODIES);
        }
        Some(_) => codes.extend(OF_BODIES),
        None => {}
    }
    for code in &mut codes {
        *code = errors::code_in(route.protocol, *code);
    }
    codes.sort_unstable();
    codes.dedup();
    codes
}

fn operation(route: &Route, error: &Value, schemas: &mut Schemas) -> Value {
    let mut parameters = Vec::new();
    for name in path_parameters(route.path) {
        parameters.push(json!({
            "name": name,
            "in": "path",
            "required": true,
            "description": about_path_parameter(name),
            "schema": {"type": "string"},
        }));
    }
    for parameter in &route.parameters {
        parameters.push(json!({
            "name": parameter.name,
            "in": match parameter.location {
                Location::Query => "query",
                Location::Header => "header",
            },
            "required": parameter.required,
            "description": parameter.about,
            "schema": {"type": "string"},
        }));
    }
    let mut operation = Object::new();
    operation.insert("operationId".into(), route.name.into());
    operation.insert("summary".into(), route.summary.into());
    if !parameters.is_empty() {
        operation.insert("parameters".into(), parameters.into());
    }
    if let Some(body) = route.body {
        let body = json!({"required": true, "content": content(body, schemas)});
        operation.insert("requestBody".into(), body);
    }
    operation.insert("responses".into(), responses(route, error, schemas).into());
    Value::Object(operation)
}

fn responses(route: &Route, error: &Value, schemas: &mut Schemas) -> Object {
    let mut responses = Object::new();
    for answer in &route.answers {
        let mut response = json!({"description": answer.about});
        if let Some(body) = answer.content {
            response["content"] = content(body, schemas);
        }
        responses.insert(answer.status.to_string(), response);
    }
    let mut refused: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in refusals(route) {
        let status = status_of(code).as_u16();
        refused.entry(status).or_default().push(code);
    }
    for (status, codes) in refused {
        let codes = codes.iter().map(|code| format!("`{code}`: {}", code.meaning()));
        let about = codes.collect::<Vec<_>>().join("\n\n");
        let body = json!({"application/json": {"schema": error}});
        responses.insert(status.to_string(), json!({"description": about, "content": body}));
    }
    responses
}

fn content(content: Content, schemas: &mut Schemas) -> Value {
    let media_type = media_type(content);
    let schema = match content {
        Content::Json(schema) => schemas.take(schema()),
        Content::Lines | Content::Events | Content::Text => json!({"type": "string"}),
        Content::Bytes => json!({}),
    };
    json!({media_type: {"schema": schema}})
}

/// The media type of a body.
pub(super) fn media_type(content: Content) -> &'static str {
    match content {
        Content::Json(_) => "application/json",
        Content::Lines => "application/x-ndjson",
        Content::Events => "text/event-stream",
        Content::Bytes => "application/octet-stream",
        Content::Text => "text/plain",
    }
}

/// The JSON Schemas of the bodies of all routes, by the name of the message in kebab-case.
pub fn schemas() -> BTreeMap<String, Value> {
    let contents = super::every_route().into_iter().flat_map(|route| {
        let answers = route.answers.into_iter().filter_map(|answer| answer.content);
        route.body.into_iter().chain(answers).collect::<Vec<_>>()
    });
    let bodies = contents.filter_map(|content| match content {
        Content::Json(schema) => Some(schema()),
        _ => None,
    });
    bodies
        .chain([json_schema::<ErrorEnvelope>()])
        .filter_map(|schema| {
            let name = schema["$ref"].as_str()?.strip_prefix("#/$defs/")?;
            Some((kebab_case(name), schema))
        })
        .collect()
}

/// `PackageList` as `package-list`.
fn kebab_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// The schemas of a document, each of them once.
#[derive(Default)]
pub(super) struct Schemas(pub(super) BTreeMap<String, Value>);

impl Schemas {
    /// Collects the definitions of a schema, and returns the schema with references to them.
    pub(super) fn take(&mut self, schema: Value) -> Value {
        let Value::Object(mut members) = schema else {
            return schema;
        };
        members.shift_remove("$schema");
        if let Some(Value::Object(definitions)) = members.shift_remove("$defs") {
            for (name, mut definition) in definitions {
                refer(&mut definition);
                self.0.insert(name, definition);
            }
        }
        let mut whole = Value::Object(members);
        refer(&mut whole);
        whole
    }
}

/// Rewrites references to where OpenAPI keeps schemas.
fn refer(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(place) if name == "$ref" => {
                        *place = place.replace("#/$defs/", "#/components/schemas/");
                    }
                    member => refer(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(refer),
        _ => {}
    }
}
