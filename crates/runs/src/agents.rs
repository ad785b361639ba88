//! The coding agents that `accord run init --agent` knows by name, and the command that runs each
//! of them unattended.
//!
//! Every command reads its prompt from standard input: an argument has a limit of 128 KiB, and a
//! briefing can be longer. `docs/agents.md` has the versions that the flags were measured with.

use std::ffi::OsStr;
use std::path::Path;

use accord_base::agent_name;
use accord_contract::Failure;

/// A coding agent that is known by name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Preset {
    /// Its name, which is also the name of its program.
    pub name: &'static str,
    pub package: &'static str,
    /// The arguments with which it works unattended and prints while it works.
    pub arguments: &'static [&'static str],
}

pub const PRESETS: [Preset; 4] = [
    Preset {
        name: "claude",
        package: "@anthropic-ai/claude-code",
        // Files of the repository may be edited, commands run, and Accord's tools called. The
        // command asks for nothing else: it denies what would need an answer. Skipping all
        // permissions would be more, and the client refuses that to root.
        arguments: &[
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--permission-mode",
            "acceptEdits",
            "--allowedTools",
            "Bash,mcp__accord",
        ],
    },
    Preset {
        name: "codex",
        package: "@openai/codex",
        // Its commands can write below the repository and in temporary folders, and have no
        // network. Without `--json` it prints nothing on standard output until it ends.
        arguments: &["exec", "--sandbox", "workspace-write", "--skip-git-repo-check", "--json"],
    },
    Preset {
        name: "gemini",
        package: "@google/gemini-cli",
        // Without `--skip-trust` it refuses to work in a folder that a person never opened with it.
        arguments: &["--approval-mode", "yolo", "--skip-trust", "--output-format", "stream-json"],
    },
    Preset {
        name: "opencode",
        package: "opencode-ai",
        arguments: &["run", "--auto", "--format", "json"],
    },
];

impl Preset {
    /// The preset of this name, or of another name that its agent goes by.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = agent_name(name);
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The agent whose program this is, also by a path.
    pub(crate) fn of_program(program: &OsStr) -> Option<&'static Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        PRESETS.iter().find(|preset| preset.name == name)
    }

    pub fn command(&self) -> Vec<String> {
        let words = std::iter::once(&self.name).chain(self.arguments);
        words.map(|word| (*word).to_owned()).collect()
    }

    pub(crate) fn advise(&self, failure: Failure) -> Failure {
        let (name, package) = (self.name, self.package);
        failure.with("npm_package", package).suggesting(format!(
            "install {name}: npm install --global {package}; or correct the runtime in \
             agentxchain.json"
        ))
    }
}
