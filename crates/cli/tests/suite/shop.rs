//! The project `shop` in a data folder of a test's own, used by the person `human:lead`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::accord::{Ran, run};
use crate::memory::bare;
use crate::server::Server;

/// Where the commands of one kind, such as `accord task`, are run.
pub(crate) struct Shop {
    kind: &'static str,
    folder: TempDir,
    host: Option<Server>,
}

impl Shop {
    /// An empty folder that is not served.
    pub(crate) fn new(kind: &'static str) -> Self {
        Self { kind, folder: tempfile::tempdir().expect("a folder"), host: None }
    }

    /// Starts a host that serves the folder, until this is dropped.
    pub(crate) fn serve(&mut self) {
        self.host = Some(Server::start(&self.data(), &[]));
    }

    /// The host.
    pub(crate) fn host(&self) -> &Server {
        self.host.as_ref().expect("a host serves the folder")
    }

    /// Ends the host as a crash would.
    pub(crate) fn kill_host(&mut self) {
        if let Some(mut host) = self.host.take() {
            host.kill();
        }
    }

    /// The folder that commands are run in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// A command, not yet started.
    pub(crate) fn command(&self, words: &str) -> Command {
        let words = shell_words::split(&format!("{} {words}", self.kind)).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = bare(&words);
        command.current_dir(self.folder()).env("ACCORD_DATA", self.data());
        command.env("ACCORD_PROJECT", "shop").env("ACCORD_ACTOR", "human:lead");
        command
    }

    /// Runs a command.
    #[track_caller]
    pub(crate) fn ran(&self, words: &str) -> Ran {
        run(self.command(words), "")
    }

    /// Runs a command that succeeds, and returns what it prints.
    #[track_caller]
    pub(crate) fn yes(&self, words: &str) -> String {
        let ran = self.ran(words);
        assert_eq!(ran.code, 0, "{} {words}: {ran:?}", self.kind);
        ran.stdout
    }

    /// Runs a command with `--json`, and returns the answer of the operation.
    #[track_caller]
    pub(crate) fn json(&self, words: &str) -> Value {
        let printed = self.yes(&format!("{words} --json"));
        let mut document: Value = serde_json::from_str(&printed).expect("a document");
        assert_eq!(document["ok"], true, "{document}");
        document["result"].take()
    }
}
