//! The OpenAPI document for one project.
//!
//! Two rules of the protocol relate a path to a body, or one request to the others, and OpenAPI
//! cannot express them: the project of a package is that of the path, and an id that is used again
//! must name the same content. In the document for one project both hold by construction: every
//! project id is that of the project, and ids that a client chooses have the form that the protocol
//! recommends. So what a tool generates from it is accepted. Answers are described as in the
//! document for all projects.

use accord_base::ProjectId;
use accord_contract::wire::{Object, Value};
use serde_json::json;

const SCHEMAS: &str = "#/components/schemas/";

/// Routes that are left out: after them the project accepts no writes.
const LEFT_OUT: [&str; 2] = ["archive", "unarchive"];

/// The document for one project.
pub(super) fn for_project(document: &Value, project: &ProjectId) -> Value {
    let mut document = document.clone();
    let mut bodies = Object::new();
    for methods in members(&mut document["paths"]) {
        let Value::Object(methods) = methods else { continue };
        methods
            .retain(|_, operation| !LEFT_OUT.iter().any(|name| operation["operationId"] == *name));
        for operation in methods.values_mut() {
            narrow_parameters(operation, project);
            let content = operation.pointer_mut("/requestBody/content/application~1json/schema");
            let Some(Value::String(place)) = content.and_then(|schema| schema.get_mut("$ref"))
            else {
                continue;
            };
            let name = place.trim_start_matches(SCHEMAS).to_owned();
            let narrowed = format!("{name}InProject");
            *place = format!("{SCHEMAS}{narrowed}");
            bodies.insert(narrowed, name.into());
        }
    }
    if let Value::Object(paths) = &mut document["paths"] {
        paths.retain(|_, methods| methods.as_object().is_some_and(|methods| !methods.is_empty()));
    }
    for (narrowed, name) in bodies {
        let name = name.as_str().unwrap_or_default();
        let mut schema = document["components"]["schemas"][name].clone();
        schema["title"] = narrowed.as_str().into();
        narrow_members(&mut schema, project);
        document["components"]["schemas"][narrowed] = schema;
    }
    document
}

fn narrow_parameters(operation: &mut Value, project: &ProjectId) {
    for parameter in operation["parameters"].as_array_mut().into_iter().flatten() {
        if matches!(parameter["name"].as_str(), Some("project_id" | "project")) {
            parameter["schema"] = only(project);
        }
    }
}

fn narrow_members(schema: &mut Value, project: &ProjectId) {
    let Value::Object(properties) = &mut schema["properties"] else {
        return;
    };
    for (name, property) in properties {
        let mut narrowed = match name.as_str() {
            "project_id" => only(project),
            "package_id" => recommended("pkg_"),
            "fact_id" => recommended("fact_"),
            _ => continue,
        };
        for kept in ["description", "readOnly"] {
            if let Some(value) = property.get(kept) {
                narrowed[kept] = value.clone();
            }
        }
        *property = narrowed;
    }
}

fn only(project: &ProjectId) -> Value {
    json!({"type": "string", "const": project.as_str()})
}

/// The form of ids that the protocol recommends: a prefix and 32 digits.
fn recommended(prefix: &str) -> Value {
    json!({"type": "string", "pattern": format!("^{prefix}[0-9a-f]{{32}}$")})
}

fn members(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_object_mut().into_iter().flat_map(Object::values_mut)
}
