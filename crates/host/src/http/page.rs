//! The routes as an HTML page, without scripts and without external resources.

use std::fmt::Write as _;
use std::sync::OnceLock;

use accord_api::{Content, Declaration};
use accord_contract::Value;

use super::groups::{GROUPS, every_declaration};
use super::openapi::{Schemas, media_type};
use super::{examples, words};
use accord_serving::declared::refusals;

const STYLE: &str = include_str!("page.css");

pub(super) fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| page(&every_declaration()))
}

/// The content security policy of the page: it may use its own style, and nothing else.
pub(super) fn policy() -> &'static str {
    static POLICY: OnceLock<String> = OnceLock::new();
    POLICY.get_or_init(|| {
        let digest = accord_canon::sha256(STYLE.as_bytes());
        let digest = data_encoding::BASE64.encode(digest.as_bytes());
        format!(
            "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'"
        )
    })
}

fn page(routes: &[Declaration]) -> String {
    let mut schemas = Schemas::default();
    let (mut list, mut body) = (String::new(), String::new());
    for group in GROUPS.iter().map(|group| group.name) {
        let members: Vec<_> = (routes.iter()).filter(|route| route.group == group).collect();
        if members.is_empty() {
            continue;
        }
        let _ = write!(list, "<strong>{group}</strong>");
        let _ = write!(body, "<h2>{group}</h2>");
        for route in members {
            let _ =
                write!(list, "<a href=\"#{0}\">{1}</a>", route.name, route.name.replace('_', " "));
            article(route, &mut schemas, &mut body);
        }
    }
    let _ = write!(list, "<strong>Documents</strong>");
    let _ = write!(body, "<h2>Documents</h2>");
    for (name, schema) in &schemas.0 {
        let _ = write!(list, "<a href=\"#schema-{name}\">{name}</a>");
        definition(name, schema, &mut body);
    }
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Accord {version}: routes</title><style>{STYLE}</style></head>\
         <body><div class=\"frame\">\
         <header><h1>Accord {version}</h1>\
         <p>The routes below <code>/v1</code> belong to the Agentic Protocol 0.1; those below \
         <code>/accord/v1</code> are Accord’s own. For programs: \
         <a href=\"/openapi.json\">/openapi.json</a>.</p>\
         <p>On a server that has keys, send <code>Authorization: Bearer KEY</code>. Every error \
         has the same JSON body: <code>error.code</code> is for programs, \
         <code>error.message</code> \
         for people, and <code>correlationId</code> finds it in the server’s log.</p></header>\
         <nav>{list}</nav><main>{body}</main></div></body></html>\n",
        version = env!("CARGO_PKG_VERSION"),
    )
}

fn article(route: &Declaration, schemas: &mut Schemas, out: &mut String) {
    let _ = write!(
        out,
        "<article id=\"{name}\"><h3><span class=\"method {method}\">{method}</span>\
             <span>{path}</span><span class=\"name\">{name}</span></h3>\
             <p>{summary}</p><pre>{curl}</pre>",
        name = route.name,
        method = route.method,
        path = escaped(route.path),
        summary = escaped(&route.summary),
        curl = escaped(&examples::of(route.name).next().unwrap_or_default())
    );
    parameters(route, out);
    if let Some(body) = route.body {
        let optional = if body.required { "" } else { " <small>optional</small>" };
        let media_type = media_type(body.content);
        let _ = write!(out, "<h4>Body</h4><dl><dt>{media_type}{optional}</dt>");
        let _ = write!(out, "<dd>{}</dd></dl>", document_of(body.content, schemas));
    }
    out.push_str("<h4>Answers</h4><dl>");
    for answer in &route.answers {
        let _ = write!(out, "<dt>{}</dt><dd>{}", answer.status, escaped(answer.about));
        if let Some(content) = answer.content {
            let _ = write!(out, " {}", document_of(content, schemas));
        }
        out.push_str("</dd>");
    }
    out.push_str("</dl><details><summary>Refusals</summary><dl>");
    for code in refusals(route) {
        let _ = write!(
            out,
            "<dt>{} <small>{}</small></dt><dd>{}</dd>",
            code.as_str(),
            code.http_status(),
            escaped(code.meaning())
        );
    }
    out.push_str("</dl></details></article>");
}

fn parameters(route: &Declaration, out: &mut String) {
    if route.parameters.is_empty() {
        return;
    }
    out.push_str("<h4>Parameters</h4><dl>");
    for parameter in &route.parameters {
        let about = escaped(&parameter.about);
        let kind = escaped(&words::of_parameter(parameter));
        let _ = write!(
            out,
            "<dt>{} <small>{}</small></dt><dd>{about} <em>{kind}</em></dd>",
            parameter.name,
            words::place(parameter)
        );
    }
    out.push_str("</dl>");
}

/// The content of a body, with a link to its schema.
fn document_of(content: Content, schemas: &mut Schemas) -> String {
    match content {
        Content::Json(schema) => type_of(&schemas.take(schema())),
        Content::Lines => "JSON documents, one per line".into(),
        Content::Events => "A stream of events".into(),
        Content::Bytes => "The raw content".into(),
        Content::Text(_) => "Text".into(),
    }
}

fn definition(name: &str, schema: &Value, out: &mut String) {
    let _ = write!(out, "<article id=\"schema-{name}\"><h3>{name}</h3>");
    if let Some(about) = schema["description"].as_str() {
        let _ = write!(out, "<p>{}</p>", escaped(about));
    }
    let required = schema["required"].as_array();
    let required =
        |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    out.push_str("<dl>");
    for (member, schema) in schema["properties"].as_object().into_iter().flatten() {
        let star = if required(member) { "" } else { " <small>optional</small>" };
        let about = schema["description"].as_str().unwrap_or_default();
        let _ = write!(
            out,
            "<dt>{}{star}</dt><dd>{} {}</dd>",
            escaped(member),
            type_of(schema),
            escaped(about)
        );
    }
    out.push_str("</dl></article>");
}

/// The type that a schema allows, for people.
fn type_of(schema: &Value) -> String {
    let link = |name: &str| format!("<a href=\"#schema-{name}\">{name}</a>");
    words::of_schema(schema, &words::Writer { text: &escaped, link: &link })
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
    out
}
