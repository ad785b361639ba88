//! `accord run coordinator`: one initiative over several repositories.

mod show;

use std::path::PathBuf;

use accord_contract::{Code, Failure, Wire};
use accord_runs::answers::{
    coordinator_gate_answer, coordinator_init_answer, coordinator_send_back_answer,
    coordinator_status_answer, coordinator_step_answer, coordinator_sync_answer,
    coordinator_sync_plan, next_answer, next_command,
};
use accord_runs::coordinator::{
    Coordinator, CoordinatorOverview, NextAction, SendBackGate, StepOutcome,
};
use accord_runs::operations::NextStep;
use accord_runs_core::operations::answers::NextAnswer;

use super::person::PersonArgs;
use super::{RepoArgs, environment, next_line, next_lines, take, words};
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::clean;

/// Coordinate several governed repositories in one initiative
#[derive(Debug, clap::Args)]
pub(super) struct CoordinatorArgs {
    #[command(subcommand)]
    command: CoordinatorCommand,
}

subcommands! {
    CoordinatorArgs, CoordinatorCommand {
        Init(InitArgs),
        Status(StatusArgs),
        Step(StepArgs),
        ApproveGate(ApproveGateArgs),
        SendBack(SendBackArgs),
        Resync(ResyncArgs),
    }
}

/// The workspace, and the output format.
#[derive(Debug, clap::Args)]
struct WorkspaceArgs {
    /// The workspace; the current folder, or its nearest parent with agentxchain-multi.json, if
    /// absent
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Print JSON, also for errors
    #[arg(long)]
    json: bool,
}

/// Start an initiative: link the runs of its repositories, and start those that are missing
#[derive(Debug, clap::Args)]
struct InitArgs {
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

/// Show the status of the initiative, what each workstream waits for, and the next commands
#[derive(Debug, clap::Args)]
struct StatusArgs {
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

/// Project what repositories accepted, then dispatch the next turn or reach the next gate
#[derive(Debug, clap::Args)]
struct StepArgs {
    /// The workstream; the first that can take a turn if absent
    #[arg(long, value_name = "ID")]
    workstream: Option<String>,

    #[command(flatten)]
    workspace: WorkspaceArgs,
}

/// Approve the pending gate
#[derive(Debug, clap::Args)]
struct ApproveGateArgs {
    #[command(flatten)]
    person: PersonArgs,

    #[command(flatten)]
    workspace: WorkspaceArgs,
}

/// Send the pending gate back: the initiative continues in its phase, and its repositories get
/// another turn with the reason in its context
#[derive(Debug, clap::Args)]
struct SendBackArgs {
    /// The reason, for the next turns of the phase
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: String,

    /// A repository that gets another turn; all of the phase if absent
    #[arg(long = "repo", value_name = "ID")]
    repos: Vec<String>,

    #[command(flatten)]
    person: PersonArgs,

