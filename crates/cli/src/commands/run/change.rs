//! The commands of `accord run` that change a run.

use accord_api::LocalDeclaration;
use accord_contract::Failure;
use accord_runs::Runs;
use accord_runs::answers::{checkpoint_answer, dispatch_answer};
use accord_runs::answers::{reject_answer, run_answer, turn_answer};
use accord_runs::operations::{Reissue, Reject, RunUpdate, Start};
use accord_runs_core::TurnId;
use accord_runs_core::evidence::Subject;
use accord_runs_core::operations::{
    EscalateRun, LocalOperation as _, RestartRun, StartRun, StopRun,
};
use accord_runs_core::run::check_stoppable;
use accord_runs_core::state::State;

use super::person::PersonArgs;
use super::{RepoArgs, TurnArgs, choose_from, next_lines, take, words};
use crate::host::Candidate;
use crate::render::{clean, counted};
use crate::{CliError, Exit, Result};

/// Start a run
#[derive(Debug, clap::Args)]
pub(super) struct StartArgs {
    /// What the run is for; every worker reads it
    #[arg(value_name = "GOAL", value_parser = words)]
    goal: Option<String>,

    /// Replace a run that is completed or blocked
    #[arg(long)]
    restart: bool,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Assign a turn to a role
#[derive(Debug, clap::Args)]
pub(super) struct AssignArgs {
    /// The role; the one that is due if absent
    role: Option<String>,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Dispatch a turn to its worker: write its bundle, run the hooks, write the manifest
#[derive(Debug, clap::Args)]
pub(super) struct DispatchArgs {
    #[command(flatten)]
    turn: TurnArgs,
    #[command(flatten)]
    repo: RepoArgs,
}

/// Reject a turn: there is another attempt, or the run is blocked
#[derive(Debug, clap::Args)]
pub(super) struct RejectArgs {
    #[command(flatten)]
    turn: TurnArgs,

    /// The reason, for people and for the next attempt
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: String,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Take a turn back and give its work to a new turn, of the same role or another; a block because
/// of the turn is resolved
#[derive(Debug, clap::Args)]
pub(super) struct ReissueArgs {
    #[command(flatten)]
    turn: TurnArgs,

    /// The role of the new turn; that of the old one if absent
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,

    /// The reason
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: String,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Commit the changes of accepted turns, so that the next one starts clean
#[derive(Debug, clap::Args)]
pub(super) struct CheckpointArgs {
    /// Only the changes of this accepted turn, by its id or the beginning of it
    #[arg(long, value_name = "ID", value_parser = super::turn_id)]
    turn: Option<TurnId>,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Block a run until a person resolves it
#[derive(Debug, clap::Args)]
pub(super) struct EscalateArgs {
    /// The reason
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: String,

    /// Also end the workers that run: whoever waits for one ends it. A person confirms that
    #[arg(long)]
    end_workers: bool,

    #[command(flatten)]
    person: PersonArgs,
    #[command(flatten)]
    repo: RepoArgs,
}

impl StartArgs {
    pub(super) fn operation(&self) -> LocalDeclaration {
        if self.restart { RestartRun::declared() } else { StartRun::declared() }
    }

    pub(super) fn run(self) -> Result<Exit> {
        let start = Start { restart: self.restart, goal: self.goal, ..Start::default() };
        change_run(&self.repo, |runs| runs.start(&start))
    }
}

impl AssignArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let runs = self.repo.open_to_act()?;
        let assigned = take(runs.assign(self.role.as_deref()))?;
        let answer = turn_answer(&assigned.turn, self.repo.next(&runs)?);
        self.repo.say(&answer, |page| {
            let turn = &assigned.turn;
            page.line(format!("{} has {}", clean(turn.role()), turn.id()));
            next_lines(page, &answer.next);
        })
    }
}

impl DispatchArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let runs = self.repo.open_to_act()?;
        let handed = take(runs.dispatch(self.turn.find(&runs)?.as_ref()))?;
        let answer = dispatch_answer(&handed, self.repo.next(&runs)?);
        self.repo.say(&answer, |page| {
            let (role, runtime) = (clean(handed.turn.role()), clean(&answer.runtime_id));
            page.line(format!("{} is with {role} ({runtime})", handed.turn.id()));
            page.labelled("prompt", &format!("{}/PROMPT.md", answer.bundle));
            next_lines(page, &answer.next);
        })
    }
}

impl RejectArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let runs = self.repo.open_to_act()?;
        let turn = self.turn.find(&runs)?;
        let reject = Reject { turn, reason: self.reason, ..Reject::default() };
        let rejected = take(runs.reject(&reject))?;
        self.repo.keep();
        let answer = reject_answer(&rejected, self.repo.next(&runs)?);
        self.repo.say(&answer, |page| {
            page.line(if rejected.again {
                "rejected; there is another attempt, whose prompt has the reason"
            } else {
                "rejected; no attempt is left, and the run is blocked"
            });
            page.labelled_some("kept", rejected.kept.as_deref());
            next_lines(page, &answer.next);
        })
    }
}

