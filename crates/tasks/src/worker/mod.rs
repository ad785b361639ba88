//! Running an agent on a claimed task: its process, its signs of life, its report.
//!
//! The scheduler's executor and `accord task work` both use this module. A worker claims a task,
//! starts the agent's command in the folder of the task, sends heartbeats while the process group
//! lives, and turns what the agent leaves into a report:
//! - a message that the agent sent by itself, through any door, counts at once;
//! - a line of its standard output that begins with `AOF/1 ` is a message, as in any text;
//! - `outputs/report.json`, the payload of a `completion.report`, is sent when the agent ends;
//! - an agent that ends well without any of them has not said that its work is done: a person
//!   reviews it, with its last lines as notes.
//!
//! Invariants:
//! - no lock of the tree is held between operations;
//! - every operation names the run, so that a worker whose task was given to another run changes
//!   nothing, and ends its agent;
//! - no process of the agent's group is left when a worker returns;
//! - an agent that outlived its worker is ended before another begins on the same task;
//! - a report of an earlier run is never taken for that of this run.

mod changes;
mod leftover;
mod lines;
mod observe;
mod operations;
mod process;
mod remote;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use accord_base::worker::AttemptSockets;
use accord_contract::{Code, Failure, Time};
use accord_process::{Cancel, Sandbox, SandboxRules};
use accord_tasks_core::lease::LeaseTimes;
use accord_tasks_core::observed::checks;
use accord_tasks_core::operations::{
    AgentExit, EndRunAnswer, EndRunRequest, HeartbeatRequest, RunEnding, RunView, TaskChanges,
    TaskCheck,
};
use accord_tasks_core::run::RunStatus;
use accord_tasks_core::{Status, TaskId};
use accord_trees::{Disk, Root};

use crate::layout::companion;
use crate::operations::{Claimed, ms};
use crate::report::{RunOfAgent, put_aside};
use crate::tree::failure;
use crate::{Result, Tree};

use self::observe::Observer;
use self::process::Ended;

pub use crate::report::REPORT;
pub use changes::ChangedFile;
pub use leftover::end_leftovers;
pub use operations::{RunOperations, is_away, moved, moves_query};
pub use remote::{ClaimIntent, Hub, LeftRun, RemoteFolder, RemoteRun, is_report, left_runs, tidy};

#[derive(Clone, Debug)]
pub struct AgentCommand {
    /// The program and its arguments. `{prompt}` in an argument is replaced by the briefing,
    /// `{agent}` by the name of the agent. Without `{prompt}` the briefing is the agent's standard
    /// input.
    pub argv: Vec<String>,
    /// The working folder. Default: the folder of the task.
    pub cwd: Option<PathBuf>,
    /// Additional variables of its environment.
    pub env: Vec<(String, String)>,
    /// How long it may run.
    pub time_limit: Duration,
    /// What opens the socket through which it reaches Accord.
    pub sockets: Option<AttemptSockets>,
    /// What a person decided about its sandbox.
    pub sandbox: SandboxRules,
}

impl AgentCommand {
    /// A command that may run for an hour.
    pub fn new(argv: Vec<String>) -> Self {
        let time_limit = Duration::from_secs(3_600);
        let sandbox = SandboxRules::default();
        Self { argv, cwd: None, env: Vec::new(), time_limit, sockets: None, sandbox }
    }
}

#[derive(Clone)]
pub struct Worker {
    pub tree: Tree,
    pub root: PathBuf,
    pub project: String,
    pub times: LeaseTimes,
}

/// A run of an agent on a claimed task, in a process that watches the agent.
pub struct AgentRun<'a> {
    operations: &'a dyn RunOperations,
    /// The files of the tree: the report of an earlier run, the record of the agent's process.
    disk: Arc<dyn Disk>,
    root: PathBuf,
    project: &'a str,
    run: RunOfAgent,
    times: LeaseTimes,
    /// The checks of the task as they were when it was claimed.
    checks: Vec<Vec<String>>,
    /// What is told of the files that the agent changed, to a hub that does not have them.
    describe: Option<&'a Describe>,
}

