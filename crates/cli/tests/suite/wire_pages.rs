//! The pages in docs/wire: their tables are what the schemas say, every document has one, and every
//! frame of a server is described.
//!
//! A page has the names of documents between `<!-- fields: NAME NAME … -->` and `<!-- end -->`. The
//! tables in between are generated from the files in docs/schemas; the name `*` stands for every
//! document that no page names. `ACCORD_BLESS=1` writes them again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::accord::accord;

const BEGIN: &str = "<!-- fields:";
const END: &str = "<!-- end -->";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The pages, by name.
pub(crate) fn wire_pages() -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(docs().join("wire")).expect("the folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let read = |path: PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).expect("a page"))
    };
    paths.map(read).collect()
}

/// Another test compares the files with the types.
fn schema(name: &str) -> Value {
    let path = docs().join(format!("schemas/{name}.schema.json"));
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("a schema")
}

/// The documents that no page names.
fn unnamed(pages: &BTreeMap<String, String>) -> Vec<String> {
    let named: BTreeSet<&str> =
        pages.values().flat_map(|text| blocks(text)).flat_map(str::split_whitespace).collect();
    let all = accord(&["schema"], "").yes();
    all.lines().filter(|name| !named.contains(name)).map(str::to_owned).collect()
}

#[test]
fn the_tables_are_what_the_schemas_say() {
    let is_blessed = std::env::var_os("ACCORD_BLESS").is_some_and(|value| value == "1");
    let pages = wire_pages();
    let others = unnamed(&pages);
    for (name, text) in pages {
        let written = with_tables(&text, &others);
        if written != text && is_blessed {
            std::fs::write(docs().join("wire").join(&name), &written).expect("a page");
            continue;
        }
        assert!(
            written == text,
            "docs/wire/{name} is not what the schemas say; ACCORD_BLESS=1 writes it again"
        );
    }
}

#[test]
fn every_document_is_on_a_page() {
    let pages = wire_pages();
    let mut names: Vec<&str> =
        pages.values().flat_map(|text| blocks(text)).flat_map(str::split_whitespace).collect();
    assert!(names.contains(&"*"), "one page has the documents that no other names");
    names.sort_unstable();
    let twice: Vec<&&str> =
        names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
    assert!(twice.is_empty(), "on two pages: {twice:?}");
}

#[test]
fn every_kind_of_a_projects_event_is_described() {
    let page = &wire_pages()["events.md"];
    let own = accord_memory_core::event::KINDS.iter();
    for kind in own.chain(accord_live_core::session::event::KINDS) {
        assert!(page.contains(&format!("`{kind}`")), "docs/wire/events.md does not have {kind}");
    }
}

/// The names of each block.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix(BEGIN)?.strip_suffix("-->"))
}

/// The page with its tables written again. A type is described once on a page.
fn with_tables(text: &str, others: &[String]) -> String {
    let mut written = String::new();
    let mut described = BTreeSet::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        written.push_str(line);
        written.push('\n');
        let Some(names) = line.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix("-->")) else {
            continue;
        };
        assert!(lines.by_ref().any(|line| line == END), "no {END} after {line}");
        let others = others.iter().map(String::as_str);
        let (stars, names): (Vec<&str>, Vec<&str>) =
            names.split_whitespace().partition(|name| *name == "*");
        for name in names.into_iter().chain(others.filter(|_| !stars.is_empty())) {
            tables(&schema(name), &mut described, &mut written);
        }
        let _ = write!(written, "\n{END}\n");
    }
    written
}

/// The tables of a document and of the types that it uses.
fn tables(schema: &Value, described: &mut BTreeSet<String>, out: &mut String) {
    let mut waiting = vec![target(&schema["$ref"]).expect("a document has a type").to_owned()];
    while !waiting.is_empty() {
        let name = waiting.remove(0);
        if !described.insert(name.clone()) {
            continue;
        }
        let shape = &schema["$defs"][&name];
        if let Some(properties) = shape["properties"].as_object() {
            let required: Vec<&str> = shape["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let _ = write!(out, "\n#### {name}\n\n{}\n\n", sentence(shape));
            out.push_str("| Member | | Type | Meaning |\n|---|---|---|---|\n");
            for (member, property) in properties {
                let presence = match (required.contains(&member.as_str()), &property["readOnly"]) {
                    (_, Value::Bool(true)) => "added by the server",
                    (true, _) => "required",
                    (false, _) => "optional",
                };
                let _ = writeln!(
                    out,
                    "| `{member}` | {presence} | {} | {} |",
                    kind(property, &mut waiting),
                    cell(property["description"].as_str().unwrap_or_default()),
                );
            }
            let _ = write!(out, "\n{}\n", unknown_members(shape, &mut waiting));
        } else {
            let _ = write!(out, "\n#### {name}\n\n{}\n\n", sentence(shape));
            let _ = writeln!(out, "Type: {}.", kind(shape, &mut waiting));
        }
    }
}

fn unknown_members(shape: &Value, waiting: &mut Vec<String>) -> String {
    match &shape["additionalProperties"] {
        Value::Bool(false) => "Unknown members are refused.".to_owned(),
        Value::Object(schema) if schema.contains_key("type") || schema.contains_key("$ref") => {
            format!("Other members: {}.", kind(&shape["additionalProperties"], waiting))
        }
        _ => "Unknown members are kept.".to_owned(),
    }
}

fn sentence(shape: &Value) -> String {
    cell(shape["description"].as_str().unwrap_or_default())
}

/// A type in words. Named types wait to be described.
fn kind(schema: &Value, waiting: &mut Vec<String>) -> String {
    if let Some(name) = target(&schema["$ref"]) {
        waiting.push(name.to_owned());
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let kinds: Vec<String> = choices.iter().map(|choice| kind(choice, waiting)).collect();
        return kinds.join(" or ");
    }
    if let Some(constant) = schema.get("const") {
        return format!("`{constant}`");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("`{}`", plain(word))).collect();
        return words.join(", ");
    }
    let Some(name) = schema["type"].as_str() else { return "any JSON value".to_owned() };
    let base = match name {
        "array" => format!("list of {}", kind(&schema["items"], waiting)),
        "object" if schema["additionalProperties"].get("type").is_some() => {
            format!("object of {}", kind(&schema["additionalProperties"], waiting))
        }
        "object" if schema["additionalProperties"].get("$ref").is_some() => {
            format!("object of {}", kind(&schema["additionalProperties"], waiting))
        }
        "string" => match schema["format"].as_str() {
            Some(format) => format!("string ({format})"),
            None => "string".to_owned(),
        },
        other => other.to_owned(),
    };
    let bound = |name: &str| schema[name].as_i64();
    let limits = match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!(", {least} to {most}"),
        (Some(least), None) => format!(", from {least}"),
        (None, Some(most)) => format!(", up to {most}"),
        (None, None) => String::new(),
    };
    let length = match (bound("minLength"), bound("maxLength")) {
        (Some(least), Some(most)) => format!(", {least} to {most} characters"),
        (None, Some(most)) => format!(", up to {most} characters"),
        (Some(1), None) => ", not empty".to_owned(),
        (Some(least), None) => format!(", at least {least} characters"),
        (None, None) => String::new(),
    };
    let count = bound("maxItems").map_or_else(String::new, |most| format!(", at most {most}"));
    format!("{base}{limits}{length}{count}")
}

