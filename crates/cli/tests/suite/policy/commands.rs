//! Commands on a data folder that nobody serves: the policy in the process itself.

use std::path::Path;
use std::process::Command;

use super::curl::{OF_TASK, OF_TURN, Sender, is_possible};
use super::tables::{Acting, Author, may};
use super::tally::{Answer, Tally};
use crate::accord::{program, run};
use crate::memory::bare;
use crate::task_place::Tasks;

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

/// Makes the project `shop` and its tree of tasks.
pub(super) fn make_project(data: &Path) {
    let create = bare(&["project", "create", "shop"]);
    let init = bare(&["task", "init", "--project", "shop", "--actor", "human:lead"]);
    for mut command in [create, init] {
        command.env("ACCORD_DATA", data);
        let ran = run(command, "");
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

/// Commands that change tasks, with a task that does not exist.
const WRITES: [&str; 8] = [
    "create New",
    "edit TASK-2026-01-01-999 --priority high",
    "comment TASK-2026-01-01-999 why",
    "block TASK-2026-01-01-999 why",
    "unblock TASK-2026-01-01-999",
    "promote TASK-2026-01-01-999",
    "dep add TASK-2026-01-01-999 TASK-2026-01-01-998",
    "dep remove TASK-2026-01-01-999 TASK-2026-01-01-998",
];

/// Commands that decide about a task, and what they need.
const DECISIONS: [(&str, &str); 9] = [
    ("review", "approve TASK --yes"),
    ("review", "send-back TASK why --yes"),
    ("review", "close TASK --yes"),
    ("review", "cancel TASK"),
    ("review", "resurrect TASK"),
    ("review", "reopen TASK why --yes"),
    ("approve", "adopt TASK --yes"),
    ("approve", "adopt --settings --yes"),
    ("approve", "adopt --writer kq3mbx7p --yes"),
];

/// An agent whose work a person reviews.
const AGENT: &str = "cat > /dev/null
echo '{\"outcome\":\"done\"}' > \"$ACCORD_TASK_DIR/outputs/report.json\"\n";

/// A folder that nobody serves, with a task in review.
pub(super) fn with_review(title: &str, tasks: &Tasks) -> String {
    let id = tasks.create(&format!("{title} --ready"));
    let agent = tasks.agent("agent.sh", AGENT);
    tasks.yes(&format!("work --agent '{agent}' --as dev --once"));
    assert_eq!(tasks.status(&id), "review");
    id
}

#[test]
fn commands_on_tasks_are_as_the_table_says() {
    let tasks = Tasks::new();
    let reviewed = with_review("Reviewed", &tasks);
    let mut tally = Tally::default();
    let mut starters = vec![Starter::Worker(OF_TASK), Starter::Worker(OF_TURN)];
    if has_no_proc() {
        starters.push(Starter::NoProc);
    }
    starters.push(Starter::Local);
    let mut add = |starter: Starter, need: &str, words: &str, acting: Acting| {
        let mut command = tasks.command(words);
        match acting.actor() {
            Some(actor) => command.env("ACCORD_ACTOR", actor),
            None => command.env_remove("ACCORD_ACTOR"),
        };
        let ran = run(starter.start(&command), "");
        let caller = starter.caller();
        let is_allowed = may(need, caller, Author::Proven, acting);
        let cell = format_args!("accord task {words} {caller} {starter:?} as {acting}");
        tally.add(cell, is_allowed, &Answer::of(&ran), true);
    };
    for starter in starters {
        for words in WRITES {
            for acting in [Acting::Person, Acting::Agent] {
                add(starter, "write", words, acting);
            }
        }
        // The task is there, so that nothing but the policy refuses it; for a caller who may
        // decide, it is not.
        let task = if starter == Starter::Local { "TASK-2026-01-01-999" } else { &reviewed };
        for (need, words) in DECISIONS {
            add(starter, need, &words.replace("TASK", task), Acting::Person);
        }
    }
    for (need, words) in &DECISIONS[..3] {
        add(Starter::Local, need, &words.replace("TASK", &reviewed), Acting::Nobody);
    }
    assert_eq!(tasks.status(&reviewed), "review");
    add(Starter::Local, "review", &format!("approve {reviewed} --yes"), Acting::Person);
    tally.finish("accord task in process", 67);
}
