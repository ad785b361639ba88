//! The commands of `accord run` that move a run.

use accord_contract::codes::Failure;
use accord_runs::Runs;
use accord_runs::answers::{
    RunAnswer, RunCheckpointAnswer, RunDispatchAnswer, RunPlanAnswer, RunRejectAnswer,
    RunTurnAnswer,
};
use accord_runs::operations::{Gate, Reissue, Reject, RunUpdate, Start};

use super::{RepoArgs, TurnArgs, next_lines, words};
use crate::error::CliError;
use crate::exit::Exit;
use crate::show::{clean, counted};

/// Begin a run
#[derive(Debug, clap::Args)]
pub(super) struct StartArgs {
    /// Leave a run behind that is over or blocked
    #[arg(long)]
    restart: bool,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Give a role its turn
#[derive(Debug, clap::Args)]
pub(super) struct AssignArgs {
    /// The role; the one that is due when absent
    role: Option<String>,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Hand a turn to its worker: write its bundle, ask the hooks, close it with a manifest
#[derive(Debug, clap::Args)]
pub(super) struct DispatchArgs {
    #[command(flatten)]
    turn: TurnArgs,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Reject a turn: it is tried again, or the run waits for a person
#[derive(Debug, clap::Args)]
pub(super) struct RejectArgs {
    #[command(flatten)]
    turn: TurnArgs,

    /// Why, for people and for the next try
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: String,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Take a turn back and give its work out anew, to another role or the same; a block because of it
/// ends
#[derive(Debug, clap::Args)]
pub(super) struct ReissueArgs {
    #[command(flatten)]
    turn: TurnArgs,

    /// The role that goes on; the one that has the turn when absent
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,

    /// Why
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: String,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Commit what accepted turns changed, so that the next one starts clean
#[derive(Debug, clap::Args)]
pub(super) struct CheckpointArgs {
    /// Only what this accepted turn changed
    #[arg(long, value_name = "ID", value_parser = super::turn_id)]
    turn: Option<accord_runs_core::TurnId>,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Let a run into its next phase, through the gate that waits
#[derive(Debug, clap::Args)]
pub(super) struct TransitionArgs {
    #[command(flatten)]
    gate: GateArgs,
}

/// Let a run end, through the gate that waits
#[derive(Debug, clap::Args)]
pub(super) struct CompletionArgs {
    #[command(flatten)]
    gate: GateArgs,
}

#[derive(Debug, clap::Args)]
struct GateArgs {
    /// Only tell what would be done
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Stop a run until a person has looked
#[derive(Debug, clap::Args)]
pub(super) struct EscalateArgs {
    /// Why
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: String,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Let a blocked run go on
#[derive(Debug, clap::Args)]
pub(super) struct ResolveArgs {
    #[command(flatten)]
    repo: RepoArgs,
}

impl StartArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let start = Start {
            restart: self.restart,
            ..Start::default()
        };
        change_run(&self.repo, |runs| runs.start(&start))
    }
}

impl AssignArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let runs = self.repo.open_to_act()?;
        let assigned = self.repo.take(runs.assign(self.role.as_deref()))?;
        let answer = RunTurnAnswer::new(&assigned.turn, self.repo.next(&runs)?);
        self.repo.say(&answer, |page| {
            let turn = &assigned.turn;
            page.line(format!("{} has {}", clean(turn.role()), turn.id()));
            next_lines(page, &answer.next);
        })?;
        Ok(Exit::Yes)
    }
}

impl DispatchArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let runs = self.repo.open_to_act()?;
        let handed = self.repo.take(runs.dispatch(self.turn.turn.as_ref()))?;
        let answer = RunDispatchAnswer::new(&handed, self.repo.next(&runs)?);
        self.repo.say(&answer, |page| {
            page.line(format!(
                "{} is with {} ({})",
                handed.turn.id(),
                clean(handed.turn.role()),
                clean(&answer.runtime_id)
            ));
            page.labelled("prompt", &format!("{}/PROMPT.md", answer.bundle));
            next_lines(page, &answer.next);
        })?;
        Ok(Exit::Yes)
    }
}

impl RejectArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let runs = self.repo.open_to_act()?;
        let reject = Reject {
            turn: self.turn.turn,
            reason: self.reason,
            ..Reject::default()
        };
        let rejected = self.repo.take(runs.reject(&reject))?;
        let answer = RunRejectAnswer::new(&rejected, self.repo.next(&runs)?);
        self.repo.say(&answer, |page| {
            page.line(match rejected.again {
                true => "rejected; the turn may be tried again",
                false => "rejected; the turn has no try left, and the run is blocked",
            });
            if let Some(kept) = &rejected.kept {
                page.labelled("kept", kept);
            }
            next_lines(page, &answer.next);
        })?;
        Ok(Exit::Yes)
    }
}

