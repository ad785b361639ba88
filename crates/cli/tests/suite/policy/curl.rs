//! Requests of a process of its own: curl, which sends many of them one after the other.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::tally::Answer;
use crate::accord::run;
use crate::wait::LIMIT;

/// What kind of process sends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sender {
    /// A process of this user.
    Local,
    /// A process with this variable in its environment.
    Worker(&'static str, &'static str),
    /// A process of another user of the operating system.
    OtherUser,
}

/// The marks of workers.
pub(super) const OF_TASK: Sender = Sender::Worker("ACCORD_TASK_ID", "TASK-2026-02-09-001");
pub(super) const OF_TURN: Sender = Sender::Worker("AGENTXCHAIN_TURN_ID", "turn_0a1b2c3d");

/// A request.
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) headers: Vec<String>,
    pub(super) body: Option<String>,
}

/// Where requests are sent.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    /// The URL of a server.
    Tcp(&'a str),
    /// The socket in a data folder.
    Socket(&'a Path),
}

/// What follows the body of each answer.
const END: &str = "\n@@ ";

impl Sender {
    /// How the table calls it.
    pub(super) fn caller(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Worker(..) => "worker",
            Self::OtherUser => "other-user",
        }
    }

    /// A program that it starts.
    pub(super) fn command(self, program: &str) -> Command {
        let mut command = match self {
            Self::OtherUser => other_user(program),
            _ => Command::new(program),
        };
        command.env_remove("ACCORD_TASK_ID").env_remove("AGENTXCHAIN_TURN_ID");
        if let Self::Worker(name, value) = self {
            command.env(name, value);
        }
        command
    }

    /// Sends requests, and gives their answers.
    pub(super) fn send(self, target: Target<'_>, requests: &[Request]) -> Vec<Answer> {
        let mut curl = self.command("curl");
        curl.args(["--disable", "--config", "-"]);
        let described: Vec<String> =
            requests.iter().map(|request| request.described(target)).collect();
        let ran = run(curl, described.join("next\n"));
        assert_eq!(ran.code, 0, "{self:?}: {}", ran.stderr);
        let mut answers = Vec::new();
        let mut rest = ran.stdout.as_str();
        while let Some((text, more)) = rest.split_once(END) {
            let (status, more) = more.split_once('\n').expect("the end of a line");
            answers.push(answer(status.parse().expect("a status"), text));
            rest = more;
        }
        assert_eq!(answers.len(), requests.len(), "{self:?}");
        answers
    }
}

impl Request {
    /// It, in the language of curl's files.
    fn described(&self, target: Target<'_>) -> String {
        let Self { method, path, headers, body } = self;
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut lines = vec![
            "silent".to_owned(),
            "show-error".to_owned(),
            "globoff".to_owned(),
            format!("max-time = {}", LIMIT.as_secs()),
            format!("request = \"{method}\""),
            format!("write-out = \"{}%{{http_code}}\\n\"", END.replace('\n', "\\n")),
        ];
        match target {
            Target::Tcp(url) => {
                lines.push(format!("url = \"{url}{path}\""));
                // As a page of the server sends it.
                lines.push(format!("header = \"Origin: {url}\""));
            }
            Target::Socket(socket) => {
                lines.push(format!("url = \"http://localhost{path}\""));
                lines.push(format!("unix-socket = \"{}\"", socket.display()));
            }
        }
        lines.push("header = \"Content-Type: application/json\"".to_owned());
        lines.extend(headers.iter().map(|header| format!("header = \"{}\"", quoted(header))));
        lines.extend(body.iter().map(|body| format!("data-raw = \"{}\"", quoted(body))));
        lines.join("\n") + "\n"
    }
}

fn answer(status: i32, text: &str) -> Answer {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let code = document["code"].as_str().filter(|_| status >= 400);
    Answer { status, code: code.unwrap_or_default().to_owned(), text: text.to_owned() }
}

pub(super) fn other_user(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", program]);
    command
}

/// Whether programs can be started as another user. With `CI` they must be.
pub(super) fn has_other_user() -> bool {
    is_possible(other_user("true"), "start a program as another user (root and setpriv)")
}

/// Whether a command succeeds. With `CI` it must.
pub(super) fn is_possible(mut command: Command, what: &str) -> bool {
    let is_possible = command.output().is_ok_and(|output| output.status.success());
    if !is_possible {
        assert!(std::env::var_os("CI").is_none(), "the tests of the policy must {what}");
        eprintln!("SKIPPED: cells of the policy that need to {what}");
    }
    is_possible
}
