//! A memory to try commands on, reached in one of three ways.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::accord::{Ran, command, run};
use crate::server::Server;

/// How a command reaches a memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Way {
    /// It opens the data folder itself.
    Folder,
    /// Through the socket of a host that serves the folder.
    Socket,
    /// By the URL of that host, with a key.
    Url,
}

impl Way {
    pub(crate) const ALL: [Self; 3] = [Self::Folder, Self::Socket, Self::Url];
}

/// A memory of a test's own.
pub(crate) struct Memory {
    way: Way,
    key: Option<String>,
    host: Option<Server>,
    folder: TempDir,
}

impl Memory {
    /// An empty one.
    pub(crate) fn reached(way: Way) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let memory = Self { way: Way::Folder, key: None, host: None, folder };
        memory.served(way)
    }

    /// An empty one in a data folder that nobody serves.
    pub(crate) fn new() -> Self {
        Self::reached(Way::Folder)
    }

    /// The same memory, reached in another way.
    pub(crate) fn served(mut self, way: Way) -> Self {
        if way == Way::Url {
            let args = ["key", "create", "--new", "--label", "test", "--verb", "admin"];
            self.key = Some(self.ran(&args).stdout.trim().to_owned());
        }
        if way != Way::Folder {
            self.host = Some(Server::start(&self.data(), &[]));
        }
        self.way = way;
        self
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A file of the test's, beside the data.
    pub(crate) fn file(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        path.to_str().expect("text").to_owned()
    }

    /// The key, where one is needed.
    pub(crate) fn key(&self) -> &str {
        self.key.as_deref().expect("a key")
    }

    /// The host, where one serves it.
    pub(crate) fn host(&self) -> &Server {
        self.host.as_ref().expect("a host serves the folder")
    }

    /// Runs a command on it.
    pub(crate) fn ran(&self, args: &[&str]) -> Ran {
        self.ran_with(args, "")
    }

    /// Runs a command on it, with input.
    pub(crate) fn ran_with(&self, args: &[&str], input: &str) -> Ran {
        self.ran_in(args, input, None)
    }

    /// Runs a command on it, with input and one more variable.
    pub(crate) fn ran_in(&self, args: &[&str], input: &str, more: Option<(&str, &str)>) -> Ran {
        let mut command = bare(args);
        command.envs(more);
        match self.way {
            Way::Folder | Way::Socket => {
                command.env("ACCORD_DATA", self.data());
            }
            Way::Url => {
                command.env("ACCORD_URL", &self.host().url);
                command.env("ACCORD_KEY", self.key.as_ref().expect("a key"));
            }
        }
        command.env("ACCORD_PROJECT", "shop");
        command.env("ACCORD_ACTOR", "agent:planner");
        run(command, input)
    }

    /// What a command prints with --json, as a document.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ran = self.ran(&[args, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        serde_json::from_str(&ran.stdout).expect("JSON")
    }

    /// Deposits a package, and gives its id.
    pub(crate) fn deposit(&self, title: &str, more: &[&str]) -> String {
        let args = [&["context", "deposit", "--title", title], more].concat();
        let package = self.json(&args);
        package["package_id"].as_str().expect("an id").to_owned()
    }
}

/// A command with nothing of the environment that could lead it elsewhere.
pub(crate) fn bare(args: &[&str]) -> Command {
    let mut command = command(args);
    for name in ["URL", "KEY", "DATA", "PROJECT", "ACTOR", "SESSION"] {
        command.env_remove(format!("ACCORD_{name}"));
    }
    for name in ["TASKS", "TASK_ID", "TASK_DIR", "TASK_RUN_ID", "TASK_AGENT", "SOCKET"] {
        command.env_remove(format!("ACCORD_{name}"));
    }
    command.env_remove("SSL_CERT_FILE");
    command
}