impl ReissueArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let runs = self.repo.open_to_act()?;
        let turn = self.turn.find(&runs)?;
        let reissue = Reissue { turn, role: self.role, reason: self.reason };
        let reissued = take(runs.reissue(&reissue))?;
        let turn = &reissued.assigned.turn;
        let answer = turn_answer(turn, self.repo.next(&runs)?);
        self.repo.say(&answer, |page| {
            let (old, by, role) = (&reissued.old, clean(reissued.old.role()), clean(turn.role()));
            page.line(format!("reissued {} of {by}; {role} has {}", old.id(), turn.id()));
            page.labelled_some("kept", reissued.kept.as_deref());
            next_lines(page, &answer.next);
        })
    }
}

impl CheckpointArgs {
    /// The accepted turn with uncommitted changes, from its id or the beginning of it.
    fn find(&self, runs: &Runs) -> Result<Option<TurnId>> {
        let Some(given) = &self.turn else { return Ok(None) };
        let turns = take(runs.uncommitted_turns())?.into_iter();
        let turns = turns.map(|(id, place)| Candidate { id, place });
        Ok(TurnId::parse(&choose_from("turn", given.as_str(), turns)?))
    }

    pub(super) fn run(self) -> Result<Exit> {
        let runs = self.repo.open_to_act()?;
        let made = take(runs.checkpoint(self.find(&runs)?.as_ref()))?;
        let next = self.repo.next(&runs)?;
        self.repo.say(&checkpoint_answer(&made), |page| {
            let files = counted(made.files.len() as u64, "file");
            page.line(format!("commit {} with {files}", made.commit));
            next_lines(page, &next);
        })
    }
}

impl EscalateArgs {
    pub(super) fn operation(&self) -> LocalDeclaration {
        if self.end_workers { StopRun::declared() } else { EscalateRun::declared() }
    }

    pub(super) fn run(self) -> Result<Exit> {
        if !self.end_workers {
            if self.person.is_given() {
                let message = "a person confirms only that workers are ended: --end-workers";
                return Err(CliError::usage(message));
            }
            return change_run(&self.repo, |runs| runs.escalate(&self.reason));
        }
        let runs = self.repo.open()?;
        take(runs.refuse_worker())?;
        let state = take(runs.state())?;
        take(runs.unless_decided(check_stoppable(&state), self.person.expected()))?;
        let evidence = take(runs.evidence(&Subject::Run))?;
        let consent = self.person.consent("stop the run", &evidence, |page| {
            page.line(run_line(&state));
            for turn in state.turns() {
                page.labelled("turn", &format!("{} ({})", turn.id(), clean(turn.role())));
            }
            page.labelled_whole("reason", &self.reason);
        })?;
        change_run(&self.repo, |runs| runs.stop(&self.reason, &consent))
    }
}

/// Where a run is, on one line.
pub(super) fn run_line(state: &State) -> String {
    let run = state.run_id().map(ToString::to_string).unwrap_or_default();
    format!("{run} is {} in {}", state.status(), clean(state.phase()))
}

pub(super) fn change_run(
    repo: &RepoArgs,
    operation: impl FnOnce(&Runs) -> Result<RunUpdate, Failure>,
) -> Result<Exit> {
    let runs = repo.open_to_act()?;
    let moved = take(operation(&runs))?;
    repo.keep();
    let answer = run_answer(&moved, repo.next(&runs)?);
    repo.say(&answer, |page| {
        page.line(run_line(&moved.state));
        next_lines(page, &answer.next);
    })
}
