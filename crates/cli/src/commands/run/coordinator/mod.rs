//! `accord run coordinator`: one initiative over several repositories.

mod show;

use std::path::PathBuf;

use accord_api::LocalDeclaration;
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
use accord_runs_core::operations::{
    ApproveInitiativeGate, InitInitiative, InitiativeStatus, LocalOperation as _, ResyncInitiative,
    SendBackInitiative, StepInitiative,
};

use super::person::PersonArgs;
use super::{RepoArgs, environment, next_line, next_lines, option, take, words};
use crate::render::{Page, clean};
use crate::{Exit, Result};

subcommands! {
    /// Coordinate several governed repositories in one initiative
    pub(super) CoordinatorArgs, CoordinatorCommand {
        /// Start an initiative: link the runs of its repositories, and start those that are missing
        Init(WorkspaceArgs) => WorkspaceArgs::init,
        /// Show the status of the initiative, what each workstream waits for, and the next commands
        Status(WorkspaceArgs) => WorkspaceArgs::status,
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

/// The initiative of the current folder and its next steps, for what shows all parts of a folder.
/// `None` where there is none, or it cannot be read.
pub(in crate::commands) fn overview_here() -> Option<(CoordinatorOverview, Vec<NextAnswer>)> {
    let here = WorkspaceArgs { workspace: None, json: false };
    let place = RepoArgs { repo: None, json: false }.folder();
    // Nothing is said about a folder that is no workspace.
    let coordinator = Coordinator::open(&place, super::silent_environment().ok()?).ok()?;
    let overview = coordinator.status().ok()?;
    let next = here.next(&overview);
    Some((overview, next))
}

impl CoordinatorArgs {
    pub(super) fn operation(&self) -> LocalDeclaration {
        match &self.command {
            CoordinatorCommand::Init(_) => InitInitiative::declared(),
            CoordinatorCommand::Status(_) => InitiativeStatus::declared(),
            CoordinatorCommand::Step(_) => StepInitiative::declared(),
            CoordinatorCommand::ApproveGate(_) => ApproveInitiativeGate::declared(),
            CoordinatorCommand::SendBack(_) => SendBackInitiative::declared(),
            CoordinatorCommand::Resync(_) => ResyncInitiative::declared(),
        }
    }
}

impl WorkspaceArgs {
    fn open(&self) -> Result<(Coordinator, RepoArgs)> {
        let answering = RepoArgs { repo: self.workspace.clone(), json: self.json };
        let coordinator = take(Coordinator::open(&answering.folder(), environment()?))?;
        Ok((coordinator, answering))
    }

    fn next(&self, overview: &CoordinatorOverview) -> Vec<NextAnswer> {
        let workspace = option("--workspace", self.workspace.as_deref());
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
                    let drops = format!("drops the request and continues in {phase}");
                    let why = format!("{drops}; the next turns have the reason");
                    let step = type_it("send-back --reason '…'", &why);
                    NextAnswer { instead: Some(true), ..step }
                }
                NextAction::Account { report } => {
                    let why = "after you have fixed what blocks it and described that in";
                    type_it("resync", &format!("{why} {report}"))
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
        let Ok(overview) = coordinator.status() else { return failure };
        let next = self.next(&overview);
        let lines: Vec<String> = next.iter().map(next_line).collect();
        let documents: Vec<_> = next.iter().map(Wire::encode).collect();
        failure.with("next", documents).suggesting(lines.join("\n"))
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
        let next = next_answer(step, &answering.names());
        Some(NextAnswer { instead: None, why: format!("{id}: {}", next.why), ..next })
    }

    fn init(self) -> Result<Exit> {
        let (coordinator, answering) = self.open()?;
        let begun = take(coordinator.init())?;
        let overview = take(coordinator.status())?;
        let answer = coordinator_init_answer(&begun, self.next(&overview));
        answering.say(&answer, |page| {
            page.line(format!("started the initiative {}", clean(begun.state.super_run_id())));
            for repo in &overview.repos {
                let is_new = begun.begun.contains(&repo.id);
                let how = if is_new { "a run was started" } else { "its run was linked" };
                page.labelled(&repo.id, how);
            }
            next_lines(page, &answer.next);
        })
    }

    fn status(self) -> Result<Exit> {
        let (coordinator, answering) = self.open()?;
        let overview = take(coordinator.status())?;
        let next_of = |id: &str| self.next_in(&overview, id, false);
        let answer = coordinator_status_answer(&overview, next_of, self.next(&overview));
        answering.say(&answer, |page| show::status(page, &overview, &answer.next))
    }
}

impl StepArgs {
    fn run(self) -> Result<Exit> {
        let (coordinator, answering) = self.workspace.open()?;
        let stepped = coordinator.step(self.workstream.as_deref());
        let pointing = |failure| self.workspace.pointing(failure, &coordinator);
        let stepped = take(stepped.map_err(pointing))?;
        let overview = take(coordinator.status())?;
        let next = self.workspace.next(&overview);
        let answer = coordinator_step_answer(&stepped, overview.state.as_ref(), next);
        answering.say(&answer, |page| {
            show::projected(page, &stepped.projected);
            match &stepped.outcome {
                StepOutcome::Dispatched { choice, dispatched, .. } => {
                    let (repo, role) = (clean(&choice.repo), clean(&choice.role));
                    let (turn, stream) = (dispatched.turn.id(), clean(&choice.workstream));
                    page.line(format!("{repo} has {turn} as {role}, for {stream}"));
                }
                StepOutcome::Gate { state } => show::gate(page, state),
                StepOutcome::Waiting(failure) => page.labelled("waits", &failure.message),
                _ => {}
            }
            next_lines(page, &answer.next);
        })
    }
}

impl ApproveGateArgs {
    fn run(self) -> Result<Exit> {
        let (coordinator, answering) = self.workspace.open()?;
        let plan = take(coordinator.plan_gate(self.person.expected()))?;
        let show = |page: &mut Page| show::gate_plan(page, &plan);
        let consent = self.person.consent("approve the gate", &plan.evidence, show)?;
        let passed = take(coordinator.approve_gate(&consent))?;
        let overview = take(coordinator.status())?;
        let answer = coordinator_gate_answer(&passed, self.workspace.next(&overview));
        answering.say(&answer, |page| {
            show::gate(page, &passed.state);
            next_lines(page, &answer.next);
        })
    }
}

impl SendBackArgs {
    fn run(self) -> Result<Exit> {
        let (coordinator, answering) = self.workspace.open()?;
        let plan = take(coordinator.plan_gate(self.person.expected()))?;
        let given = SendBackGate { reason: self.reason, repos: self.repos };
        let consent = self.person.consent("send it back", &plan.evidence, |page| {
            let gate = clean(plan.gate.gate.as_deref().unwrap_or("a gate"));
            page.line(format!("{gate} would not be passed; the phase continues"));
            page.labelled_whole("reason", &given.reason);
            if !given.repos.is_empty() {
                page.labelled("for", &given.repos.join(", "));
            }
            show::facts(page, &plan);
        })?;
        let sent = take(coordinator.send_back(&given, &consent))?;
        let overview = take(coordinator.status())?;
        let answer = coordinator_send_back_answer(&sent, self.workspace.next(&overview));
        answering.say(&answer, |page| {
            show::gate(page, &sent.state);
            page.labelled("sent back", &sent.repos.join(", "));
            next_lines(page, &answer.next);
        })
    }
}

impl ResyncArgs {
    fn run(self) -> Result<Exit> {
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
        })
    }
}
