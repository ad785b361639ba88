//! What waits at an edge, as a person reads it before deciding.

use accord_api::operations::edges::EdgeItem;
use accord_base::words::{in_words, members_in_words};
use accord_contract::{Object, Value};

use super::page::{LINE, Page};
use super::text::{clean, one_line};
use super::time::Times;

/// The members of a document that are shown in a place of their own, or not at all.
const APART: [&str; 8] =
    ["title", "facts", "task", "files", "output", "verbs", "files_digest", "digest"];

/// One request or result, in the words of its edge.
pub(crate) fn edge_item(page: &mut Page, item: &EdgeItem) {
    let nothing = Object::new();
    let document = item.document.as_ref().unwrap_or(&nothing);
    let title = document.get("title").and_then(Value::as_str).unwrap_or(&item.type_name);
    page.heading(&one_line(title, LINE));
    page.labelled("type", &item.type_name);
    page.labelled("received", &Times::default().at(Some(&item.received_at)));
    page.gap();
    page.heading("What the edge says");
    for about in ["facts", "task"] {
        if let Some(Value::Object(members)) = document.get(about) {
            facts(page, members_in_words(members));
        }
    }
    let rest = document.iter().filter(|(name, _)| !APART.contains(&name.as_str()));
    facts(page, members_in_words(&rest.map(|(name, it)| (name.clone(), it.clone())).collect()));
    for file in document.get("files").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| file.get(name).map(in_words).unwrap_or_default();
        let size = match text("size") {
            size if size.is_empty() => "gone, or not read".to_owned(),
            size => format!("{size} bytes"),
        };
        page.line(format!("  file {}, {size}", one_line(&text("path"), LINE)));
        lines(page, &text("diff"));
    }
    if let Some(output) = document.get("output") {
        page.line("  output");
        lines(page, &in_words(output));
    }
    page.labelled_some("digest", item.evidence.as_deref());
}

fn facts(page: &mut Page, facts: Vec<(String, String)>) {
    for (name, value) in facts {
        let mut rest = value.lines();
        let first = clean(rest.next().unwrap_or_default());
        page.paragraph(&format!("{}: {first}", one_line(&name, LINE)));
        rest.for_each(|line| page.line(format!("    {}", clean(line))));
    }
}

fn lines(page: &mut Page, text: &str) {
    text.lines().for_each(|line| page.line(format!("    {}", clean(line))));
}
