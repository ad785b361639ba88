//! What the user has outside of the project: entries in their own settings, and plugins.

use serde_json::Value;

use crate::document::{Dialect, get};
use crate::entry::{Choices, is_hook, is_server, words};
use crate::plan::Snapshot;
use crate::tool::{Homes, Scope, Tool};

#[derive(Clone, Debug, Default)]
pub(crate) struct Elsewhere {
    /// The file of the user that has the server.
    server: Option<String>,
    /// The file of the user that has a server for one memory or project alone.
    bound: Option<(String, String)>,
    hook: Option<String>,
    plugin: Option<String>,
}

impl Elsewhere {
    pub(crate) fn find(choices: &Choices, root: &str, homes: &Homes, snapshot: &Snapshot) -> Self {
        let mut found = Self::default();
        let tool = choices.tool;
        if tool == Tool::Claude {
            let user = format!("{}/settings.json", homes.claude());
            let paths = [".claude/settings.json", ".claude/settings.local.json", user.as_str()];
            let with_plugin = paths.iter().find(|path| {
                let settings = read(Dialect::Comments, path, snapshot);
                let plugins = settings["enabledPlugins"].as_object().cloned().unwrap_or_default();
                let mut enabled = plugins.iter().filter(|(_, is_on)| **is_on != Value::Bool(false));
                enabled.any(|(name, _)| name == "accord" || name.starts_with("accord@"))
            });
            found.plugin = with_plugin.map(|path| (*path).to_owned());
        }
        if choices.scope == Scope::User {
            return found;
        }
        let spot = tool.server(Scope::User, homes, |path| snapshot.has(path));
        let document = read(spot.dialect, &spot.path, snapshot);
        let keys: Vec<String> = spot.keys.iter().map(|key| (*key).to_owned()).collect();
        let own = document["projects"][root]["mcpServers"].clone();
        for servers in [get(&document, &keys).cloned().unwrap_or_default(), own] {
            let of_accord = servers.as_object().into_iter().flatten();
            for (name, server) in of_accord.filter(|(_, server)| is_server(server)) {
                let words = words(server);
                let is_bound = words.iter().any(|word| {
                    ["--data", "--project"].iter().any(|option| word.starts_with(option))
                });
                match is_bound {
                    true => found.bound = Some((spot.path.clone(), name.clone())),
                    false => found.server = Some(spot.path.clone()),
                }
            }
        }
        if let Some(spot) = tool.hooks(Scope::User, homes) {
            let document = read(spot.dialect, &spot.path, snapshot);
            let groups = document["hooks"]["SessionStart"].as_array().cloned().unwrap_or_default();
            let mut handlers =
                groups.iter().filter_map(|group| group["hooks"].as_array()).flatten();
            found.hook = handlers.any(is_hook).then(|| spot.path.clone());
        }
        if let Some(path) = tool.plugin(Scope::User, homes) {
            found.hook = snapshot.has(&path).then_some(path);
        }
        found
    }

    pub(crate) fn has_server(&self) -> bool {
        self.server.is_some() || self.plugin.is_some()
    }

    pub(crate) fn has_hook(&self) -> bool {
        self.hook.is_some() || self.plugin.is_some()
    }

    pub(crate) fn notes(&self, tool: Tool) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(path) = &self.plugin {
            notes.push(format!("{path} enables the plugin accord, which has server and hook"));
        }
        if let Some(path) = &self.server {
            notes.push(format!("{path} has the MCP server for all projects; nothing is added"));
        }
        if let Some(path) = &self.hook {
            notes.push(format!("{path} has the hook for all projects; no second one is added"));
        }
        if let Some((path, name)) = &self.bound {
            let remove = match tool {
                Tool::Claude | Tool::Codex | Tool::Gemini => {
                    format!("remove it with `{} mcp remove {name}`", tool.name())
                }
                Tool::Opencode => "remove it".to_owned(),
            };
            notes.push(format!(
                "{path} has the server {name} for one memory, in every repository that has no \
                 entry of its own; {remove}"
            ));
        }
        notes
    }
}

/// The value of a file; nothing for one that is missing or broken.
pub(crate) fn read(dialect: Dialect, path: &str, snapshot: &Snapshot) -> Value {
    let text = snapshot.text(path).unwrap_or_default();
    dialect.value(path, text.trim_start_matches('\u{feff}')).unwrap_or_default()
}
