//! The entry of the MCP server in the files of each tool.

use accord_contract::Code;
use accord_wiring::{Choices, Door, Tool};
use serde_json::json;

use crate::desk::{Desk, choices, forced};

#[test]
fn a_fresh_project_gets_the_files_of_the_tool() {
    let files = |tool: Tool| {
        let mut desk = Desk::default();
        let plan = desk.wire(&choices(tool));
        assert!(plan.notes.is_empty() && plan.kept.is_empty(), "{plan:?}");
        (desk.paths().into_iter().cloned().collect::<Vec<_>>(), desk)
    };
    let (paths, desk) = files(Tool::Claude);
    assert_eq!(paths, [".claude/settings.json", ".mcp.json", "AGENTS.md"]);
    assert_eq!(
        desk.text(".mcp.json"),
        r#"{
  "mcpServers": {
    "accord": {
      "type": "stdio",
      "command": "accord",
      "args": ["mcp", "--project", "shop"]
    }
  }
}
"#
    );
    let (paths, desk) = files(Tool::Codex);
    assert_eq!(paths, [".codex/config.toml", ".codex/hooks.json", "AGENTS.md"]);
    assert_eq!(
        desk.text(".codex/config.toml"),
        "[mcp_servers.accord]\ncommand = \"accord\"\nargs = [\"mcp\", \"--project\", \"shop\"]\n\
         env_vars = [\"ACCORD_SOCKET\", \"ACCORD_TASK_ID\", \"AGENTXCHAIN_TURN_ID\", \
         \"ACCORD_DATA\", \"ACCORD_URL\", \"ACCORD_KEY\"]\n"
    );
    let (paths, desk) = files(Tool::Gemini);
    assert_eq!(paths, [".gemini/settings.json", "GEMINI.md"]);
    let server = &desk.json(".gemini/settings.json")["mcpServers"]["accord"];
    assert_eq!(*server, json!({"command": "accord", "args": ["mcp", "--project", "shop"]}));
    let (paths, desk) = files(Tool::Opencode);
    assert_eq!(paths, [".opencode/plugins/accord.js", "AGENTS.md", "opencode.json"]);
    let document = desk.json("opencode.json");
    assert_eq!(document["$schema"], "https://opencode.ai/config.json");
    let words = json!(["accord", "mcp", "--project", "shop"]);
    let server = json!({"type": "local", "command": words, "enabled": true});
    assert_eq!(document["mcp"]["accord"], server);
}

#[test]
fn with_a_server_the_entry_names_the_variable_of_the_key() {
    let entry = |tool: Tool, path: &str| {
        let door = Door::Server("https://memory.example.org/".to_owned());
        let mut desk = Desk::default();
        desk.wire(&Choices { door, ..choices(tool) });
        desk.text(path)
    };
    let arguments = "\"mcp\",\"--url\",\"https://memory.example.org\",\"--project\",\"shop\"";
    for (tool, path, reference) in [
        (Tool::Claude, ".mcp.json", "\"env\":{\"ACCORD_KEY\":\"${ACCORD_KEY:-}\"}"),
        (Tool::Codex, ".codex/config.toml", "\"ACCORD_KEY\""),
        (Tool::Gemini, ".gemini/settings.json", "\"env\":{\"ACCORD_KEY\":\"$ACCORD_KEY\"}"),
        (Tool::Opencode, "opencode.json", "\"environment\":{\"ACCORD_KEY\":\"{env:ACCORD_KEY}\"}"),
    ] {
        let text: String = entry(tool, path).split_whitespace().collect();
        assert!(text.contains(arguments) && text.contains(reference), "{text}");
    }
}

