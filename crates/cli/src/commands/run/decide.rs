//! The commands of `accord run` that take a decision of a person: approvals and resolutions.

use accord_api::LocalDeclaration;
use accord_contract::Failure;
use accord_runs::Runs;
use accord_runs::answers::plan_answer;
use accord_runs::operations::PendingApproval;
use accord_runs_core::evidence::{EvidenceDigest, Subject};
use accord_runs_core::operations::answers::RunFacts;
use accord_runs_core::operations::{
    ApproveCompletion, ApproveTransition, LocalOperation as _, PlanApproval,
};
use accord_runs_core::run::{ApprovalPlan, check_resolvable};
use accord_runs_core::state::Pending;

use super::change::{change_run, run_line};
use super::person::PersonArgs;
use super::{RepoArgs, blocked_lines, moment, take};
use crate::render::{Page, clean, one_line};
use crate::{Exit, Result};

#[derive(Debug, clap::Args)]
pub(super) struct GateArgs {
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

impl GateArgs {
    pub(super) fn operation(&self, gate: PendingApproval) -> LocalDeclaration {
        match gate {
            _ if self.dry_run => PlanApproval::declared(),
            PendingApproval::Transition => ApproveTransition::declared(),
            PendingApproval::Completion => ApproveCompletion::declared(),
        }
    }

    pub(super) fn run(self, gate: PendingApproval) -> Result<Exit> {
        let runs = self.repo.open()?;
        if !self.dry_run {
            // Before the question, and before a message that would help a worker.
            take(runs.refuse_worker())?;
        }
        let plan = take(runs.unless_decided(runs.plan_approval(gate), self.person.expected()))?;
        let evidence = take(runs.evidence(&gate.subject()))?;
        let facts = runs.facts(&gate.subject());
        if self.dry_run {
            return self.show(&plan, &evidence, &facts);
        }
        let verb = match gate {
            PendingApproval::Transition => "approve the transition",
            PendingApproval::Completion => "approve the completion",
        };
        let consent = self.person.consent(verb, &evidence, |page| {
            show_plan(page, &runs, &plan);
            fact_lines(page, &facts);
        })?;
        change_run(&self.repo, |runs| runs.approve(gate, &consent))
    }

    fn show(
        &self,
        plan: &ApprovalPlan,
        evidence: &EvidenceDigest,
        facts: &Result<RunFacts, Failure>,
    ) -> Result<Exit> {
        let answer = plan_answer(plan, evidence, facts.as_ref().ok().cloned());
        self.repo.say(&answer, |page| {
            let to = answer.to.as_deref().unwrap_or("the end of the run");
            page.line(format!("would move the run to {}", clean(to)));
            answer.hooks.iter().for_each(|hook| page.labelled("hook", hook));
            answer.commands.iter().for_each(|command| page.labelled("command", command));
            fact_lines(page, facts);
            page.labelled("evidence", evidence.as_str());
        })
    }
}

impl ResolveArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let runs = self.repo.open()?;
        take(runs.refuse_worker())?;
        let state = take(runs.state())?;
        take(runs.unless_decided(check_resolvable(&state), self.person.expected()))?;
        let evidence = take(runs.evidence(&Subject::Block))?;
        let facts = runs.facts(&Subject::Block);
        let consent = self.person.consent("continue the run", &evidence, |page| {
            page.line(run_line(&state));
            blocked_lines(page, &state);
            page.labelled_some_whole("do first", state.recovery_action());
            fact_lines(page, &facts);
        })?;
        change_run(&self.repo, |runs| runs.resolve(&consent))
    }
}

/// What Accord observed, beside what the agents say.
pub(super) fn fact_lines(page: &mut Page, facts: &Result<RunFacts, Failure>) {
    let facts = match facts {
        Ok(facts) => facts,
        // A history that cannot be read must not prevent the decision.
        Err(failure) => {
            return page.labelled_whole("facts", &format!("none: {}", failure.message));
        }
    };
    let texts = |texts: &'_ [String]| texts.iter().map(|text| clean(text)).collect::<Vec<_>>();
    let mut list = |label: &str, all: &[String]| {
        let all = texts(all);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        page.labelled_texts(label, &all, MOST_FACTS);
    };
    list("changed", &facts.files);
    list("commit", &facts.commits);
    list("missing", &facts.missing);
    let checks = facts.checks.iter().map(|check| {
        let code = check.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        let who = if check.run_again { "run again by Accord" } else { "the agent says" };
        format!("{}: exit code {code}, {who}", one_line(&check.command, 100))
    });
    list("check", &checks.collect::<Vec<_>>());
    let back = facts.send_backs.iter();
    let back = back.map(|it| format!("by {} at {}: {}", it.by, moment(&it.at), it.reason));
    list("sent back", &back.collect::<Vec<_>>());
    list("warning", &facts.warnings);
    list("sandbox", &facts.sandbox);
    page.labelled("cost", &facts.cost);
    page.labelled_some_whole("diff", facts.diff_command.as_deref());
}

/// How many facts of a kind are shown; `--json` has all.
const MOST_FACTS: usize = 20;

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
    page.labelled_some("gate", gate.map(String::as_str));
    page.labelled_some("since", since.as_deref().map(moment).as_deref());
    if let Some(turn) = plan.pending.requested_by_turn() {
        // A history that cannot be read must not prevent the approval.
        let line = runs.requester(plan).ok().flatten().unwrap_or_default();
        page.labelled("asked by", &format!("{turn} of {}", line.role.unwrap_or_default()));
        page.labelled_whole("it says", &one_line(line.summary.as_deref().unwrap_or_default(), 400));
    }
    let hooks = plan.hooks.iter().flat_map(|batch| &batch.hooks);
    hooks.for_each(|hook| page.labelled("hook", &hook.name));
    plan.actions.iter().for_each(|action| page.labelled("command", &action.run));
}
