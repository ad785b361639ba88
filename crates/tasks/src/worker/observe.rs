//! What a worker observes beside the words of its agent: the checks of the task, run after the
//! agent has ended, and what git shows about the folder that the agent worked in.
//!
//! Every command here runs like the agent: as a worker, in a fresh sandbox of its own that cannot
//! change git. The agent may have written the programs that a check starts, and git executes what
//! a repository configures.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use accord_base::client_output::ClientCost;
use accord_process::{
    Cancel, Ending, Invocation, Overflow, Sandbox, Spec, Watch, WatchDecision, run_watched,
};
use accord_tasks_core::operations::{AgentExit, CHANGES, TaskCheck, TaskObserved};

use super::process::{Rights, confine, last_lines, marked};
use super::{AgentCommand, AgentRun, WorkSignal};
use crate::layout::BOOKKEEPING;
use crate::report;

/// How long a check may run.
const CHECK_LIMIT: Duration = Duration::from_secs(600);
/// How long git may take.
const GIT_LIMIT: Duration = Duration::from_secs(30);
/// How much of the output of a check is kept, from the end.
const OUTPUT: usize = 2_000;
/// How much of what git prints is read.
const GIT_OUTPUT: usize = 1024 * 1024;
/// The longest commit or path in a record, in characters.
const LINE: usize = 300;

/// The commands of an attempt that are not the agent.
pub(super) struct Observer<'a> {
    pub(super) agent: &'a AgentRun<'a>,
    pub(super) command: &'a AgentCommand,
    pub(super) cancel: &'a Cancel,
}

struct Ran {
    ending: Result<i32, String>,
    duration: Duration,
    stdout: Vec<u8>,
    tail: Vec<u8>,
    sandbox: Sandbox,
}

