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

mod leftover;
mod lines;
mod process;
mod report;

use std::path::PathBuf;
use std::time::Duration;

use accord_contract::codes::Failure;
use accord_process::Cancel;
use accord_tasks_core::board::RetryBudget;
use accord_tasks_core::lease::LeaseTimes;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};

use crate::layout::companion;
use crate::operations::Claimed;
use crate::{Result, Tree};

pub use leftover::end_leftovers;
pub use report::REPORT;

#[derive(Clone, Debug)]
#[non_exhaustive]
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
}

impl AgentCommand {
    /// A command that may run for an hour.
    pub fn new(argv: Vec<String>) -> Self {
        Self { argv, cwd: None, env: Vec::new(), time_limit: Duration::from_secs(3_600) }
    }
}

#[derive(Clone)]
#[non_exhaustive]
pub struct Worker {
    pub tree: Tree,
    pub root: PathBuf,
    pub project: String,
    pub times: LeaseTimes,
    /// How often a task is run.
    pub budget: RetryBudget,
}

#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WorkEnd {
    /// The agent reported. The task has this status now.
    Reported(Status),
    /// The agent ended without a report. The task has this status now.
    Failed {
        /// What went wrong: the exit and the end of standard error.
        error: String,
        status: Status,
    },
    /// The worker was killed, and the agent left no report. The task has this status now: ready,
    /// as long as there is a budget.
    Reclaimed(Status),
    /// The work was cancelled, and the task is ready again.
    Released,
    /// The task was given to another run, or moved by a person. Nothing was changed.
    Lost,
}

/// What a worker observes, for those who show it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum WorkSignal<'a> {
    /// The agent has started, as the leader of the group with this id.
    Started(u32),
    /// Output of the agent, on standard output or standard error.
    Output {
        error: bool,
        bytes: &'a [u8],
    },
    Beat,
    /// A message of the agent was carried out, or refused with this failure.
    Message(Option<&'a Failure>),
}

impl Worker {
    /// A worker on the tasks of the tree in a folder, with default times.
    pub fn new(tree: Tree, root: PathBuf, project: &str) -> Self {
        let project = project.to_owned();
        let (times, budget) = (LeaseTimes::default(), RetryBudget::default());
        Self { tree, root, project, times, budget }
    }

    /// Claims a ready task for the agent, the role or the team that it is routed to. Fails with
    /// `task_not_ready` if it was claimed by another agent in the meantime.
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

    /// Runs an agent on a claimed task and waits for it. When `cancel` is set, the agent is ended
    /// and the lease is released. Fails when the tree cannot be read or written. The lease then
    /// ends with its heartbeat.
    pub fn work(
        &self,
        claimed: &Claimed,
        command: &AgentCommand,
        briefing: &str,
        cancel: &Cancel,
        signals: &mut dyn FnMut(WorkSignal<'_>),
    ) -> Result<WorkEnd> {
        let id = claimed.task.task().id;
        leftover::end_earlier(self, id)?;
        report::put_aside(self, id);
        let ended = process::run(self, claimed, command, briefing, cancel, signals)?;
        self.conclude(claimed, &ended)
    }

    /// Ends the run of a claimed task as its agent left it.
    fn conclude(&self, claimed: &Claimed, ended: &Ended) -> Result<WorkEnd> {
        let id = claimed.task.task().id;
        if !self.holds(claimed)? {
            return self.tree.ended_as(id, claimed.run.run_id.as_deref());
        }
        if let Some(payload) = report::read(self, id) {
            let message = report::envelope(self, claimed, payload);
            match self.tree.worker_message(&message) {
                Ok(()) => {}
                // The refusal is recorded as an event; the run ends like one without a report.
                Err(failure) => {
                    let error = format!("{REPORT} is refused: {}", failure.message);
                    return self.fail(claimed, &error);
                }
            }
        }
        if self.holds(claimed)? {
            // A report may wait for the end of the session, which is now.
            self.tree.end_session(claimed)?;
        }
        if !self.holds(claimed)? {
            return self.tree.ended_as(id, claimed.run.run_id.as_deref());
        }
        match ended {
            Ended::Cancelled => {
                self.tree.give_back(claimed)?;
                Ok(WorkEnd::Released)
            }
            Ended::Well(last_lines) => self.ask_for_review(claimed, last_lines),
            Ended::Without(error) => self.fail(claimed, error),
            Ended::WithItsWorker => {
                self.tree.reclaim_run(claimed, self.budget).map(WorkEnd::Reclaimed)
            }
        }
    }

    /// Reports for an agent that ended well and did not say what it did.
    fn ask_for_review(&self, claimed: &Claimed, last_lines: &str) -> Result<WorkEnd> {
        let id = claimed.task.task().id;
        let message = report::envelope(self, claimed, report::unreported(last_lines));
        self.tree.worker_message(&message)?;
        if self.holds(claimed)? {
            self.tree.end_session(claimed)?;
        }
        self.tree.ended_as(id, claimed.run.run_id.as_deref())
    }

    fn fail(&self, claimed: &Claimed, error: &str) -> Result<WorkEnd> {
        let status = self.tree.fail_run(claimed, error, self.budget)?;
        Ok(WorkEnd::Failed { error: error.to_owned(), status })
    }

    /// Whether the task is still in progress in this run.
    fn holds(&self, claimed: &Claimed) -> Result<bool> {
        self.tree.is_held(claimed)
    }
}

#[derive(Debug)]
enum Ended {
    /// It was ended because the work was cancelled.
    Cancelled,
    /// It ended by itself with exit code 0. The text is the end of its output.
    Well(String),
    /// It failed, or was ended. The text says how, for the case that there is no report.
    Without(String),
    /// It was ended because its worker had been killed.
    WithItsWorker,
}

fn agent_of(task: &TaskFile) -> &str {
    task.task().lease.value().map_or("", |lease| lease.agent.as_str())
}
