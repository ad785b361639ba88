//! Whether the server that an agent would use answers.

use std::fmt;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use accord_api::NoParams;
use accord_base::{ActorKey, ActorType};
use accord_memory_core::operations::{ListProjects, ProjectParams};
use accord_wiring::{Choices, Door};

use super::program;
use crate::host::{DataFolder, IfMissing, TargetArgs, holds_data, own_actor};
use crate::{CliError, Result};

const LIMIT: Duration = Duration::from_secs(2);

/// The first message of MCP.
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{},"clientInfo":{"name":"accord-init","version":"1"}}}"#
);

/// The answer of a server, or why there is none.
pub(super) struct Answers {
    what: String,
    /// In whose name the key writes.
    writes_as: Option<ActorKey>,
    refusal: Option<String>,
}

impl Answers {
    pub(super) fn is_good(&self) -> bool {
        self.refusal.is_none()
    }
}

impl fmt::Display for Answers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.refusal, &self.writes_as) {
            (None, None) => write!(formatter, "{} answers", self.what),
            (None, Some(actor)) if actor.kind == ActorType::Human => write!(
                formatter,
                "{} answers; the key belongs to {actor}, so that the agent writes in that \
                 person's name; `accord key create --actor agent:NAME` makes one for the agent",
                self.what
            ),
            (None, Some(actor)) => {
                write!(formatter, "{} answers; the agent writes as {actor}", self.what)
            }
            (Some(why), _) => write!(formatter, "{}: {why}", self.what),
        }
    }
}

/// Asks the server that the agent would use, for at most two seconds.
pub(super) fn answers(choices: &Choices, root: &Path) -> Answers {
    let (what, asked) = match &choices.door {
        Door::Server(url) => (url.clone(), ask_server(url.clone())),
        Door::Command => {
            let words = choices.arguments().join(" ");
            let asked = ask_command(choices, root).map(|()| None);
            (format!("{} {words}", choices.command), asked)
        }
    };
    let (writes_as, refusal) = match asked {
        Ok(actor) => (actor, None),
        Err(error) => (None, Some(error.to_string())),
    };
    Answers { what, writes_as, refusal }
}

fn late() -> CliError {
    CliError::usage(format!("no answer within {} seconds", LIMIT.as_secs()))
}

fn ask_server(url: String) -> Result<Option<ActorKey>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let target = TargetArgs { url: Some(url), ..TargetArgs::default() };
        let asked = target.connect(IfMissing::Fail).and_then(|host| {
            let one = ProjectParams { limit: Some(1), ..ProjectParams::default() };
            host.ask::<ListProjects>(NoParams, one)?;
            if host.has_key { own_actor(&host) } else { Ok(None) }
        });
        sender.send(asked)
    });
    receiver.recv_timeout(LIMIT).unwrap_or_else(|_| Err(late()))
}

/// Starts the command as the agent would, and sends the first message of MCP.
fn ask_command(choices: &Choices, root: &Path) -> Result<()> {
    let failed = |error: std::io::Error| CliError::usage(format!("it cannot be started: {error}"));
    let Some(program) = program(&choices.command) else {
        return Err(CliError::usage("it is not in PATH"));
    };
    let mut command = Command::new(program);
    command.args(choices.arguments()).current_dir(root);
    // The command would make a data folder where there is none.
    let folder = DataFolder::untrusted(None)?;
    let empty = tempfile::tempdir().map_err(failed)?;
    if !holds_data(&folder.path) {
        command.arg("--data").arg(empty.path().join("data"));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let asked = input.is_some_and(|mut input| {
            let sent = writeln!(input, "{INITIALIZE}").and_then(|()| input.flush());
            let read = output.map(|output| BufReader::new(output).read_line(&mut line));
            sent.is_ok() && read.is_some_and(|read| read.is_ok())
        });
        sender.send(asked && line.contains("\"serverInfo\""))
    });
    let answered = receiver.recv_timeout(LIMIT);
    // A server that goes on is of no use.
    let _ = child.kill();
    let _ = child.wait();
    match answered {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err(CliError::usage("it ended without an answer; run it in a shell to see why"))
        }
        Err(_) => Err(late()),
    }
}
