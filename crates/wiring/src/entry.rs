//! What is written for each tool: the MCP server, the hook, the instructions, the plugin.

use accord_contract::{Code, Failure};
use serde_json::{Value, json};

use crate::bytes::Text;
use crate::tool::{Scope, Tool};

/// The variable with the key for a server. A settings file names it, and never has its value.
const KEY: &str = "ACCORD_KEY";

/// What `accord mcp` reads in the environment of an agent, with the marks of workers.
const PASSED_ON: [&str; 6] =
    ["ACCORD_SOCKET", "ACCORD_TASK_ID", "AGENTXCHAIN_TURN_ID", "ACCORD_DATA", "ACCORD_URL", KEY];

/// How long a client waits for the hook, in seconds. The hook itself ends after one.
const HOOK_SECONDS: u32 = 5;

/// What Accord's entries look like.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Choices {
    pub tool: Tool,
    pub scope: Scope,
    /// The name of the MCP server.
    pub name: String,
    /// The project of calls that name none.
    pub project: Option<String>,
    /// The program: its name, or an absolute path in the settings of a user.
    pub command: String,
    pub door: Door,
    /// Replaces entries that somebody changed.
    pub force: bool,
}

/// How the tool reaches Accord.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Door {
    /// The command, as a child process. It finds the data folder.
    Command,
    /// A server, by its URL.
    Server(String),
}

impl Choices {
    /// The entry of the MCP server: the command also where a server is asked. A worker that Accord
    /// starts has no key, and its command uses the socket of its attempt instead.
    pub(crate) fn server(&self) -> Value {
        let (command, arguments) = (&self.command, self.arguments());
        let mut server = match self.tool {
            Tool::Claude => json!({"type": "stdio", "command": command, "args": arguments}),
            // It passes no other variables on.
            Tool::Codex => {
                json!({"command": command, "args": arguments, "env_vars": PASSED_ON})
            }
            Tool::Gemini => json!({"command": command, "args": arguments}),
            Tool::Opencode => {
                let words: Vec<&String> = std::iter::once(command).chain(&arguments).collect();
                json!({"type": "local", "command": words, "enabled": true})
            }
        };
        let reference = match self.tool {
            Tool::Claude => Some(("env", format!("${{{KEY}:-}}"))),
            Tool::Codex => None,
            Tool::Gemini => Some(("env", format!("${KEY}"))),
            Tool::Opencode => Some(("environment", format!("{{env:{KEY}}}"))),
        };
        if let (Door::Server(_), Some((member, reference))) = (&self.door, reference) {
            server[member] = json!({KEY: reference});
        }
        server
    }

    /// The arguments of `accord mcp`.
    pub fn arguments(&self) -> Vec<String> {
        let url = match &self.door {
            Door::Server(url) => Some(["--url", url.trim_end_matches('/')]),
            Door::Command => None,
        };
        let project = self.project.as_deref().map(|project| ["--project", project]);
        let options = url.into_iter().chain(project).flatten();
        std::iter::once("mcp").chain(options).map(str::to_owned).collect()
    }

    /// The command of the hook: one plain string. Several clients can run it, and not all of them
    /// pass arguments of a list on. A word that would need quotes is left out: the hook finds the
    /// project as every command does.
    fn hook_command(&self) -> String {
        let is_plain = |text: &str| {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:/".contains(letter);
            !text.is_empty() && text.chars().all(plain) && !text.starts_with('-')
        };
        let options = self.arguments();
        let options = options[1..].chunks(2).filter(|option| is_plain(&option[1]));
        let options: String =
            options.map(|option| format!(" {} {}", option[0], option[1])).collect();
        format!("{} hook{options}", self.command)
    }

    /// The handler of the hook.
    pub(crate) fn hook(&self) -> Value {
        let command = self.hook_command();
        match self.tool {
            Tool::Gemini => json!({"name": self.name, "type": "command", "command": command,
                "timeout": HOOK_SECONDS * 1000}),
            _ => json!({"type": "command", "command": command, "timeout": HOOK_SECONDS}),
        }
    }

    /// The plugin of opencode, which has no hooks.
    pub(crate) fn plugin(&self) -> String {
        let words: Vec<String> = match self.hook_command().strip_prefix(&self.command) {
            Some(rest) => rest.split_whitespace().map(str::to_owned).collect(),
            None => vec!["hook".to_owned()],
        };
        include_str!("../assets/opencode.js")
            .replace("\"@COMMAND@\"", &Value::from(self.command.as_str()).to_string())
            .replace("[\"@ARGUMENTS@\"]", &Value::from(words).to_string())
    }
}

/// What the block of instructions says. At most 250 words.
pub const INSTRUCTIONS: &str = include_str!("../assets/instructions.md");

/// The instructions of a project, with the name of the MCP server.
pub fn block_body(choices: &Choices) -> String {
    let project = match &choices.project {
        Some(project) => format!(", project `{}`", project.replace(['`', '\n', '\r'], " ")),
        None => String::new(),
    };
    INSTRUCTIONS.replace("@NAME@", &choices.name).replace("@PROJECT@", &project)
}

/// A new file for the servers of a tool.
pub(crate) fn new_document(tool: Tool) -> Text {
    // The client adds this member when it reads a file without it.
    Text::new(match tool {
        Tool::Opencode => "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n".to_owned(),
        Tool::Codex => String::new(),
        Tool::Claude | Tool::Gemini => "{}\n".to_owned(),
    })
}

/// Whether the value is an entry of Accord's server.
pub(crate) fn is_server(value: &Value) -> bool {
    let words = words(value);
    let is_local = words.first().is_some_and(|program| is_accord(program))
        && words.get(1).is_some_and(|word| word == "mcp");
    let is_remote = ["/mcp/memory", "/mcp"].iter().any(|end| {
        value["url"].as_str().is_some_and(|url| url.trim_end_matches('/').ends_with(end))
    });
    is_local || (is_remote && value.to_string().contains(KEY))
}

/// The program and the arguments of a server.
pub(crate) fn words(value: &Value) -> Vec<String> {
    let list = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    match &value["command"] {
        Value::String(program) => {
            std::iter::once(program.clone()).chain(list(&value["args"])).collect()
        }
        command => list(command),
    }
}

/// Whether the value is a handler that runs Accord's hook.
pub(crate) fn is_hook(value: &Value) -> bool {
    let mut words = value["command"].as_str().unwrap_or_default().split_whitespace();
    words.next().is_some_and(is_accord) && words.next() == Some("hook")
}

fn is_accord(program: &str) -> bool {
    program.rsplit('/').next() == Some("accord")
}

/// The refusal of a name that another server has.
pub(crate) fn taken(path: &str, name: &str) -> Failure {
    let message = format!("{path} has another MCP server with the name {name}");
    Failure::new(Code::WiringNameTaken, message)
        .suggesting("choose another name with --name, for example --name accord-memory")
}
