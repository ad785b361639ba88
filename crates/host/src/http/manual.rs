//! The manual: one Markdown page per route, made from the same list as the router.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use accord_contract::codes::page_name;

use super::openapi::{about_path_parameter, path_parameters, refusals};
use super::reply::status_of;
use super::table::{Content, Location, Route};
use super::{every_route, examples};

/// The pages by file name, with `README.md` as their index.
pub fn pages() -> BTreeMap<String, String> {
    let routes = every_route();
    let mut pages: BTreeMap<_, _> =
        (routes.iter()).map(|route| (file_name(route), page(route))).collect();
    pages.insert("README.md".to_owned(), index(&routes));
    pages
}

fn file_name(route: &Route) -> String {
    format!("{}.md", route.name)
}

fn index(routes: &[Route]) -> String {
    let mut out = String::from(
        "# The HTTP interface\n\n\
         One page per route, generated from the list that the router uses. Every server shows the\n\
         same at `/docs`, and as OpenAPI at `/openapi.json`. The commands work one after the \
         other on\na new server; a test runs them.\n\n\
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

fn is_own(route: &Route) -> bool {
    !route.path.starts_with("/v1/")
}

fn page(route: &Route) -> String {
    let mut out =
        format!("# {}\n\n{}\n\n    {} {}\n", route.name, route.summary, route.method, route.path);
    for command in examples::of(route.name) {
        let _ = write!(out, "\n```sh\n{command}\n```\n");
    }
    parameters(route, &mut out);
    if let Some(content) = route.body {
        let _ = write!(out, "\n## Body\n\n{}.\n", in_words(content));
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

fn parameters(route: &Route, out: &mut String) {
    let in_path = path_parameters(route.path);
    if in_path.is_empty() && route.parameters.is_empty() {
        return;
    }
    out.push_str("\n## Parameters\n\n| Name | Place | |\n|---|---|---|\n");
    for name in in_path {
        let _ = writeln!(out, "| `{name}` | path | {} |", about_path_parameter(name));
    }
    for parameter in &route.parameters {
        let place = match (parameter.location, parameter.required) {
            (Location::Query, false) => "query",
            (Location::Query, true) => "query, required",
            (Location::Header, _) => "header",
        };
        let _ = writeln!(out, "| `{}` | {place} | {} |", parameter.name, parameter.about);
    }
}

fn in_words(content: Content) -> String {
    match content {
        Content::Json(schema) => match schema()["title"].as_str() {
            Some(title) => format!("`{title}`, as JSON"),
            None => "JSON".to_owned(),
        },
        Content::Lines => "JSON documents, one per line".to_owned(),
        Content::Events => "A stream of server-sent events".to_owned(),
        Content::Bytes => "The raw content".to_owned(),
        Content::Text => "Text".to_owned(),
    }
}
