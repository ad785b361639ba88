//! Removal: the bytes from before, or as much as is still Accord's.

use accord_wiring::{Ledger, TOOLS, Tool};
use serde_json::json;

use crate::desk::{Desk, choices, forced};

#[test]
fn a_fresh_project_is_as_before_with_its_folders() {
    for tool in TOOLS {
        let mut desk = Desk::default();
        let before = desk.state();
        desk.wire(&choices(tool));
        assert_ne!(desk.state(), before);
        let plan = desk.remove(&choices(tool));
        assert_eq!(desk.state(), before, "{tool:?} {plan:?}");
        assert!(desk.ledger.is_empty(), "{:?}", desk.ledger);
    }
}

#[test]
fn what_others_added_since_stays() {
    let mut desk = Desk::with(&[(".mcp.json", "{\"mcpServers\": {}}\n")]);
    desk.wire(&choices(Tool::Claude));
    let mut document = desk.json(".mcp.json");
    document["mcpServers"]["z"] = json!({"command": "z"});
    desk.put(".mcp.json", &document.to_string());
    desk.remove(&choices(Tool::Claude));
    assert_eq!(desk.json(".mcp.json"), json!({"mcpServers": {"z": {"command": "z"}}}));

    let path = ".codex/config.toml";
    let mut desk = Desk::default();
    desk.wire(&choices(Tool::Codex));
    let more = format!("model = 'x'\n\n{}\n[other]\na = 1\n", desk.text(path));
    desk.put(path, &more);
    desk.remove(&choices(Tool::Codex));
    assert_eq!(desk.text(path), "model = 'x'\n\n\n[other]\na = 1\n");
}

#[test]
fn containers_that_were_there_before_stay_although_they_are_empty() {
    let mut desk = Desk::with(&[(".gemini/settings.json", "{\"hooks\": {}, \"a\": 1}")]);
    desk.wire(&choices(Tool::Gemini));
    let mut document = desk.json(".gemini/settings.json");
    document["b"] = json!(2);
    desk.put(".gemini/settings.json", &document.to_string());
    desk.remove(&choices(Tool::Gemini));
    let left = json!({"hooks": {}, "a": 1, "b": 2});
    assert_eq!(desk.json(".gemini/settings.json"), left);
}

#[test]
fn an_entry_that_somebody_changed_is_kept() {
    for (tool, path, from, to) in [
        (Tool::Claude, ".mcp.json", "\"shop\"", "\"shop\", \"--data\", \"/m\""),
        (Tool::Claude, ".claude/settings.json", "\"timeout\": 5", "\"timeout\": 50"),
        (Tool::Codex, ".codex/config.toml", "\"shop\"", "\"books\""),
        (Tool::Opencode, ".opencode/plugins/accord.js", "timeout: 2000", "timeout: 9000"),
    ] {
        let mut desk = Desk::default();
        desk.wire(&choices(tool));
        let changed = desk.text(path).replace(from, to);
        desk.put(path, &changed);
        let plan = desk.remove(&choices(tool));
        assert_eq!(desk.text(path), changed);
        assert!(plan.kept[0].starts_with(path), "{plan:?}");
        assert_eq!(desk.paths(), [path], "the other files are gone");
        desk.remove(&forced(tool));
        assert_eq!(desk.paths(), Vec::<&String>::new(), "{path}");
    }
}

#[test]
fn without_a_ledger_entries_are_found_by_their_form() {
    for tool in TOOLS {
        let mut desk = Desk::with(&[("AGENTS.md", "# Shop\n"), ("GEMINI.md", "# Shop\n")]);
        desk.wire(&choices(tool));
        desk.ledger = Ledger::default();
        desk.remove(&choices(tool));
        for path in desk.paths() {
            let text = desk.text(path);
            assert!(!text.contains("accord"), "{path}: {text}");
        }
        assert_eq!(desk.text("AGENTS.md"), "# Shop\n");
    }
    // The block is also that of another tool.
    let mut desk = Desk::default();
    desk.wire(&choices(Tool::Claude));
    desk.wire(&choices(Tool::Codex));
    desk.ledger = Ledger::default();
    desk.remove(&choices(Tool::Claude));
    assert!(desk.text("AGENTS.md").contains("accord:begin"));
}

#[test]
fn files_that_are_gone_are_no_problem() {
    for tool in TOOLS {
        let mut desk = Desk::default();
        desk.wire(&choices(tool));
        desk.files.clear();
        desk.remove(&choices(tool));
        assert!(desk.ledger.is_empty() && desk.files.is_empty(), "{:?}", desk.ledger);
    }
}

#[test]
fn a_file_that_others_changed_is_not_deleted() {
    let mut desk = Desk::default();
    desk.wire(&choices(Tool::Codex));
    let more = format!("# Theirs\n\n{}", desk.text("AGENTS.md"));
    desk.put("AGENTS.md", &more);
    // A newer version of the block after that.
    let project = Some("books".to_owned());
    let newer = accord_wiring::Choices { project, ..choices(Tool::Codex) };
    desk.wire(&newer);
    desk.remove(&newer);
    assert_eq!(desk.text("AGENTS.md"), "# Theirs\n\n");
}