impl Observer<'_> {
    /// The commit that is checked out, if the folder is under git.
    pub(super) fn commit(&self) -> Option<String> {
        let printed = self.git(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
        let commit = printed.first()?;
        commit.chars().all(|digit| digit.is_ascii_hexdigit()).then(|| commit.clone())
    }

    /// What is known when the agent has ended. The checks run if it reported, or ended well.
    pub(super) fn observe(
        &self,
        (sandbox, base): (&Sandbox, Option<String>),
        (cost, executed): (Option<ClientCost>, Vec<String>),
        exit: AgentExit,
        signals: &mut dyn FnMut(WorkSignal<'_>),
    ) -> TaskObserved {
        let checks = if self.has_report(exit) { self.checks(signals) } else { Vec::new() };
        let (mut commits, mut files) = (Vec::new(), Vec::new());
        if let Some(base) = &base {
            let since = format!("{base}..HEAD");
            commits = self.git(&["log", "--format=%h %s", &since]).unwrap_or_default();
            let changed = self.git(&["diff", "--no-ext-diff", "--name-only", base]);
            let new = self.git(&["ls-files", "--others", "--exclude-standard"]);
            let (top, here) = (self.work_tree_of_git(), self.work_tree());
            // Git names the first from its work tree, the others from the folder.
            files = self.without_bookkeeping(&top, changed.unwrap_or_default());
            files.extend(self.without_bookkeeping(&here, new.unwrap_or_default()));
            files.sort();
            files.dedup();
        }
        let left_out = commits.len().saturating_sub(CHANGES) + files.len().saturating_sub(CHANGES);
        commits.truncate(CHANGES);
        files.truncate(CHANGES);
        TaskObserved {
            run_id: self.agent.run.run_id.clone(),
            sandbox: sandbox.to_string(),
            checks,
            work_tree: self.work_tree().display().to_string(),
            base,
            commits,
            files,
            left_out: left_out as u64,
            cost: cost.map(Into::into),
            executed: Some(executed).filter(|executed| !executed.is_empty()),
            elsewhere: None,
            said_by: None,
            checked_here: None,
            changes: None,
        }
    }

    /// Runs the checks of the task.
    pub(super) fn checks(&self, signals: &mut dyn FnMut(WorkSignal<'_>)) -> Vec<TaskCheck> {
        let run = |argv: &Vec<String>| {
            let check = self.check(argv);
            signals(WorkSignal::Check(&check));
            check
        };
        self.agent.checks.iter().map(run).collect()
    }

    fn has_report(&self, exit: AgentExit) -> bool {
        let is_left = || report::read(self.agent.disk.as_ref(), self.agent.run.task).is_some();
        match exit {
            AgentExit::Cancelled | AgentExit::WorkerKilled => false,
            AgentExit::Success => true,
            AgentExit::Failure => is_left() || self.agent.has_reported().unwrap_or(false),
        }
    }

    fn check(&self, argv: &[String]) -> TaskCheck {
        let argv = argv.to_vec();
        match self.run(&argv, CHECK_LIMIT, 0) {
            Ok(ran) => {
                let (exit_code, problem) = match ran.ending {
                    Ok(code) => (Some(code.into()), None),
                    Err(problem) => (None, Some(problem)),
                };
                let duration_ms = u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX);
                let output = last_lines(&ran.tail, OUTPUT).replace('\0', "");
                let sandbox = ran.sandbox.to_string();
                TaskCheck { argv, exit_code, problem, duration_ms, output, sandbox }
            }
            Err(problem) => TaskCheck {
                argv,
                exit_code: None,
                problem: Some(problem),
                duration_ms: 0,
                output: String::new(),
                sandbox: "off (it did not start)".to_owned(),
            },
        }
    }

    /// The lines that git prints, if it succeeds.
    fn git(&self, arguments: &[&str]) -> Option<Vec<String>> {
        let printed = self.git_output(arguments, GIT_OUTPUT)?;
        let text = String::from_utf8_lossy(&printed);
        let line = |line: &str| line.replace('\0', "").chars().take(LINE).collect();
        Some(text.lines().map(line).collect())
    }

    /// What git prints, up to a number of bytes, if it succeeds.
    pub(super) fn git_output(&self, arguments: &[&str], most: usize) -> Option<Vec<u8>> {
        let fixed = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"];
        let argv: Vec<String> =
            fixed.iter().chain(arguments).map(|word| (*word).to_owned()).collect();
        let ran = self.run(&argv, GIT_LIMIT, most).ok()?;
        (ran.ending == Ok(0)).then_some(ran.stdout)
    }

    /// Paths in a folder, without what Accord writes in a tree there.
    pub(super) fn without_bookkeeping(&self, folder: &Path, mut paths: Vec<String>) -> Vec<String> {
        let Ok(root) = self.agent.disk.root_path().strip_prefix(folder) else { return paths };
        let root = match root.display().to_string() {
            root if root.is_empty() => root,
            root => format!("{root}/"),
        };
        let is_own = |path: &str| {
            let inside = path.strip_prefix(&root);
            inside.is_some_and(|path| BOOKKEEPING.iter().any(|own| path.starts_with(own)))
        };
        paths.retain(|path| !is_own(path));
        paths
    }

    /// The work tree of git that the folder of the agent is in.
    pub(super) fn work_tree_of_git(&self) -> PathBuf {
        let folder = self.work_tree();
        let top = folder.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
        top.unwrap_or(&folder).to_owned()
    }

    fn work_tree(&self) -> PathBuf {
        self.command.cwd.clone().unwrap_or_else(|| self.agent.folder())
    }

    fn run(&self, argv: &[String], limit: Duration, stdout: usize) -> Result<Ran, String> {
        let Some((program, arguments)) = argv.split_first() else {
            return Err("the command is empty".to_owned());
        };
        let invocation = Invocation::new(program, arguments).cwd(self.work_tree());
        let invocation = marked(self.agent, invocation);
        let confined = confine(self.agent, self.command, invocation, Rights::Check);
        let (invocation, sandbox) = confined.map_err(|error| error.to_string())?;
        let spec = Spec::new(invocation)
            .time_limit(limit)
            .stdout_limit(stdout, Overflow::Discard)
            .stderr_limit(0)
            .cancel(self.cancel.clone());
        let every = self.agent.beat_every();
        let mut watch =
            Tail { agent: self.agent, every, next: Instant::now() + every, bytes: Vec::new() };
        let output = run_watched(&spec, &mut watch).map_err(|error| error.to_string())?;
        let ending = match output.ending {
            _ if output.cancelled => Err("it was cancelled".to_owned()),
            _ if output.timed_out => Err(format!("it was ended after {} s", limit.as_secs())),
            Ending::Exited(code) => Ok(code),
            ending => Err(ending.to_string()),
        };
        let (duration, stdout) = (output.duration, output.stdout);
        Ok(Ran { ending, duration, stdout, tail: watch.bytes, sandbox })
    }
}

/// Keeps the end of the output, and the run of the agent alive.
struct Tail<'a> {
    agent: &'a AgentRun<'a>,
    every: Duration,
    next: Instant,
    bytes: Vec<u8>,
}

impl Watch for Tail<'_> {
    fn stdout(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        let excess = self.bytes.len().saturating_sub(OUTPUT);
        self.bytes.drain(..excess);
    }

    fn stderr(&mut self, chunk: &[u8]) {
        self.stdout(chunk);
    }

    fn decide(&mut self, now: Instant) -> WatchDecision {
        if now >= self.next {
            // An agent that has reported has no lease any more.
            let AgentRun { operations, run, .. } = self.agent;
            drop(operations.heartbeat(run.task, &self.agent.heartbeat()));
            self.next = now + self.every;
        }
        WatchDecision::AskAgain(self.next)
    }
}