impl ReissueArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let runs = self.repo.open_to_act()?;
        let reissue = Reissue {
            turn: self.turn.turn,
            role: self.role,
            reason: self.reason,
        };
        let reissued = self.repo.take(runs.reissue(&reissue))?;
        let turn = &reissued.assigned.turn;
        let answer = RunTurnAnswer::new(turn, self.repo.next(&runs)?);
        self.repo.say(&answer, |page| {
            page.line(format!(
                "took {} back from {}; {} has {}",
                reissued.old.id(),
                clean(reissued.old.role()),
                clean(turn.role()),
                turn.id()
            ));
            if let Some(kept) = &reissued.kept {
                page.labelled("kept", kept);
            }
            next_lines(page, &answer.next);
        })?;
        Ok(Exit::Yes)
    }
}

impl CheckpointArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let runs = self.repo.open_to_act()?;
        let made = self.repo.take(runs.checkpoint(self.turn.as_ref()))?;
        let answer = RunCheckpointAnswer::new(&made);
        let next = self.repo.next(&runs)?;
        self.repo.say(&answer, |page| {
            let files = counted(made.files.len() as u64, "file");
            page.line(format!("commit {} with {files}", made.commit));
            next_lines(page, &next);
        })?;
        Ok(Exit::Yes)
    }
}

impl TransitionArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        self.gate.run(Gate::Transition)
    }
}

impl CompletionArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        self.gate.run(Gate::Completion)
    }
}

impl GateArgs {
    fn run(self, gate: Gate) -> Result<Exit, CliError> {
        if !self.dry_run {
            return change_run(&self.repo, |runs| runs.approve(gate));
        }
        let runs = self.repo.open()?;
        let plan = self.repo.take(runs.plan_approval(gate))?;
        let answer = RunPlanAnswer::new(&plan);
        self.repo.say(&answer, |page| {
            let to = answer.to.as_deref().unwrap_or("the end of the run");
            page.line(format!("would let the run into {}", clean(to)));
            for hook in &answer.hooks {
                page.labelled("hook", hook);
            }
            for command in &answer.commands {
                page.labelled("command", command);
            }
        })?;
        Ok(Exit::Yes)
    }
}

impl EscalateArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        change_run(&self.repo, |runs| runs.escalate(&self.reason))
    }
}

impl ResolveArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        change_run(&self.repo, Runs::resolve)
    }
}

/// Moves a run, and tells where it stands.
fn change_run(
    repo: &RepoArgs,
    operation: impl FnOnce(&Runs) -> Result<RunUpdate, Failure>,
) -> Result<Exit, CliError> {
    let runs = repo.open_to_act()?;
    let moved = repo.take(operation(&runs))?;
    let answer = RunAnswer::new(&moved, repo.next(&runs)?);
    repo.say(&answer, |page| {
        let run = moved.state.run_id().map(ToString::to_string);
        page.line(format!(
            "{} is {} in {}",
            run.unwrap_or_default(),
            moved.state.status(),
            clean(moved.state.phase())
        ));
        next_lines(page, &answer.next);
    })?;
    Ok(Exit::Yes)
}
