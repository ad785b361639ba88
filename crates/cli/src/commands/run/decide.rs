//! The commands of `accord run` that take a decision of a person: approvals and resolutions.

use accord_runs::Runs;
use accord_runs::answers::plan_answer;
use accord_runs::operations::PendingApproval;
use accord_runs_core::evidence::{EvidenceDigest, Subject};
use accord_runs_core::run::{ApprovalPlan, check_resolvable};
use accord_runs_core::state::Pending;

use super::change::change_run;
use super::person::PersonArgs;
use super::{RepoArgs, moment, take};
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::{Page, clean, one_line};

/// Approve the pending transition to the next phase
#[derive(Debug, clap::Args)]
pub(super) struct TransitionArgs {
    #[command(flatten)]
    gate: GateArgs,
}

/// Approve the pending completion of the run
#[derive(Debug, clap::Args)]
pub(super) struct CompletionArgs {
    #[command(flatten)]
    gate: GateArgs,
}

#[derive(Debug, clap::Args)]
struct GateArgs {
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    person: PersonArgs,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Continue a blocked run
#[derive(Debug, clap::Args)]
pub(super) struct ResolveArgs {
    #[command(flatten)]
    person: PersonArgs,

    #[command(flatten)]
    repo: RepoArgs,
}

impl TransitionArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        self.gate.run(PendingApproval::Transition)
    }
}

impl CompletionArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        self.gate.run(PendingApproval::Completion)
    }
}

impl GateArgs {
    fn run(self, gate: PendingApproval) -> Result<Exit, CliError> {
        let runs = self.repo.open()?;
        if !self.dry_run {
            // Before the question, and before a message that would help a worker.
            take(runs.refuse_worker())?;
        }
        let plan = take(runs.plan_approval(gate))?;
        let evidence = take(runs.evidence(&gate.subject()))?;
        if self.dry_run {
            return self.show(&plan, &evidence);
        }
        let verb = match gate {
            PendingApproval::Transition => "approve the transition",
            PendingApproval::Completion => "approve the completion",
        };
        let consent = self.person.consent(verb, &evidence, |page| {
            show_plan(page, &runs, &plan);
        })?;
        change_run(&self.repo, |runs| runs.approve(gate, &consent))
    }

    /// Prints what an approval would do.
    fn show(&self, plan: &ApprovalPlan, evidence: &EvidenceDigest) -> Result<Exit, CliError> {
        let answer = plan_answer(plan, evidence);
        self.repo.say(&answer, |page| {
            let to = answer.to.as_deref().unwrap_or("the end of the run");
            page.line(format!("would move the run to {}", clean(to)));
            for hook in &answer.hooks {
                page.labelled("hook", hook);
            }
            for command in &answer.commands {
                page.labelled("command", command);
            }
            page.labelled("evidence", evidence.as_str());
        })?;
        Ok(Exit::Yes)
    }
}

impl ResolveArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let runs = self.repo.open()?;
        take(runs.refuse_worker())?;
        let state = take(runs.state())?;
        take(check_resolvable(&state))?;
        let evidence = take(runs.evidence(&Subject::Block))?;
        let consent = self.person.consent("continue the run", &evidence, |page| {
            let run = state.run_id().map(ToString::to_string).unwrap_or_default();
            page.line(format!("{run} is {} in {}", state.status(), clean(state.phase())));
            if let Some(blocked) = state.blocked_on() {
                page.labelled("waits on", blocked);
            }
            if let Some(detail) = state.blocked_detail() {
                page.labelled_whole("because", detail);
            }
            if let Some(action) = state.recovery_action() {
                page.labelled_whole("do first", action);
            }
        })?;
        change_run(&self.repo, |runs| runs.resolve(&consent))
    }
}

/// Describes an approval to the person who is asked for it.
fn show_plan(page: &mut Page, runs: &Runs, plan: &ApprovalPlan) {
    let (gate, since) = match &plan.pending {
        Pending::Transition(pending) => {
            page.line(format!("from {} to {}", clean(&pending.from), clean(&pending.to)));
            (Some(&pending.gate), &pending.requested_at)
        }
        Pending::Completion(pending) => {
            page.line("the run would be completed");
            (pending.gate.as_ref(), &pending.requested_at)
        }
    };
    if let Some(gate) = gate {
        page.labelled("gate", gate);
    }
    if let Some(since) = since {
        page.labelled("since", &moment(since));
    }
    if let Some(turn) = plan.requested_by_turn() {
        // A history that cannot be read must not prevent the approval.
        let line = runs.requester(plan).ok().flatten().unwrap_or_default();
        page.labelled("asked by", &format!("{turn} of {}", line.role.unwrap_or_default()));
        page.labelled_whole("it says", &one_line(line.summary.as_deref().unwrap_or_default(), 400));
    }
    for hook in plan.hooks.as_ref().map_or(&[][..], |batch| &batch.hooks) {
        page.labelled("hook", &hook.name);
    }
    for action in &plan.actions {
        page.labelled("command", &action.run);
    }
}
