//! For generated settings: a removal gives the same bytes, a second time changes nothing, and all
//! other members keep their values.

use accord_wiring::{TOOLS, Tool};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Map, Value, json};

use crate::desk::{Desk, choices};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~äß€]{0,12}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z#/]{1,6}", inner), 0..4)
                .prop_map(|members| { Value::Object(members.into_iter().collect::<Map<_, _>>()) }),
        ]
    })
}

/// A document with members that Accord uses, too.
fn document() -> impl Strategy<Value = Value> {
    let servers = prop::option::of(prop::collection::vec(("[b-z]{1,5}", value()), 0..3));
    let groups = prop::option::of(prop::collection::vec(value(), 0..3));
    let others = prop::collection::vec(("[o-z]{1,5}", value()), 0..4);
    (servers, groups, others, any::<bool>()).prop_map(|(servers, groups, others, first)| {
        let mut members: Map<String, Value> = Map::new();
        if first {
            members.extend(others.clone());
        }
        if let Some(servers) = servers {
            let servers: Map<String, Value> = servers.into_iter().collect();
            for key in ["mcpServers", "mcp"] {
                members.insert(key.to_owned(), Value::Object(servers.clone()));
            }
        }
        if let Some(groups) = groups {
            members.insert("hooks".to_owned(), json!({"SessionStart": groups}));
        }
        members.extend(others);
        Value::Object(members)
    })
}

/// How a document is laid out.
#[derive(Clone, Copy, Debug)]
struct Layout {
    is_pretty: bool,
    has_windows_lines: bool,
    has_mark: bool,
    has_final_newline: bool,
}

fn layout() -> impl Strategy<Value = Layout> {
    any::<(bool, bool, bool, bool)>().prop_map(|(one, two, three, four)| Layout {
        is_pretty: one,
        has_windows_lines: two,
        has_mark: three,
        has_final_newline: four,
    })
}

fn written(document: &Value, layout: Layout) -> String {
    let mut text = match layout.is_pretty {
        true => serde_json::to_string_pretty(document).expect("JSON"),
        false => document.to_string(),
    };
    if layout.has_final_newline {
        text.push('\n');
    }
    if layout.has_windows_lines {
        text = text.replace('\n', "\r\n");
    }
    if layout.has_mark { format!("\u{feff}{text}") } else { text }
}

/// The value of a file without what Accord adds.
fn without_ours(text: &str) -> Value {
    let text = text.trim_start_matches('\u{feff}');
    let mut value: Value = serde_json::from_str(text).expect("JSON");
    for key in ["mcpServers", "mcp"] {
        if let Some(servers) = value.get_mut(key).and_then(Value::as_object_mut) {
            servers.remove("accord");
            if servers.is_empty() {
                value.as_object_mut().expect("an object").remove(key);
            }
        }
    }
    if let Some(groups) = value.pointer_mut("/hooks/SessionStart").and_then(Value::as_array_mut) {
        groups.retain(|group| !group.to_string().contains("accord hook"));
        if groups.is_empty() {
            value.as_object_mut().expect("an object").remove("hooks");
        }
    }
    value
}

fn keeps(tool: Tool, path: &str, text: &str) -> Result<(), TestCaseError> {
    let mut desk = Desk::with(&[(path, text), ("AGENTS.md", "# A")]);
    let before = desk.state();
    // A document that cannot be edited is refused before anything is written.
    let Ok(_) = desk.plan(&choices(tool)) else { return Ok(()) };
    desk.wire(&choices(tool));
    prop_assert_eq!(without_ours(&desk.text(path)), without_ours(text));
    prop_assert!(desk.plan(&choices(tool)).expect("a plan").is_done());
    // By the text alone, too.
    let mut other = desk.clone();
    desk.remove(&choices(tool));
    prop_assert_eq!(desk.state(), before);
    other.put(path, &format!("{}\n", other.text(path)));
    other.remove(&choices(tool));
    prop_assert_eq!(without_ours(&other.text(path)), without_ours(text));
    prop_assert!(!other.text(path).contains("accord"));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn json_is_as_before_after_a_removal(document in document(), layout in layout()) {
        let text = written(&document, layout);
        for (tool, path) in [
            (Tool::Claude, ".mcp.json"),
            (Tool::Claude, ".claude/settings.json"),
            (Tool::Codex, ".codex/hooks.json"),
            (Tool::Gemini, ".gemini/settings.json"),
            (Tool::Opencode, "opencode.jsonc"),
        ] {
            keeps(tool, path, &text)?;
        }
    }

    #[test]
    fn any_text_is_as_before_after_a_removal(
        text in "[ \n\r#\\[\\]a-c.=\"'{},:/<!>-]{0,80}",
        has_final_newline in any::<bool>(),
    ) {
        let text = if has_final_newline { format!("{text}\n") } else { text };
        for tool in TOOLS {
            for path in [".mcp.json", ".codex/config.toml", "opencode.json", "AGENTS.md"] {
                let mut desk = Desk::with(&[(path, &text)]);
                let before = desk.state();
                if desk.plan(&choices(tool)).is_ok() {
                    desk.wire(&choices(tool));
                    prop_assert!(desk.plan(&choices(tool)).expect("a plan").is_done());
                    desk.remove(&choices(tool));
                    prop_assert_eq!(desk.state(), before);
                }
            }
        }
    }
}
