//! The routes as an OpenAPI 3.1 document.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use accord_api::{Answer, Content, Declaration, Location, Parameter};
use accord_base::ProjectId;
use accord_contract::alx::ErrorEnvelope;
use accord_contract::wire::{Shape, json_schema, shape_schema};
use accord_contract::{Code, Object, Value};
use accord_serving::declared::refusals;
use accord_serving::reply::status_of;
use serde_json::json;

use super::groups::{GROUPS, every_declaration};
use super::project_document::for_project;

pub(super) fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| document(&every_declaration()).to_string())
}

pub(super) fn text_for(project: &ProjectId) -> String {
    for_project(&document(&every_declaration()), project).to_string()
}

pub(super) fn document(routes: &[Declaration]) -> Value {
    let mut schemas = Schemas::default();
    let error = schemas.take(json_schema::<ErrorEnvelope>());
    let mut paths: BTreeMap<&str, Object> = BTreeMap::new();
    for route in routes {
        let method = route.method.as_str().to_lowercase();
        let operation = operation(route, &error, &mut schemas);
        paths.entry(route.path).or_default().insert(method, operation);
    }
    let tags = GROUPS.iter().map(|group| json!({"name": group.name, "description": group.about}));
    let tags: Vec<_> = tags.collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Accord",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Shared memory for teams of humans and AI agents.",
            "description": "The routes below /v1 belong to the Agentic Protocol 0.1; those below \
                /accord/v1 are Accord's own; those of tasks carry AOF/1. Every error has the same \
                body, an ErrorEnvelope with a code.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The server that sent this document."}],
        "security": [{"key": []}, {}],
        "tags": tags,
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

fn operation(route: &Declaration, error: &Value, schemas: &mut Schemas) -> Value {
    let route = &in_one_type(route);
    let mut operation = Object::new();
    operation.insert("operationId".into(), route.name.into());
    operation.insert("tags".into(), json!([route.group]));
    operation.insert("summary".into(), first_sentence(&route.summary).into());
    operation.insert("description".into(), route.summary.as_str().into());
    if !route.parameters.is_empty() {
        let parameters = route.parameters.iter().map(parameter);
        operation.insert("parameters".into(), parameters.collect());
    }
    if let Some(body) = route.body {
        let mut content = content(body.content, schemas);
        content.shift_remove("*/*");
        if let Content::Lines = body.content {
            // Accepted as well, and known to more clients.
            let known = "application/octet-stream";
            content.insert(known.into(), json!({"schema": bytes()}));
        }
        let body = json!({"required": body.required, "content": content});
        operation.insert("requestBody".into(), body);
    }
    operation.insert("responses".into(), responses(route, error, schemas).into());
    Value::Object(operation)
}

/// The route with JSON alone, if it has Markdown as well: a generated client reads one media type,
/// and fails at the other. So the words that ask for Markdown are left out, too.
fn in_one_type(route: &Declaration) -> Declaration {
    let mut route = route.clone();
    let is_json = |answer: &Answer| matches!(answer.content, Some(Content::Json(_)));
    let is_text = |answer: &Answer| matches!(answer.content, Some(Content::Text(_)));
    if route.answers.iter().any(is_json) && route.answers.iter().any(is_text) {
        route.answers.retain(|answer| !is_text(answer));
        for parameter in route.parameters.iter_mut().filter(|one| one.name == "format") {
            if let Shape::Enum(words) = &mut parameter.shape {
                words.members.retain(|word| !FOR_MARKDOWN.contains(word));
            }
        }
    }
    route
}

/// The values of `format` that are answered with Markdown.
const FOR_MARKDOWN: [&str; 2] = ["briefing", "markdown"];

