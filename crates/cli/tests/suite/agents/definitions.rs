//! What reaches the model of a client before it calls a tool: the definitions of all tools, and the
//! instructions of the server. Claude Code cuts a description or instructions after 2,048
//! characters.

use accord_host::mcp::{TOOLSETS, Toolbox};
use serde_json::Value;

use super::Desk;

const SETS: [&str; 3] = ["memory", "tasks", "live"];

#[test]
fn claude_gets_the_definitions_of_three_sets_uncut() {
    if let Some(desk) = Desk::with("claude") {
        let request = desk.first_request(".mcp.json", "ENABLE_TOOL_SEARCH=false claude -p hello");
        has_all(&request, true);
        // As it is installed, it gives its model names and instructions alone.
        let request = desk.first_request(".mcp.json", "claude -p hello");
        assert!(request.to_string().contains(&escaped(&instructions())), "{request}");
    }
}

#[test]
fn codex_gets_the_definitions_of_three_sets_uncut() {
    if let Some(desk) = Desk::with("codex") {
        let command = "codex exec --skip-git-repo-check hello </dev/null";
        has_all(&desk.first_request("../.codex/config.toml", command), true);
    }
}

#[test]
fn gemini_and_opencode_get_the_definitions_of_three_sets_uncut() {
    if let Some(desk) = Desk::with("gemini") {
        let command = "gemini --approval-mode yolo --skip-trust -p hello </dev/null";
        has_all(&desk.first_request("../.gemini/settings.json", command), true);
    }
    // This client does not pass instructions on.
    if let Some(desk) = Desk::with("opencode") {
        has_all(&desk.first_request("opencode.json", "opencode run hello </dev/null"), false);
    }
}

fn toolbox() -> Toolbox {
    Toolbox::join(TOOLSETS).and_then(|all| all.only(SETS)).expect("the tools")
}

fn instructions() -> String {
    toolbox().instructions(Some("shop"))
}

/// A text as it stands in a JSON document.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Checks that a request has every tool with its whole description and all its arguments.
#[track_caller]
fn has_all(request: &Value, has_instructions: bool) {
    let mut offered = Vec::new();
    collect(request, &mut offered);
    for tool in toolbox().described(Some("shop"), false) {
        let name = tool.name.as_ref();
        let is_it = |one: &&&Value| one["name"].as_str().is_some_and(|own| own.ends_with(name));
        let found = offered.iter().find(is_it);
        let found = found.unwrap_or_else(|| panic!("{name} is missing in {request}"));
        let description = tool.description.as_deref().unwrap_or_default();
        let given = found["description"].as_str().unwrap_or_default();
        assert!(given.ends_with(description), "{name}: {given}");
        for argument in tool.input_schema["properties"].as_object().expect("arguments").keys() {
            let schema = ["input_schema", "parameters", "parametersJsonSchema"];
            let mut places = schema.iter().map(|member| &found[member]["properties"]);
            assert!(places.any(|place| place.get(argument).is_some()), "{name} {argument}");
        }
    }
    if has_instructions {
        assert!(request.to_string().contains(&escaped(&instructions())), "{request}");
    }
}

/// The objects in a request that look like tools.
fn collect<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => {
            if members.contains_key("name") && members.contains_key("description") {
                found.push(value);
            }
            members.values().for_each(|member| collect(member, found));
        }
        _ => {}
    }
}

impl Desk {
    /// The first request with tools that a client sends to its model, with the tools of three sets.
    fn first_request(&self, settings: &str, command: &str) -> Value {
        let path = self.at(&format!("shop/{settings}"));
        let text = std::fs::read_to_string(&path).expect("the settings of the client");
        if !text.contains("--tools") {
            let more = format!("\"shop\",\"--tools\",\"{}\"]", SETS.join(","));
            let text = text.replacen("\"shop\"]", &more, 1);
            assert!(text.contains("--tools"), "{text}");
            std::fs::write(&path, text).expect("a file");
        }
        let before = self.api.asked().lines().count();
        let ran = self.shell(command);
        assert_eq!(ran.code, 0, "{ran:?}");
        let asked = self.api.asked();
        let requests = asked.lines().skip(before);
        let requests = requests.map(|line| serde_json::from_str(line).expect("a request"));
        let mut with_tools = requests.filter(|request: &Value| request.get("tools").is_some());
        with_tools.next().expect("a request with tools")
    }
}