fn target(reference: &Value) -> Option<&str> {
    reference.as_str()?.strip_prefix("#/$defs/")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A text within a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

mod frames {
    //! Every member of every frame of a server is in docs/wire/live.md.

    use accord_contract::{Code, Failure, Object, Time};
    use accord_live_core::contract::Mode;
    use accord_live_core::frame::{ActionAck, ServerFrame, SubscribeAck};
    use accord_live_core::session::{LedgerName, LedgerRow, StreamRow};
    use accord_live_core::version::PROTOCOL_VERSION;
    use accord_live_core::{AppId, SessionId};
    use serde_json::{Value, json};

    use super::wire_pages;

    fn every_frame() -> Vec<ServerFrame> {
        let at = Time::from_unix_millis(0);
        let session_id = || SessionId::new("s").expect("an id");
        let app_id = || AppId::new("a").expect("an id");
        let failure = || Failure::new(Code::GguiPollFailed, "it failed").with("a", 1);
        vec![
            ServerFrame::Subscribed(Box::new(SubscribeAck {
                sequence: 1,
                at,
                session: json!({}),
                stream_seq: 1,
                server_version: "v".to_owned(),
                replay_truncated: true,
                session_token: Some("t".to_owned()),
            })),
            ServerFrame::Acted(ActionAck { sequence: 1, at, warnings: Vec::new() }),
            ServerFrame::Error(Box::new(failure())),
            ServerFrame::Pong,
            ServerFrame::Render { session: json!({}), match_type: Some("exact".to_owned()) },
            ServerFrame::Data {
                session_id: session_id(),
                row: StreamRow {
                    seq: 1,
                    channel: "log".to_owned(),
                    mode: Mode::Append,
                    payload: json!(1),
                    complete: true,
                },
            },
            ServerFrame::PropsUpdate { session_id: session_id(), props: Object::new(), epoch: 1 },
            ServerFrame::DrainAck {
                app_id: app_id(),
                session_id: session_id(),
                event_id: "e".to_owned(),
                drained_at: at,
            },
            ServerFrame::RenderEvent(LedgerRow {
                seq: 1,
                at,
                kind: LedgerName::UserSubmitted.into(),
                data: json!({}),
                event_id: None,
                key: None,
            }),
            ServerFrame::ChannelPayload {
                session_id: session_id(),
                app_id: app_id(),
                channel: "log".to_owned(),
                seq: 1,
                at,
                payload: json!(1),
                complete: Some(true),
            },
            ServerFrame::ChannelError {
                session_id: session_id(),
                channel: "log".to_owned(),
                failure: Box::new(failure()),
                stack: Some("stack".to_owned()),
            },
        ]
    }

    #[test]
    fn every_member_of_every_server_frame_is_described() {
        let pages = wire_pages();
        let page = pages.get("live.md").expect("docs/wire/live.md");
        for frame in every_frame() {
            let title = format!("\n### `{}`", frame.kind());
            let sections: Vec<&str> = page.split(&title).skip(1).collect();
            assert!(!sections.is_empty(), "no section{title}");
            let sections = sections.iter().map(|rest| rest.split("\n##").next().unwrap_or(rest));
            let text: String = sections.collect();
            let document = frame.encode(PROTOCOL_VERSION, Some("r"));
            let members = document["payload"].as_object().map(Object::keys).into_iter().flatten();
            for member in members {
                assert!(text.contains(&format!("| `{member}` |")), "{title} has no {member}");
            }
            assert!(matches!(document["requestId"], Value::String(_)));
        }
    }
}
