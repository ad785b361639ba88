//! What is there already, and what a person still has to approve.

use serde_json::Value;

use crate::document::{Dialect, get};
use crate::elsewhere::read;
use crate::entry::{is_server, words};
use crate::plan::Snapshot;
use crate::tool::{Homes, Scope, Tool};

/// The entry of a server that a tool has.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Present {
    /// The project that it names.
    pub project: Option<String>,
    /// The URL of its server.
    pub url: Option<String>,
}

/// The entry of a tool with a name, if it is one of Accord.
pub fn present(
    tool: Tool,
    scope: Scope,
    name: &str,
    homes: &Homes,
    snapshot: &Snapshot,
) -> Option<Present> {
    let spot = tool.server(scope, homes, |path| snapshot.has(path));
    let path = snapshot.real(&spot.path).ok()?;
    let document = read(spot.dialect, &path, snapshot);
    let keys: Vec<String> = spot.keys.iter().copied().chain([name]).map(str::to_owned).collect();
    let server = get(&document, &keys).filter(|server| is_server(server))?;
    let words = words(server);
    let after = |option: &str| {
        let at = words.iter().position(|word| word == option)?;
        words.get(at + 1).cloned()
    };
    // Earlier versions wrote the URL of MCP over HTTP.
    let over_http = server["url"].as_str().map(|url| {
        let url = url.trim_end_matches('/').trim_end_matches("/memory");
        url.trim_end_matches("/mcp").to_owned()
    });
    Some(Present { project: after("--project"), url: after("--url").or(over_http) })
}

/// What a person still has to approve before a tool uses the entries of a project, in sentences.
/// Accord never writes this itself.
pub fn trust(tool: Tool, root: &str, homes: &Homes, snapshot: &Snapshot) -> Vec<String> {
    match tool {
        Tool::Claude => claude(root, homes, snapshot),
        Tool::Codex => codex(root, homes, snapshot),
        Tool::Gemini => gemini(root, homes, snapshot),
        Tool::Opencode => Vec::new(),
    }
}

fn claude(root: &str, homes: &Homes, snapshot: &Snapshot) -> Vec<String> {
    let spot = Tool::Claude.server(Scope::User, homes, |_| false);
    let state = read(Dialect::Comments, &spot.path, snapshot);
    let project = &state["projects"][root];
    let mut open = Vec::new();
    if project["hasTrustDialogAccepted"] != true {
        open.push("start `claude` here once, and trust the folder".to_owned());
    }
    let local = read(Dialect::Comments, ".claude/settings.local.json", snapshot);
    let user = read(Dialect::Comments, &format!("{}/settings.json", homes.claude()), snapshot);
    let is_approved = [project, &local, &user].iter().any(|settings| {
        let names = settings["enabledMcpjsonServers"].as_array();
        let is_named = names.is_some_and(|names| names.iter().any(|name| name == "accord"));
        is_named || settings["enableAllProjectMcpServers"] == true
    });
    if !is_approved {
        open.push("approve the MCP server when `claude` asks (also: /mcp)".to_owned());
    }
    open
}

fn codex(root: &str, homes: &Homes, snapshot: &Snapshot) -> Vec<String> {
    let path = format!("{}/config.toml", homes.codex());
    let config = read(Dialect::Toml, &path, snapshot);
    let mut open = Vec::new();
    if config["projects"][root]["trust_level"] != "trusted" {
        open.push(
            "start `codex` here once, and trust the folder: without that it ignores \
             .codex/config.toml, the hook and AGENTS.md, and does not say so"
                .to_owned(),
        );
    }
    let hooks = format!("{root}/.codex/hooks.json");
    let states = config["hooks"]["state"].as_object().cloned().unwrap_or_default();
    let is_trusted = states.iter().any(|(key, state)| {
        key.starts_with(&hooks) && state.get("trusted_hash").is_some_and(Value::is_string)
    });
    if !is_trusted {
        open.push("review the hook in `codex` (/hooks): it runs only after that".to_owned());
    }
    open
}

fn gemini(root: &str, homes: &Homes, snapshot: &Snapshot) -> Vec<String> {
    let path = format!("{}/.gemini/trustedFolders.json", homes.home);
    let folders = read(Dialect::Comments, &path, snapshot);
    let is_trusted = folders.as_object().into_iter().flatten().any(|(folder, level)| {
        let is_here = root == folder || root.starts_with(&format!("{folder}/"));
        is_here && level == "TRUST_FOLDER"
    });
    match is_trusted {
        true => Vec::new(),
        false => vec![
            "start `gemini` here once, and trust the folder: without that it ignores \
             .gemini/settings.json"
                .to_owned(),
        ],
    }
}
