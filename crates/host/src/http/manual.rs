//! The manual: one Markdown page per route, made from the same list as the router.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use accord_api::{Body, Content, Declaration};
use accord_contract::Value;
use accord_contract::codes::page_name;

use super::groups::every_declaration;
use super::openapi::kebab_case;
use super::reply::status_of;
use super::{examples, words};
use accord_serving::declared::refusals;

/// The pages by file name, with `README.md` as their index.
pub fn pages() -> BTreeMap<String, String> {
    let routes = every_declaration();
    let mut pages: BTreeMap<_, _> =
        (routes.iter()).map(|route| (file_name(route), page(route))).collect();
    pages.insert("README.md".to_owned(), index(&routes));
    pages
}

fn file_name(route: &Declaration) -> String {
    format!("{}.md", route.name)
}

fn index(routes: &[Declaration]) -> String {
    let mut out = String::from(
        "# The HTTP interface\n\n\
         One page per route, generated from the list that the router uses. Every server shows the\n\
         same at `/docs`, and as OpenAPI at `/openapi.json`; [openapi.md](../openapi.md) makes \
         clients from it.\nThe commands work one after the other on a new server; a test runs \
         them.\n\n\
         Every error has the same body, with a code that has [a page](../codes/README.md):\n\n\
         ```json\n\
         {\"ok\":false,\"correlationId\":\"…\",\"protocol\":{…},\n \
         \"error\":{\"type\":\"…\",\"code\":\"…\",\"message\":\"…\"},\"code\":\"…\"}\n\
         ```\n",
    );
    for (title, own) in [("The protocol's routes", false), ("Accord's own routes", true)] {
        let _ = write!(out, "\n## {title}\n\n| Route | Request | |\n|---|---|---|\n");
        for route in routes.iter().filter(|route| is_own(route) == own) {
            let _ = writeln!(
                out,
                "| [{}]({}) | `{} {}` | {} |",
                route.name,
                file_name(route),
                route.method,
                route.path,
                route.summary,
            );
        }
    }
    out
}

fn is_own(route: &Declaration) -> bool {
    !route.path.starts_with("/v1/")
}

fn page(route: &Declaration) -> String {
    let mut out =
        format!("# {}\n\n{}\n\n    {} {}\n", route.name, route.summary, route.method, route.path);
    for command in examples::of(route.name) {
        let _ = write!(out, "\n```sh\n{command}\n```\n");
    }
    parameters(route, &mut out);
    if let Some(sent) = route.body {
        body(sent, &mut out);
    }
    out.push_str("\n## Answers\n\n| Status | | Body |\n|---|---|---|\n");
    for answer in &route.answers {
        let body = answer.content.map(in_words).unwrap_or_default();
        let _ = writeln!(out, "| {} | {} | {body} |", answer.status, answer.about);
    }
    out.push_str("\n## Refusals\n\n| Status | Code | |\n|---|---|---|\n");
    for code in refusals(route) {
        let _ = writeln!(
            out,
            "| {} | [`{}`](../codes/{}) | {} |",
            status_of(code),
            code.as_str(),
            page_name(code),
            code.meaning(),
        );
    }
    out
}

fn parameters(route: &Declaration, out: &mut String) {
    if route.parameters.is_empty() {
        return;
    }
    out.push_str("\n## Parameters\n\n| Name | Place | Value | |\n|---|---|---|---|\n");
    for parameter in &route.parameters {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            parameter.name,
            words::place(parameter),
            escaped(&words::of_parameter(parameter)),
            parameter.about
        );
    }
}

/// The request body: its name, and the members of every message in it.
fn body(body: Body, out: &mut String) {
    let may = if body.required { "" } else { " It may be empty." };
    let _ = write!(out, "\n## Body\n\n{}.{may}\n", in_words(body.content));
    let Content::Json(schema) = body.content else { return };
    let schema = schema();
    let Some(definitions) = schema["$defs"].as_object() else { return };
    let whole = message_name(&schema);
    // The whole message first, then those inside it.
    let first = definitions.iter().filter(|(name, _)| Some(name.as_str()) == whole);
    let rest = definitions.iter().filter(|(name, _)| Some(name.as_str()) != whole);
    for (name, definition) in first.chain(rest) {
        members(name, definition, out);
    }
}

fn members(name: &str, definition: &Value, out: &mut String) {
    let _ = write!(
        out,
        "\n### {name}\n\n{}\n\n| Member | Value | Required | |\n|---|---|---|---|\n",
        definition["description"].as_str().unwrap_or_default()
    );
    let required: Vec<_> =
        definition["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let link = |name: &str| format!("[{name}](#{})", name.to_lowercase());
    let writer = words::Writer { text: &escaped, link: &link };
    for (member, schema) in definition["properties"].as_object().into_iter().flatten() {
        let need = match (required.contains(&member.as_str()), schema["readOnly"] == true) {
            (true, _) => "yes",
            (false, false) => "no",
            (false, true) => "set by the server",
        };
        let _ = writeln!(
            out,
            "| `{member}` | {} | {need} | {} |",
            words::of_schema(schema, &writer),
            schema["description"].as_str().unwrap_or_default()
        );
    }
    let others = match definition["additionalProperties"].is_object() {
        true => "Other members are kept as they are.",
        false => "Other members are refused.",
    };
    let _ = write!(out, "\n{others}\n");
}

fn in_words(content: Content) -> String {
    match content {
        Content::Json(schema) => {
            let schema = schema();
            let choices = schema["anyOf"].as_array().cloned().unwrap_or_else(|| vec![schema]);
            let names: Vec<_> = choices.iter().filter_map(message_name).map(linked).collect();
            match names.as_slice() {
                [] => "JSON".to_owned(),
                names => format!("{}, as JSON", names.join(" or ")),
            }
        }
        Content::Lines => "JSON documents, one per line".to_owned(),
        Content::Events => "A stream of server-sent events".to_owned(),
        Content::Bytes => "The raw content".to_owned(),
        Content::Text(media_type) => format!("Text (`{media_type}`)"),
    }
}

/// The name of the message that a schema refers to.
fn message_name(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The name of a message, with a link to its JSON Schema.
fn linked(name: &str) -> String {
    format!("[`{name}`](../schemas/{}.schema.json)", kebab_case(name))
}

/// A text in a table of Markdown.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('*', "\\*").replace('<', "&lt;")
}