    #[command(flatten)]
    workspace: WorkspaceArgs,
}

/// Bring the initiative up to date with its repositories
#[derive(Debug, clap::Args)]
struct ResyncArgs {
    /// Only show the differences
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl WorkspaceArgs {
    fn answering(&self) -> RepoArgs {
        RepoArgs { repo: self.workspace.clone(), json: self.json }
    }

    fn open(&self) -> Result<(Coordinator, RepoArgs), CliError> {
        let answering = self.answering();
        let opened = Coordinator::open(&answering.folder(), environment()?);
        let coordinator = take(opened)?;
        Ok((coordinator, answering))
    }

    /// The next steps, as commands.
    fn next(&self, overview: &CoordinatorOverview) -> Vec<NextAnswer> {
        let workspace = self.workspace.as_ref().map_or_else(String::new, |place| {
            let place = place.to_string_lossy();
            format!(" --workspace {}", shell_words::quote(&place))
        });
        let type_it = |words: &str, why: &str| {
            let command = format!("accord run coordinator {words}{workspace}");
            next_command(command, why.to_owned())
        };
        let mut next = Vec::new();
        for step in &overview.next {
            next.push(match step {
                NextAction::Init => type_it("init", "there is no active initiative"),
                NextAction::Step => type_it("step", "the initiative can continue"),
                NextAction::ApproveGate { gate } => {
                    type_it("approve-gate", &format!("{gate} needs approval"))
                }
                NextAction::SendBack { phase } => {
                    let why = format!(
                        "drops the request and continues in {phase}; the next turns have the reason"
                    );
                    let mut step = type_it("send-back --reason '…'", &why);
                    step.instead = Some(true);
                    step
                }
                NextAction::Account { report } => {
                    let why = format!(
                        "after you have fixed what blocks it and described that in {report}"
                    );
                    type_it("resync", &why)
                }
                NextAction::Repository { id, sent_back } => {
                    next.extend(self.next_in(overview, id, *sent_back));
                    continue;
                }
            });
        }
        next
    }

    /// Adds the next steps of the repositories to the failure of a step.
    fn pointing(&self, failure: Failure, coordinator: &Coordinator) -> Failure {
        if failure.code != Code::XchainNothingToDispatch {
            return failure;
        }
        let Ok(overview) = coordinator.status() else {
            return failure;
        };
        let next = self.next(&overview);
        let lines: Vec<String> = next.iter().map(next_line).collect();
        let documents = next.iter().map(Wire::encode);
        failure.with("next", documents.collect::<Vec<_>>()).suggesting(lines.join("\n"))
    }

    /// The next step of a repository. A repository that owes a turn after a gate was sent back must
    /// not pass its own gate, but send that back too.
    fn next_in(
        &self,
        overview: &CoordinatorOverview,
        id: &str,
        sent_back: bool,
    ) -> Option<NextAnswer> {
        let repo = overview.repos.iter().find(|repo| repo.id == id)?;
        let own = repo.overview.as_ref().ok()?;
        let answering = RepoArgs { repo: Some(own.root.clone()), json: self.json };
        let back = own.next.iter().find(|step| matches!(step, NextStep::SendBack { .. }));
        let step = back.filter(|_| sent_back).or_else(|| own.next.first())?;
        let mut next = next_answer(step, &answering.names());
        next.instead = None;
        next.why = format!("{id}: {}", next.why);
        Some(next)
    }
}

impl InitArgs {
    fn run(self) -> Result<Exit, CliError> {
        let (coordinator, answering) = self.workspace.open()?;
        let begun = take(coordinator.init())?;
        let overview = take(coordinator.status())?;
        let answer = coordinator_init_answer(&begun, self.workspace.next(&overview));
        answering.say(&answer, |page| {
            let id = begun.state.super_run_id();
            page.line(format!("started the initiative {}", clean(id)));
            for repo in &overview.repos {
                let how = if begun.begun.contains(&repo.id) {
                    "a run was started"
                } else {
                    "its run was linked"
                };
                page.labelled(&repo.id, how);
            }
            next_lines(page, &answer.next);
        })?;
        Ok(Exit::Yes)
    }
}

impl StatusArgs {
    fn run(self) -> Result<Exit, CliError> {
        let (coordinator, answering) = self.workspace.open()?;
        let overview = take(coordinator.status())?;
        let next_of = |id: &str| self.workspace.next_in(&overview, id, false);
        let answer = coordinator_status_answer(&overview, next_of, self.workspace.next(&overview));
        answering.say(&answer, |page| show::status(page, &overview, &answer.next))?;
        Ok(Exit::Yes)
    }
}

impl StepArgs {
    fn run(self) -> Result<Exit, CliError> {
        let (coordinator, answering) = self.workspace.open()?;
        let stepped = coordinator.step(self.workstream.as_deref());
        let stepped = stepped.map_err(|failure| self.workspace.pointing(failure, &coordinator));
        let stepped = take(stepped)?;
        let overview = take(coordinator.status())?;
        let next = self.workspace.next(&overview);
        let answer = coordinator_step_answer(&stepped, overview.state.as_ref(), next);
        answering.say(&answer, |page| {
            show::projected(page, &stepped.projected);
            match &stepped.outcome {
                StepOutcome::Dispatched { choice, dispatched, .. } => page.line(format!(
                    "{} has {} as {}, for {}",
                    clean(&choice.repo),
                    dispatched.turn.id(),
                    clean(&choice.role),
                    clean(&choice.workstream)
                )),
                StepOutcome::Gate { state } => show::gate(page, state),
                StepOutcome::Waiting(failure) => page.labelled("waits", &failure.message),
                _ => {}
            }
            next_lines(page, &answer.next);
        })?;
        Ok(Exit::Yes)
    }
}

impl ApproveGateArgs {
    fn run(self) -> Result<Exit, CliError> {
        let (coordinator, answering) = self.workspace.open()?;
        let plan = take(coordinator.plan_gate())?;
        let consent = self.person.consent("approve the gate", &plan.evidence, |page| {
            show::gate_plan(page, &plan);
        })?;
        let passed = take(coordinator.approve_gate(&consent))?;
        let overview = take(coordinator.status())?;
        let answer = coordinator_gate_answer(&passed, self.workspace.next(&overview));
        answering.say(&answer, |page| {
            show::gate(page, &passed.state);
            next_lines(page, &answer.next);
        })?;
        Ok(Exit::Yes)
    }
}

impl SendBackArgs {
    fn run(self) -> Result<Exit, CliError> {
        let (coordinator, answering) = self.workspace.open()?;
        let plan = take(coordinator.plan_gate())?;
        let given = SendBackGate { reason: self.reason, repos: self.repos };
        let consent = self.person.consent("send it back", &plan.evidence, |page| {
            let gate = clean(plan.gate.gate.as_deref().unwrap_or("a gate"));
            page.line(format!("{gate} would not be passed; the phase continues"));
            page.labelled_whole("reason", &given.reason);
            if !given.repos.is_empty() {
                page.labelled("for", &given.repos.join(", "));
            }
        })?;
        let sent = take(coordinator.send_back(&given, &consent))?;
        let overview = take(coordinator.status())?;
        let answer = coordinator_send_back_answer(&sent, self.workspace.next(&overview));
        answering.say(&answer, |page| {
            show::gate(page, &sent.state);
            page.labelled("sent back", &sent.repos.join(", "));
            next_lines(page, &answer.next);
        })?;
        Ok(Exit::Yes)
    }
}

impl ResyncArgs {
    fn run(self) -> Result<Exit, CliError> {
        let (coordinator, answering) = self.workspace.open()?;
        let answer = if self.dry_run {
            let left = take(coordinator.divergence())?;
            let overview = take(coordinator.status())?;
            let next = self.workspace.next(&overview);
            coordinator_sync_plan(&left, overview.state.as_ref(), next)
        } else {
            let synced = take(coordinator.resync())?;
            let overview = take(coordinator.status())?;
            let next = self.workspace.next(&overview);
            coordinator_sync_answer(&synced, overview.state.as_ref(), next)
        };
        answering.say(&answer, |page| {
            show::projected(page, &answer.projected);
            show::divergence(page, "mended", &answer.mended);
            show::divergence(page, "differs", &answer.left);
            if answer.resumed {
                page.line("the initiative continues");
            }
            if answer.mended.is_empty() && answer.left.is_empty() {
                page.line("the repositories match the initiative");
            }
            next_lines(page, &answer.next);
        })?;
        Ok(Exit::Yes)
    }
}
