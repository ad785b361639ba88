//! A memory to try commands on, reached in one of three ways.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::accord::{Ran, command};

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
    host: Option<Served>,
    folder: TempDir,
}

impl Memory {
    /// An empty one.
    pub(crate) fn reached(way: Way) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let memory = Self {
            way: Way::Folder,
            key: None,
            host: None,
            folder,
        };
        memory.served(way)
    }

    /// An empty one in a data folder that nobody serves.
    pub(crate) fn new() -> Self {
        Self::reached(Way::Folder)
    }

    /// The same memory, reached in another way.
    pub(crate) fn served(mut self, way: Way) -> Self {
        if way == Way::Url {
            let args = ["key", "create", "--label", "test", "--verb", "admin"];
            self.key = Some(self.ran(&args).stdout.trim().to_owned());
        }
        if way != Way::Folder {
            self.host = Some(Served::start(&self.data(), &[]));
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
    pub(crate) fn host(&self) -> &Served {
        self.host.as_ref().expect("a host serves the folder")
    }

    /// Runs a command on it.
    pub(crate) fn ran(&self, args: &[&str]) -> Ran {
        self.ran_with(args, "")
    }

    /// Runs a command on it, with input.
    pub(crate) fn ran_with(&self, args: &[&str], input: &str) -> Ran {
        let mut command = bare(args);
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

/// A host that serves a data folder, until this is dropped.
pub(crate) struct Served {
    child: Child,
    /// Where it listens.
    pub(crate) url: String,
}

impl Served {
    /// Starts one, and waits until it is ready.
    pub(crate) fn start(data: &Path, more: &[&str]) -> Self {
        let data = data.to_str().expect("text");
        let args = ["serve", "--listen", "127.0.0.1:0", "--data", data];
        let mut child = bare(&[&args, more].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("accord starts");
        let mut ready = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout)
            .read_line(&mut ready)
            .expect("a line");
        let url = ready.trim().strip_prefix("accord: listening on ");
        let url = url
            .unwrap_or_else(|| panic!("not ready: {ready:?}"))
            .to_owned();
        Self { child, url }
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it was there");
        self.child.wait().expect("it ended");
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        let told = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        if !told.is_ok_and(|told| told.success()) {
            // It must not outlive the test.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// A command with nothing of the environment that could lead it elsewhere.
pub(crate) fn bare(args: &[&str]) -> Command {
    let mut command = command(args);
    for name in ["URL", "KEY", "DATA", "PROJECT", "ACTOR", "SESSION"] {
        command.env_remove(format!("ACCORD_{name}"));
    }
    command.env_remove("SSL_CERT_FILE");
    command
}

/// Runs a command to its end.
pub(crate) fn run(mut command: Command, input: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("accord starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // It may rightly end before it has read everything.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().expect("accord ends");
    writer.join().expect("the writer ends");
    Ran {
        code: output.status.code().expect("accord was not killed"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}