/// Says what of changed files leaves the machine.
type Describe = dyn Fn(Vec<ChangedFile>) -> Option<TaskChanges>;

#[derive(Clone, Debug)]
pub enum WorkEnd {
    /// The agent reported. The task has this status now.
    Reported(Status),
    /// The agent ended without a report. The task has this status now.
    Failed {
        /// What went wrong: the exit and the end of standard error.
        error: String,
        status: Status,
        /// When the task is tried again, if it is.
        retry_at: Option<Time>,
    },
    /// The worker was killed, and the agent left no report. The task has this status now.
    Reclaimed(Status),
    /// The work was cancelled, and the task is ready again.
    Released,
    /// The task was given to another run, or moved by a person. Nothing was changed. It has this
    /// status now, if it exists.
    Lost(Option<Status>),
}

/// What a worker observes, for those who show it.
#[derive(Clone, Copy, Debug)]
pub enum WorkSignal<'a> {
    /// The agent has started, as the leader of the group with this id, in this sandbox.
    Started(u32, &'a Sandbox),
    /// Output of the agent, on standard output or standard error.
    Output {
        error: bool,
        bytes: &'a [u8],
    },
    Beat,
    /// A check of the task has ended.
    Check(&'a TaskCheck),
    /// A message of the agent was carried out, or refused with this failure.
    Message(Option<&'a Failure>),
}

impl Worker {
    /// A worker on the tasks of the tree in a folder, with default times.
    pub fn new(tree: Tree, root: PathBuf, project: &str) -> Self {
        Self { tree, root, project: project.to_owned(), times: LeaseTimes::default() }
    }

    /// Claims a ready task for the agent, the role or the team that it is routed to.
    pub fn claim(&self, id: TaskId) -> Result<Claimed> {
        let agent = self.tree.target(id)?;
        self.tree.claim_for(id, &agent, self.times)
    }

    /// The task of a run that another request claimed, if the run still has it.
    pub fn claimed(&self, id: TaskId, run_id: &str) -> Result<Option<Claimed>> {
        self.tree.claimed_in(id, run_id)
    }

    pub fn folder(&self, id: TaskId) -> PathBuf {
        self.root.join(companion(Status::InProgress, id))
    }

    /// Runs an agent on a claimed task and waits for it. `cancel` ends it and releases the lease.
    pub fn work(
        &self,
        claimed: &Claimed,
        command: &AgentCommand,
        briefing: &str,
        cancel: &Cancel,
        signals: &mut dyn FnMut(WorkSignal<'_>),
    ) -> Result<WorkEnd> {
        let run = AgentRun {
            operations: &self.tree,
            disk: self.tree.shared_disk(),
            root: self.root.clone(),
            project: &self.project,
            run: RunOfAgent::of(claimed),
            times: self.times,
            // What cannot be read is a finding of the review.
            checks: checks(claimed.task.task()).unwrap_or_default(),
            describe: None,
        };
        run.work(command, briefing, cancel, signals)
    }
}

impl<'a> AgentRun<'a> {
    /// A run that holds a task of a project whose files are in a folder of this machine.
    pub fn new(
        operations: &'a dyn RunOperations,
        (root, project): (&Path, &'a str),
        (task, agent, run_id): (TaskId, &str, &str),
        times: LeaseTimes,
        checks: Vec<Vec<String>>,
    ) -> Result<Self> {
        let disk = Arc::new(Root::open(root).map_err(|error| failure(&error))?);
        let run = RunOfAgent { task, agent: agent.to_owned(), run_id: run_id.to_owned() };
        let (root, describe) = (root.to_owned(), None);
        Ok(Self { operations, disk, root, project, run, times, checks, describe })
    }

    /// The same run, which tells what its agent changed in the repository that it worked in.
    #[must_use]
    pub fn describing(self, describe: &'a Describe) -> Self {
        Self { describe: Some(describe), ..self }
    }

    /// Runs the agent and waits for it. `cancel` ends it and gives the task back.
    pub fn work(
        &self,
        command: &AgentCommand,
        briefing: &str,
        cancel: &Cancel,
        signals: &mut dyn FnMut(WorkSignal<'_>),
    ) -> Result<WorkEnd> {
        leftover::end_earlier(self.disk.as_ref(), self.run.task)?;
        put_aside(self.disk.as_ref(), self.run.task);
        let ended = process::run(self, command, briefing, cancel, signals);
        let Ended { exit, text, observed, changes } = ended;
        let changes = changes.zip(self.describe).and_then(|(files, describe)| describe(files));
        let request = EndRunRequest { observed, changes, ..self.run.ended(exit, text) };
        match self.operations.end_run(self.run.task, &request) {
            // Nobody has it any more.
            Err(failure) if failure.code == Code::AofTaskNotFound => Ok(WorkEnd::Lost(None)),
            ended => ended.map(WorkEnd::from),
        }
    }

    /// Runs the checks of the task after its run has ended, each in a sandbox of its own.
    pub fn check(
        &self,
        command: &AgentCommand,
        cancel: &Cancel,
        signals: &mut dyn FnMut(WorkSignal<'_>),
    ) -> Vec<TaskCheck> {
        Observer { agent: self, command, cancel }.checks(signals)
    }

    /// The folder of the task. It moves when the agent reports.
    fn folder(&self) -> PathBuf {
        let of = |status: Status| self.root.join(companion(status, self.run.task));
        let own = of(Status::InProgress);
        let moved = || Status::ALL.iter().map(|status| of(*status)).find(|path| path.is_dir());
        if own.is_dir() { own } else { moved().unwrap_or(own) }
    }

    /// How often the run sends a sign of life.
    fn beat_every(&self) -> Duration {
        let seconds = u64::try_from(self.times.heartbeat_seconds / 3).unwrap_or(1);
        Duration::from_secs(seconds.max(1))
    }

    fn heartbeat(&self) -> HeartbeatRequest {
        HeartbeatRequest {
            agent: Some(self.run.agent.clone()),
            run_id: Some(self.run.run_id.clone()),
            lease_ttl_ms: ms(self.times.lease_seconds),
            heartbeat_ttl_ms: ms(self.times.heartbeat_seconds),
        }
    }

    /// Whether the run does not have the task any more.
    fn is_over(&self) -> Result<bool> {
        let last = self.operations.last_run(self.run.task)?;
        let is_own = |last: &RunView| last.run_id.as_deref() == Some(self.run.run_id.as_str());
        Ok(!last.is_some_and(|last| is_own(&last) && last.status == RunStatus::Running))
    }

    /// Whether a result of this run is recorded.
    fn has_reported(&self) -> Result<bool> {
        let Some(last) = self.operations.last_run(self.run.task)? else { return Ok(false) };
        let is_own = |id: Option<&str>| id == Some(self.run.run_id.as_str());
        let is_over = is_own(last.run_id.as_deref()) && last.status == RunStatus::Completed;
        Ok(is_over || last.result.is_some_and(|result| is_own(result.run_id.as_deref())))
    }
}

impl RunOfAgent {
    fn of(claimed: &Claimed) -> Self {
        let Claimed { run, .. } = claimed;
        let run_id = run.run_id.clone().unwrap_or_default();
        Self { task: run.task_id, agent: run.agent_id.clone(), run_id }
    }

    /// The request that ends it.
    fn ended(&self, exit: AgentExit, text: Option<String>) -> EndRunRequest {
        let (agent, run_id) = (Some(self.agent.clone()), self.run_id.clone());
        EndRunRequest { agent, run_id, exit, text, observed: None, uploads: None, changes: None }
    }
}

impl From<EndRunAnswer> for WorkEnd {
    fn from(answer: EndRunAnswer) -> Self {
        let EndRunAnswer { ending, status, error, retry_at, .. } = answer;
        let retry_at = retry_at.map(|at| at.time());
        match ending {
            RunEnding::Reported => Self::Reported(status),
            RunEnding::Failed => {
                Self::Failed { error: error.unwrap_or_default(), status, retry_at }
            }
            RunEnding::Reclaimed => Self::Reclaimed(status),
            RunEnding::Released => Self::Released,
            RunEnding::Lost => Self::Lost(Some(status)),
        }
    }
}
