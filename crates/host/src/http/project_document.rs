//! The OpenAPI document for one project.
//!
//! Two rules of the protocol relate a path to a body, or one request to the others, and OpenAPI
//! cannot express them: the project of a package is that of the path, and an id that is used again
//! must name the same content. In the document for one project both hold by construction: every
//! project id is that of the project, and the server gives packages and facts their ids. So what a
//! tool generates from it is accepted. Answers are described as in the document for all projects.

use accord_base::ProjectId;
use accord_contract::{Object, Value};
use serde_json::json;

const SCHEMAS: &str = "#/components/schemas/";
/// Routes that are left out: after them the project accepts no writes.
const LEFT_OUT: [&str; 3] = ["archive", "unarchive", "remove_project"];

const NARROWED: [&str; 3] = ["project_id", "package_id", "fact_id"];

pub(super) fn for_project(document: &Value, project: &ProjectId) -> Value {
    let mut document = document.clone();
    let schemas = document["components"]["schemas"].clone();
    let mut bodies = Object::new();
    for methods in members(&mut document["paths"]) {
        let Value::Object(methods) = methods else { continue };
        methods.retain(|_, route| !LEFT_OUT.iter().any(|name| route["operationId"] == *name));
        for operation in methods.values_mut() {
            narrow_parameters(operation, project);
            let content = operation.pointer_mut("/requestBody/content/application~1json/schema");
            let Some(Value::String(place)) = content.and_then(|schema| schema.get_mut("$ref"))
            else {
                continue;
            };
            let name = place.trim_start_matches(SCHEMAS).to_owned();
            let members = &schemas[&name]["properties"];
            if NARROWED.iter().all(|member| members.get(member).is_none()) {
                continue;
            }
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
        let mut schema = schemas[name].clone();
        schema["title"] = narrowed.as_str().into();
        narrow_members(&mut schema, project);
        document["components"]["schemas"][narrowed] = schema;
    }
    remove_unused_schemas(&mut document);
    document
}

/// Removes the schemas of routes that are left out, and the wider forms that only requests had.
fn remove_unused_schemas(document: &mut Value) {
    loop {
        let text = document.to_string();
        let Value::Object(schemas) = &mut document["components"]["schemas"] else { return };
        let known = schemas.len();
        schemas.retain(|name, _| text.contains(&format!("\"{SCHEMAS}{name}\"")));
        // A schema that is removed may have been the only one to use another.
        if schemas.len() == known {
            return;
        }
    }
}

fn narrow_parameters(operation: &mut Value, project: &ProjectId) {
    // The document itself can be read for any project.
    if operation["operationId"] == "openapi" {
        return;
    }
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        match parameter["name"].as_str() {
            Some("project_id" | "project") => parameter["schema"] = only(project),
            Some("mint") => {
                parameter["required"] = true.into();
                parameter["schema"] = json!({"type": "boolean", "const": true});
            }
            _ => {}
        }
    }
}

fn narrow_members(schema: &mut Value, project: &ProjectId) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        match name.as_str() {
            "project_id" => {
                let about = property["description"].take();
                *property = only(project);
                property["description"] = about;
            }
            "package_id" | "fact_id" => property["readOnly"] = true.into(),
            _ => {}
        }
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name != "package_id");
    }
}

/// The id of the project, and no other text.
fn only(project: &ProjectId) -> Value {
    json!({"type": "string", "const": project.as_str()})
}

fn members(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_object_mut().into_iter().flat_map(Object::values_mut)
}
