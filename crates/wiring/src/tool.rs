//! The coding agents that can be connected, and where their settings are.

use serde::{Deserialize, Serialize};

use crate::document::Dialect;

/// A coding agent.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

/// All of them.
pub const TOOLS: [Tool; 4] = [Tool::Claude, Tool::Codex, Tool::Gemini, Tool::Opencode];

/// Whose settings are edited: those of a project, or those of the user.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scope {
    Project,
    User,
}

/// The folders with the settings of the user, as absolute paths.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Homes {
    /// The home folder.
    pub home: String,
    /// `CLAUDE_CONFIG_DIR`, if it is set.
    pub claude: Option<String>,
    /// `CODEX_HOME`, if it is set.
    pub codex: Option<String>,
    /// `XDG_CONFIG_HOME`, if it is set.
    pub config: Option<String>,
}

/// A file of settings, and where in it something stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Spot {
    pub(crate) path: String,
    pub(crate) dialect: Dialect,
    /// The members down to the object or array that gets an entry.
    pub(crate) keys: &'static [&'static str],
}

impl Tool {
    /// Its name, which is also the name of its program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
        }
    }

    /// The npm package that has its program.
    pub fn package(self) -> &'static str {
        match self {
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Codex => "@openai/codex",
            Self::Gemini => "@google/gemini-cli",
            Self::Opencode => "opencode-ai",
        }
    }

    /// The file with its MCP servers. `has` says which files exist.
    pub(crate) fn server(self, scope: Scope, homes: &Homes, has: impl Fn(&str) -> bool) -> Spot {
        let of = |project: &str, user: String| match scope {
            Scope::Project => project.to_owned(),
            Scope::User => user,
        };
        let (path, dialect, keys): (String, Dialect, &[&str]) = match self {
            Self::Claude => {
                let folder = homes.claude.as_ref().unwrap_or(&homes.home);
                let user = format!("{folder}/.claude.json");
                (of(".mcp.json", user), Dialect::Strict, &["mcpServers"])
            }
            Self::Codex => {
                let path = of(".codex/config.toml", format!("{}/config.toml", homes.codex()));
                (path, Dialect::Toml, &["mcp_servers"])
            }
            Self::Gemini => (self.settings(scope, homes), Dialect::Comments, &["mcpServers"]),
            Self::Opencode => {
                let json = of("opencode.json", format!("{}/opencode.json", homes.opencode()));
                let with_comments = format!("{json}c");
                let path = match !has(&json) && has(&with_comments) {
                    true => with_comments,
                    false => json,
                };
                (path, Dialect::Jsonc, &["mcp"])
            }
        };
        Spot { path, dialect, keys }
    }

    /// The file with its hooks; none for a tool that has plugins instead.
    pub(crate) fn hooks(self, scope: Scope, homes: &Homes) -> Option<Spot> {
        const KEYS: &[&str] = &["hooks", "SessionStart"];
        let (path, dialect) = match self {
            Self::Claude | Self::Gemini => (self.settings(scope, homes), Dialect::Comments),
            Self::Codex => {
                let path = match scope {
                    Scope::Project => ".codex/hooks.json".to_owned(),
                    Scope::User => format!("{}/hooks.json", homes.codex()),
                };
                (path, Dialect::Strict)
            }
            Self::Opencode => return None,
        };
        Some(Spot { path, dialect, keys: KEYS })
    }

    /// The file of its plugin, for a tool that has no hooks.
    pub(crate) fn plugin(self, scope: Scope, homes: &Homes) -> Option<String> {
        (self == Self::Opencode).then(|| match scope {
            Scope::Project => ".opencode/plugins/accord.js".to_owned(),
            Scope::User => format!("{}/plugins/accord.js", homes.opencode()),
        })
    }

    fn settings(self, scope: Scope, homes: &Homes) -> String {
        match (self, scope) {
            (Self::Claude, Scope::Project) => ".claude/settings.json".to_owned(),
            (Self::Claude, Scope::User) => format!("{}/settings.json", homes.claude()),
            (_, Scope::Project) => ".gemini/settings.json".to_owned(),
            (_, Scope::User) => format!("{}/.gemini/settings.json", homes.home),
        }
    }

    /// The files that a plan of this tool can need, relative to the project or absolute.
    pub fn files(self, scope: Scope, homes: &Homes) -> Vec<String> {
        let mut files = Vec::new();
        files.push(self.server(scope, homes, |_| false).path);
        files.push(self.server(scope, homes, |path| path.ends_with('c')).path);
        files.extend(self.hooks(scope, homes).map(|spot| spot.path));
        files.extend(self.plugin(scope, homes));
        if scope == Scope::Project {
            files.extend(["AGENTS.md", "CLAUDE.md", "GEMINI.md"].map(str::to_owned));
            files.extend(self.local_settings().map(str::to_owned));
            // What the user has decides whether the project needs anything.
            files.extend(self.files(Scope::User, homes));
        }
        if self == Self::Gemini {
            files.push(format!("{}/.gemini/trustedFolders.json", homes.home));
        }
        files.sort();
        files.dedup();
        files
    }

    /// Settings of one person for a project.
    pub(crate) fn local_settings(self) -> Option<&'static str> {
        (self == Self::Claude).then_some(".claude/settings.local.json")
    }
}

impl Homes {
    pub(crate) fn claude(&self) -> String {
        self.claude.clone().unwrap_or_else(|| format!("{}/.claude", self.home))
    }

    pub(crate) fn codex(&self) -> String {
        self.codex.clone().unwrap_or_else(|| format!("{}/.codex", self.home))
    }

    pub(crate) fn opencode(&self) -> String {
        let config = self.config.clone().unwrap_or_else(|| format!("{}/.config", self.home));
        format!("{config}/opencode")
    }
}