fn parameter(parameter: &Parameter) -> Value {
    let mut schema = shape_schema(&parameter.shape);
    if let Some(default) = &parameter.default {
        schema["default"] = default.clone();
    }
    json!({
        "name": parameter.name,
        "in": match parameter.location {
            Location::Path => "path",
            Location::Query => "query",
            Location::Header => "header",
        },
        "required": parameter.required,
        "description": parameter.about,
        "schema": schema,
    })
}

fn responses(route: &Declaration, error: &Value, schemas: &mut Schemas) -> Object {
    let mut responses = Object::new();
    for answer in &route.answers {
        let response = responses
            .entry(answer.status.to_string())
            .or_insert_with(|| json!({"description": answer.about}));
        if let Some(body) = answer.content {
            let mut contents = response.get("content").cloned().unwrap_or_else(|| json!({}));
            for (media_type, body) in content(body, schemas) {
                contents[media_type] = body;
            }
            response["content"] = contents;
        }
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

fn content(content: Content, schemas: &mut Schemas) -> Object {
    let schema = match content {
        Content::Json(schema) => schemas.take(schema()),
        Content::Lines | Content::Events | Content::Text(_) => json!({"type": "string"}),
        Content::Bytes => bytes(),
    };
    let mut contents = Object::new();
    for media_type in media_types(content) {
        contents.insert(media_type.into(), json!({"schema": schema}));
    }
    contents
}

fn bytes() -> Value {
    json!({"type": "string", "format": "binary"})
}

/// The media types of a body, without parameters such as a charset.
fn media_types(content: Content) -> Vec<&'static str> {
    let essence = media_type(content);
    match content {
        // A blob is stored, and sent, with the media type that its sender gave it.
        Content::Bytes => vec![essence, "*/*"],
        _ => vec![essence],
    }
}

/// The media type of a body, without parameters such as a charset.
pub(super) fn media_type(content: Content) -> &'static str {
    let media_type = content.media_type();
    media_type.split_once(';').map_or(media_type, |(essence, _)| essence)
}

/// A text up to the end of its first sentence.
fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The JSON Schemas of the bodies of all routes, by the name of the message in kebab-case.
pub fn schemas() -> BTreeMap<String, Value> {
    let contents = every_declaration().into_iter().flat_map(|route| {
        let answers = route.answers.into_iter().filter_map(|answer| answer.content);
        let body = route.body.map(|body| body.content);
        body.into_iter().chain(answers).collect::<Vec<_>>()
    });
    let bodies = contents.filter_map(|content| match content {
        Content::Json(schema) => Some(schema()),
        _ => None,
    });
    bodies
        .chain([json_schema::<ErrorEnvelope>()])
        .flat_map(choices)
        .filter_map(|schema| {
            let name = schema["$ref"].as_str()?.strip_prefix("#/$defs/")?;
            Some((kebab_case(name), schema))
        })
        .collect()
}

/// The schemas of a body: several if it is one of several messages.
fn choices(schema: Value) -> Vec<Value> {
    let Some(choices) = schema["anyOf"].as_array() else { return vec![schema] };
    let one = |choice: &Value| {
        let mut definitions = Object::new();
        collect(choice, &schema["$defs"], &mut definitions);
        json!({"$schema": DIALECT, "$ref": choice["$ref"], "$defs": definitions})
    };
    choices.iter().map(one).collect()
}

/// Adds the definitions that a schema refers to.
fn collect(schema: &Value, all: &Value, definitions: &mut Object) {
    match schema {
        Value::Object(members) => {
            let name = members.get("$ref").and_then(Value::as_str);
            if let Some(name) = name.and_then(|name| name.strip_prefix("#/$defs/"))
                && !definitions.contains_key(name)
            {
                definitions.insert(name.to_owned(), all[name].clone());
                collect(&all[name], all, definitions);
            }
            members.values().for_each(|member| collect(member, all, definitions));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, all, definitions)),
        _ => {}
    }
}

/// `PackageList` as `package-list`.
pub(super) fn kebab_case(name: &str) -> String {
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
        let Value::Object(mut members) = schema else { return schema };
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
