//! The settings of the user, and what they mean for a project.

use accord_wiring::{Choices, Scope, Tool, present};

use crate::desk::{Desk, choices, homes};

fn user(tool: Tool) -> Choices {
    Choices { scope: Scope::User, project: None, ..choices(tool) }
}

#[test]
fn the_settings_of_the_user_get_server_and_hook_without_a_project() {
    for (tool, paths) in [
        (Tool::Claude, vec!["/home/ada/.claude.json", "/home/ada/.claude/settings.json"]),
        (Tool::Codex, vec!["/home/ada/.codex/config.toml", "/home/ada/.codex/hooks.json"]),
        (Tool::Gemini, vec!["/home/ada/.gemini/settings.json"]),
        (
            Tool::Opencode,
            vec![
                "/home/ada/.config/opencode/opencode.json",
                "/home/ada/.config/opencode/plugins/accord.js",
            ],
        ),
    ] {
        let mut desk = Desk::default();
        desk.wire(&user(tool));
        assert_eq!(desk.paths(), paths);
        assert!(!desk.text(paths[0]).contains("--project"));
        desk.remove(&user(tool));
        assert!(desk.files.is_empty());
    }
}

#[test]
fn what_the_user_has_for_all_projects_is_not_added_again() {
    for tool in [Tool::Claude, Tool::Codex, Tool::Gemini, Tool::Opencode] {
        let mut desk = Desk::default();
        desk.wire(&user(tool));
        let plan = desk.plan(&choices(tool)).expect("a plan");
        assert!(plan.is_done(), "{tool:?} {plan:?}");
        assert!(plan.notes.iter().any(|note| note.contains("for all projects")), "{plan:?}");
    }
}

#[test]
fn a_server_of_the_user_for_one_memory_does_not_count() {
    let path = "/home/ada/.codex/config.toml";
    let text = "[mcp_servers.accord]\ncommand = 'accord'\nargs = ['mcp', '--data', '/a/.accord']\n";
    let mut desk = Desk::with(&[(path, text)]);
    let plan = desk.wire(&choices(Tool::Codex));
    assert!(desk.text(".codex/config.toml").contains("[mcp_servers.accord]"));
    assert_eq!(desk.text(path), text, "the settings of the user are not touched");
    assert!(plan.notes[0].contains("codex mcp remove accord"), "{plan:?}");
}

#[test]
fn a_plugin_has_server_and_hook() {
    let settings = "{\"enabledPlugins\": {\"accord@team\": true}}";
    let mut desk = Desk::with(&[(".claude/settings.json", settings)]);
    let plan = desk.wire(&choices(Tool::Claude));
    assert_eq!(desk.paths(), [".claude/settings.json"]);
    assert!(plan.notes[0].contains("plugin"), "{plan:?}");
    let off = "{\"enabledPlugins\": {\"accord@team\": false}}";
    let mut desk = Desk::with(&[(".claude/settings.json", off)]);
    desk.wire(&choices(Tool::Claude));
    assert!(desk.text(".claude/settings.json").contains("accord hook"));
}

#[test]
fn project_and_server_of_an_entry_are_read_back() {
    for tool in accord_wiring::TOOLS {
        let mut desk = Desk::default();
        desk.wire(&choices(tool));
        let read = |desk: &Desk| {
            present(tool, Scope::Project, "accord", &homes(), &desk.snapshot()).expect("an entry")
        };
        assert_eq!(read(&desk).project.as_deref(), Some("shop"));
        let mut desk = Desk::default();
        let door = accord_wiring::Door::Server("https://m.example.org".to_owned());
        desk.wire(&Choices { door, ..choices(tool) });
        assert_eq!(read(&desk).url.as_deref(), Some("https://m.example.org"));
    }
}