#[test]
fn what_else_is_in_a_file_stays_as_it_is() {
    // Comments, indentation, line ends, a byte order mark, a missing final newline.
    for (tool, path, before, after) in [
        (
            Tool::Gemini,
            ".gemini/settings.json",
            "// Ours\n{\n\t\"ui\": {\"theme\": \"x\"}, // dark\n\t\"mcpServers\": {\n\t\t\
             \"other\": {\"command\": \"o\"} // keep\n\t}\n}",
            "// Ours\n{\n\t\"ui\": {\"theme\": \"x\"}, // dark\n\t\"mcpServers\": {\n\t\t\
             \"other\": {\"command\": \"o\"}, // keep\n\t\t\"accord\": {\n\t\t\t\
             \"command\": \"accord\",\n\t\t\t\"args\": [\"mcp\", \"--project\", \"shop\"]\n\t\t}\n\
             \t},\n",
        ),
        (
            Tool::Claude,
            ".mcp.json",
            "\u{feff}{\r\n    \"mcpServers\": {\r\n        \"b\": {}\r\n    }\r\n}\r\n",
            "\u{feff}{\r\n    \"mcpServers\": {\r\n        \"b\": {},\r\n        \"accord\": {\r\n\
             \x20           \"type\": \"stdio\",\r\n            \"command\": \"accord\",\r\n\
             \x20           \"args\": [\"mcp\", \"--project\", \"shop\"]\r\n        }\r\n    }\r\n\
             }\r\n",
        ),
        (
            Tool::Codex,
            ".codex/config.toml",
            "# Mine\r\nmodel = 'x' # good\r\n\r\n[mcp_servers.z]\r\ncommand = \"z\" # keep",
            "# Mine\r\nmodel = 'x' # good\r\n\r\n[mcp_servers.z]\r\ncommand = \"z\" # keep\r\n\
             \r\n[mcp_servers.accord]\r\ncommand = \"accord\"\r\n\
             args = [\"mcp\", \"--project\", \"shop\"]\r\n\
             env_vars = [\"ACCORD_SOCKET\", \"ACCORD_TASK_ID\", \"AGENTXCHAIN_TURN_ID\", \
             \"ACCORD_DATA\", \"ACCORD_URL\", \"ACCORD_KEY\"]\r\n",
        ),
        (
            Tool::Opencode,
            "opencode.jsonc",
            "{\n  // Models\n  \"model\": \"a/b\",\n}\n",
            "{\n  // Models\n  \"model\": \"a/b\",\n  \"mcp\": {\n    \"accord\": {\n      \
             \"type\": \"local\",\n      \"command\": [\"accord\", \"mcp\", \"--project\", \
             \"shop\"],\n      \"enabled\": true\n    }\n  },\n}\n",
        ),
    ] {
        let mut desk = Desk::with(&[(path, before)]);
        desk.wire(&choices(tool));
        let text = desk.text(path);
        assert!(text.starts_with(after), "{path}\n{text}\nexpected\n{after}");
    }
}

#[test]
fn a_second_time_changes_nothing() {
    for tool in accord_wiring::TOOLS {
        let mut desk = Desk::with(&[("AGENTS.md", "# Shop\n")]);
        desk.wire(&choices(tool));
        let before = desk.state();
        let plan = desk.wire(&choices(tool));
        assert!(plan.is_done(), "{tool:?}: {plan:?}");
        assert_eq!(desk.state(), before);
    }
}

#[test]
fn a_name_that_another_server_has_is_refused() {
    for (tool, path, text) in [
        (Tool::Claude, ".mcp.json", "{\"mcpServers\": {\"accord\": {\"command\": \"honda\"}}}"),
        (Tool::Codex, ".codex/config.toml", "[mcp_servers]\naccord = { command = 'honda' }\n"),
    ] {
        let desk = Desk::with(&[(path, text)]);
        let (code, message) = desk.refusal(&choices(tool));
        assert_eq!(code, Code::WiringNameTaken, "{message}");
        assert!(message.contains(path), "{message}");
        let mut desk = desk;
        let name = "accord-memory".to_owned();
        desk.wire(&Choices { name, ..choices(tool) });
        assert!(desk.text(path).contains("accord-memory"));
    }
}

#[test]
fn an_older_entry_is_replaced_in_place_and_a_changed_one_is_kept() {
    for (tool, path) in [(Tool::Claude, ".mcp.json"), (Tool::Codex, ".codex/config.toml")] {
        let mut desk = Desk::default();
        desk.wire(&choices(tool));
        let project = Some("books".to_owned());
        let plan = desk.wire(&Choices { project, ..choices(tool) });
        assert_eq!(plan.kept, Vec::<String>::new());
        let text = desk.text(path);
        assert!(text.contains("books") && !text.contains("shop"), "{text}");

        let changed = text.replace("\"books\"", "\"books\", \"--data\", \"/m\"");
        desk.put(path, &changed);
        let plan = desk.wire(&choices(tool));
        assert_eq!(desk.text(path), changed);
        assert!(plan.kept[0].starts_with(path) && plan.kept[0].contains("--force"), "{plan:?}");
        desk.wire(&forced(tool));
        assert!(!desk.text(path).contains("/m"));
    }
}

