//! A server with a project, an agent and a person.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use accord_kit::browser::{Answer, Rule};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::agent::Agent;
use crate::accord::run;
use crate::memory::bare;
use crate::server::Server;

/// A server on an address that it keeps, and its data folder.
pub(super) struct World {
    server: Server,
    /// The key of the agent, if the server has keys.
    key: Option<String>,
    settings: Vec<String>,
    folder: TempDir,
}

impl World {
    /// A server without keys.
    pub(super) fn open() -> Self {
        Self::with(None, &[])
    }

    /// A server with keys. The agent has one that is bound to `agent:painter`.
    pub(super) fn with_keys(settings: &[&str]) -> Self {
        Self::with(Some("agent:painter"), settings)
    }

    fn with(actor: Option<&str>, settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let key = actor.map(|actor| key(&data, &["--new", "--actor", actor]));
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let server = serve(&data, "127.0.0.1:0", &settings);
        Self { server, key, settings, folder }
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A key of a person.
    pub(super) fn key_of_person(&self) -> String {
        key(&self.data(), &["--actor", "human:lead"])
    }

    /// An MCP client with the tools of live sessions.
    pub(super) fn agent(&self) -> Agent<'_> {
        Agent::begin(&self.server, self.key.as_deref())
    }

    /// Ends the server as a crash does.
    pub(super) fn kill(&mut self) {
        self.server.kill();
    }

    /// Starts a server that was killed again, on the same port and the same data.
    pub(super) fn start_again(&mut self) {
        let address = self.server.address.clone();
        self.server = serve(&self.data(), &address, &self.settings);
    }

    /// The link of a person to the question of a session.
    pub(super) fn link_of_person(&self, session: &str) -> String {
        self.accord(&["person", "add", "lead"]);
        let listed = self.accord(&["inbox", "--json"]);
        let listed: Value = serde_json::from_str(&listed).expect("a list");
        let items = listed["items"].as_array().expect("items");
        let item = items.iter().find(|item| item["subject"] == session).expect("the question");
        let item = item["id"].as_str().expect("an id");
        let linked = ["person", "link", "lead", "--item", item, "--actor", "human:lead"];
        self.accord(&linked).trim_end().to_owned()
    }

    /// Runs a command that succeeds. Returns what it prints.
    pub(super) fn accord(&self, arguments: &[&str]) -> String {
        let mut command = bare(arguments);
        command.env("ACCORD_DATA", self.data());
        let ran = run(command, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout
    }

    /// The link to the page of a session, for a person who is named.
    pub(super) fn link(&self, session: &str) -> String {
        let mut command = bare(&["live", "open", session, "--actor", "human:lead"]);
        command.env("ACCORD_DATA", self.data()).env("ACCORD_PROJECT", "shop");
        let ran = run(command, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        let link = ran.stdout.trim_end().to_owned();
        let page = format!("{}/live/{session}#t=", self.server.url);
        assert!(link.starts_with(&page), "{link}");
        link
    }

    /// The address of the page of a session.
    pub(super) fn page(&self, session: &str) -> String {
        format!("{}/live/{session}", self.server.url)
    }
}

/// Starts a server, and waits until it listens.
fn serve(data: &Path, address: &str, settings: &[String]) -> Server {
    let mut command: Command = bare(&["serve", "--listen", address]);
    command.arg("--data").arg(data).stderr(Stdio::null());
    for setting in settings {
        command.args(["--set", setting]);
    }
    Server::begin(&mut command)
}

/// Makes a key of the project.
fn key(data: &Path, more: &[&str]) -> String {
    let words = ["key", "create", "--label", "test", "--project", "shop", "--verb", "read"];
    let mut command = bare(&[&words[..], &["--verb", "write"], more].concat());
    command.arg("--data").arg(data);
    let ran = run(command, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.stdout.trim().to_owned()
}

/// A contract that asks to approve a release.
pub(super) fn release() -> Value {
    json!({
        "propsSpec": {
            "description": "A release waits for **your word**.",
            "properties": {
                "version": {"schema": {"type": "string"}, "required": true},
                "changes": {"schema": {"type": "array", "items": {"type": "string"}}},
            },
        },
        "actionSpec": {
            "approve": {"label": "Approve", "schema": {
                "type": "object",
                "properties": {
                    "note": {"type": "string", "description": "Why"},
                    "build": {"type": "integer", "minimum": 1},
                },
                "required": ["note"],
            }},
            "reject": {"label": "Reject"},
        },
        "streamSpec": {"log": {"schema": {"type": "string"}, "replay": "all"}},
    })
}

/// The props of [`release`].
pub(super) fn release_props() -> Value {
    json!({"version": "2.1.0", "changes": ["Faster search", "A fix for the cart"]})
}

/// A page without a policy, which no server has.
pub(super) fn plain_page(url: &str) -> Rule {
    let headers = vec![("Content-Type".to_owned(), "text/html".to_owned())];
    let body = b"<!doctype html><title>Plain</title><body>".to_vec();
    Rule::new(url, Answer::Body { status: 200, headers, body })
}
