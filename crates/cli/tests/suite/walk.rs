//! Pages whose commands a reader can type from the first line to the last: they work as written.
//!
//! Every block of `sh` is run, in one shell. A block that is not run has a comment in the line
//! above it that says why: `<!-- not run: REASON -->`. Blocks of `text` are lines that the commands
//! print, in any order, up to an ellipsis.

use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::accord::{path_with_accord, run};
use crate::memory::bare;
use crate::server::Server;

/// The text of a page of the documentation.
pub(crate) fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).expect("the page")
}

/// What a page has to run, and what it promises.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    script: String,
    promised: String,
}

impl Walk {
    pub(crate) fn of(page: &str) -> Self {
        let mut walk = Self::default();
        let mut above = "";
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            let Some(language) = line.strip_prefix("```") else {
                above = line;
                continue;
            };
            let block = lines.by_ref().take_while(|line| *line != "```");
            let block: String = block.flat_map(|line| [line, "\n"]).collect();
            let comment = above.strip_prefix("<!-- not run:");
            let reason = comment.map(|rest| rest.trim_end_matches("-->").trim());
            match (language, reason) {
                ("sh", None) => walk.script.push_str(&block),
                ("text", None) => walk.promised.push_str(&block),
                ("sh" | "console", Some(reason)) => {
                    assert!(reason.len() > 10, "no reason not to run\n{block}");
                }
                ("console", None) => panic!("write it as sh, or say why it is not run:\n{block}"),
                _ => {}
            }
            above = "";
        }
        walk
    }

    /// Replaces a text that only holds for a reader, such as a port.
    #[must_use]
    fn with(mut self, written: &str, here: &str) -> Self {
        assert!(self.script.contains(written), "{written}");
        self.script = self.script.replace(written, here);
        self
    }

    /// Runs the commands in a folder and compares what they print.
    #[track_caller]
    pub(crate) fn run(self, place: &Path) {
        assert!(self.promised.lines().count() >= 5, "the page shows what its commands print");
        // Servers that the page starts must not survive a command that fails. They are in the
        // process group of the shell; `jobs -p` is empty inside of a trap of dash.
        let script = format!("trap 'trap \"\" TERM; kill -- -$$' EXIT\n{}", self.script);
        let mut shell = Command::new("sh");
        shell.process_group(0);
        shell.args(["-euc", &script]).current_dir(place);
        shell.env("PATH", path_with_accord()).env("HOME", place);
        shell.env("ACCORD_LISTEN", "127.0.0.1:0").env("NO_COLOR", "1").env_remove("COLUMNS");
        for name in ["URL", "KEY", "DATA", "PROJECT", "ACTOR", "SESSION"] {
            shell.env_remove(format!("ACCORD_{name}"));
        }
        for name in ["TASKS", "TASK_ID", "TASK_DIR", "TASK_RUN_ID", "TASK_AGENT"] {
            shell.env_remove(format!("ACCORD_{name}"));
        }
        shell.env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "T");
            shell.env(format!("GIT_{who}_EMAIL"), "t@example.org");
        }
        let ran = run(shell, "");
        assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
        for line in self.promised.lines() {
            let line = line.split('…').next().unwrap_or(line);
            assert!(ran.stdout.contains(line), "{line:?} is not in\n{}", ran.stdout);
        }
    }
}

#[test]
fn a_server_is_operated_as_the_page_says() {
    if !has_tools(&["curl", "openssl"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let walk = Walk::of(&page("operating.md"));
    walk.with("0.0.0.0:7443", &free.to_string())
        .with("localhost:7443", &format!("localhost:{}", free.port()))
        .run(place.path());
}

#[test]
fn data_moves_as_the_page_says() {
    if !has_tools(&["curl"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    Walk::of(&page("data.md")).run(place.path());
}

#[test]
fn questions_end_as_the_page_says() {
    let place = tempfile::tempdir().expect("a folder");
    Walk::of(&page("questions.md")).run(place.path());
}

#[test]
fn decisions_become_packages_as_the_page_says() {
    let place = tempfile::tempdir().expect("a folder");
    Walk::of(&page("flows.md")).run(place.path());
}

#[test]
fn a_block_is_left_out_only_with_a_reason() {
    let walk = Walk::of("```sh\nrun\n```\n<!-- not run: it needs a moon -->\n```sh\nnot\n```\n");
    assert_eq!(walk.script, "run\n");
    for wrong in ["```console\n$ x\n```\n", "<!-- not run: -->\n```sh\nx\n```\n"] {
        assert!(std::panic::catch_unwind(|| Walk::of(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn a_certificate_of_an_authority_is_refused_with_what_to_do() {
    if !has_tools(&["openssl"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let file = |name: &str| place.path().join(name).to_str().expect("text").to_owned();
    let (cert, key) = (file("cert.pem"), file("key.pem"));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", &key, "-out", &cert]);
    openssl.args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]);
    assert_eq!(run(openssl, "").code, 0);
    let host = Server::start(&place.path().join("data"), &["--tls-cert", &cert, "--tls-key", &key]);
    let mut command = bare(&["project", "list", "--url", &host.url]);
    command.env("SSL_CERT_FILE", &cert);
    let said = run(command, "").refused("HOST_TLS");
    assert!(said.contains("CA:FALSE"), "{said}");
}

/// Whether programs are installed; with CI set they must be.
fn has_tools(names: &[&str]) -> bool {
    let has = |name: &&str| Command::new(name).arg("version").output().is_ok();
    let missing: Vec<_> = names.iter().filter(|name| !has(name)).collect();
    if !missing.is_empty() {
        assert!(std::env::var_os("CI").is_none(), "the page needs {missing:?}");
        eprintln!("SKIPPED: the page needs {missing:?}");
    }
    missing.is_empty()
}