#[test]
fn a_broken_file_is_refused_with_its_line_and_nothing_is_planned() {
    for (tool, path, text, place) in [
        (Tool::Claude, ".mcp.json", "{\n  \"mcpServers\": {,}\n}", "line 2, column 18"),
        // The client calls a comment malformed.
        (Tool::Claude, ".mcp.json", "{\n  // servers\n}", "line 2, column 3"),
        (Tool::Claude, ".mcp.json", "[]", "not an object"),
        (Tool::Claude, ".mcp.json", "{\"mcpServers\": []}", "mcpServers is not an object"),
        (Tool::Claude, ".mcp.json", "{\"mcpServers\": {}, \"mcpServers\": {}}", "twice"),
        (Tool::Claude, ".claude/settings.json", "{\"hooks\": {\"SessionStart\": {}}}", "a list"),
        // Gemini CLI does not read trailing commas.
        (Tool::Gemini, ".gemini/settings.json", "{\n  \"a\": 1,\n}", "line 2"),
        (Tool::Codex, ".codex/config.toml", "model = 'x'\nbad\n", "line 2"),
        (Tool::Codex, ".codex/config.toml", "mcp_servers = {}\n", "mcp_servers"),
        (Tool::Opencode, "opencode.json", "{\"mcp\": 1}", "mcp is not an object"),
    ] {
        let (code, message) = Desk::with(&[(path, text)]).refusal(&choices(tool));
        assert_eq!(code, Code::WiringFileBroken, "{message}");
        assert!(message.starts_with(path) && message.contains(place), "{text}: {message}");
    }
    let mut desk = Desk::default();
    desk.files.insert(".mcp.json".to_owned(), b"{\n\"a\": \"\xff\"}".to_vec());
    let (_, message) = desk.refusal(&choices(Tool::Claude));
    assert!(message.contains("line 2, column 7"), "{message}");
}

#[test]
fn a_link_is_followed_inside_of_the_project_alone() {
    let mut desk = Desk::with(&[("config/mcp.json", "{}\n"), (".mcp.json", "{}\n")]);
    desk.links.insert(".mcp.json".to_owned(), Some("config/mcp.json".to_owned()));
    let plan = desk.wire(&choices(Tool::Claude));
    assert!(plan.changes.iter().any(|change| change.path == "config/mcp.json"), "{plan:?}");
    assert_eq!(desk.text(".mcp.json"), "{}\n", "the link itself is no file to write");

    desk.links.insert(".mcp.json".to_owned(), None);
    assert_eq!(desk.refusal(&choices(Tool::Claude)).0, Code::WiringOutside);
}

#[test]
fn an_empty_file_is_filled() {
    let mut desk = Desk::with(&[(".mcp.json", ""), (".codex/config.toml", "\n")]);
    desk.wire(&choices(Tool::Claude));
    assert_eq!(desk.json(".mcp.json")["mcpServers"]["accord"]["command"], "accord");
    desk.wire(&choices(Tool::Codex));
    desk.remove(&choices(Tool::Claude));
    desk.remove(&choices(Tool::Codex));
    assert_eq!((desk.text(".mcp.json"), desk.text(".codex/config.toml")), ("".into(), "\n".into()));
}

#[test]
fn a_diff_shows_what_changes() {
    let desk = Desk::with(&[("AGENTS.md", "# Shop\n")]);
    let diff = desk.plan(&choices(Tool::Codex)).expect("a plan").diff();
    assert!(diff.contains("--- /dev/null\n+++ b/.codex/config.toml\n"), "{diff}");
    assert!(diff.contains("--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1"), "{diff}");
    assert!(diff.contains("\n+[mcp_servers.accord]\n"), "{diff}");
}
