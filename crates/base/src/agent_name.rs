//! One name for one coding agent.
//!
//! A client of MCP gives itself a name that differs from its program's (`codex-mcp-client` is
//! `codex`), and its model uses yet another one. A lease, a session and a package of one agent must
//! have the same actor, so the names are mapped here, and nowhere else.

/// The name of an agent, and others that it goes by.
const AGENTS: &[(&str, &[&str])] = &[
    ("claude", &["claude-code", "claude code", "claude-cli"]),
    ("codex", &["codex-mcp-client", "codex-cli", "codex_cli_rs", "codex-exec"]),
    ("gemini", &["gemini-cli", "gemini-cli-mcp-client", "gemini cli"]),
    ("opencode", &["opencode-ai"]),
    ("copilot", &["copilot-cli", "github-copilot-cli", "github-copilot-developer"]),
    ("cursor", &["cursor-vscode", "cursor-agent"]),
];

/// The name under which the agent is recorded that calls itself so. Any other name stays as it is.
pub fn agent_name(called: &str) -> &str {
    let is_its = |(_, others): &&(&str, &[&str])| {
        others.iter().any(|other| other.eq_ignore_ascii_case(called))
    };
    AGENTS.iter().find(is_its).map_or(called, |(name, _)| name)
}
