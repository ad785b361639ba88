//! Commands on a data folder that nobody serves: the policy in the process itself.

use std::path::Path;
use std::process::Command;

use super::curl::{Sender, is_possible};
use crate::accord::{program, run};
use crate::memory::bare;

/// What kind of process starts a command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Starter {
    /// A process of this user.
    Local,
    /// A worker.
    Worker(Sender),
    /// A process that sees no process table.
    NoProc,
}

/// Hides the process table from a program.
const WITHOUT_PROC: &str = "mount -t tmpfs none /proc && exec \"$0\" \"$@\"";

impl Starter {
    /// How the table calls it.
    pub(super) fn caller(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Worker(_) => "worker",
            Self::NoProc => "unexamined",
        }
    }

    /// The command `accord`, with nothing of the environment that could lead it elsewhere.
    pub(super) fn accord(self, args: &[&str]) -> Command {
        self.start(&bare(args))
    }

    /// The same command, started so.
    pub(super) fn start(self, command: &Command) -> Command {
        let mut started = match self {
            Self::NoProc => {
                let mut unshare = Command::new("unshare");
                unshare.args(["--mount", "sh", "-c", WITHOUT_PROC]).arg(command.get_program());
                unshare
            }
            _ => Command::new(command.get_program()),
        };
        started.args(command.get_args());
        if let Some(folder) = command.get_current_dir() {
            started.current_dir(folder);
        }
        started.env_remove("AGENTXCHAIN_TURN_ID");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => started.env(name, value),
                None => started.env_remove(name),
            };
        }
        if let Self::Worker(Sender::Worker(name, value)) = self {
            started.env(name, value);
        }
        started
    }
}

/// Whether programs can be started without a process table. With `CI` they must be.
pub(super) fn has_no_proc() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", WITHOUT_PROC, program(), "--version"]);
    is_possible(command, "start a program without /proc (root and unshare)")
}

/// Makes the tree of tasks of the project `shop`.
pub(super) fn make_tree(data: &Path) {
    let mut command = bare(&["task", "init", "--project", "shop", "--actor", "human:lead"]);
    command.env("ACCORD_DATA", data);
    let ran = run(command, "");
    assert_eq!(ran.code, 0, "{ran:?}");
}
