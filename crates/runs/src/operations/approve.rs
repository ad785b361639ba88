//! A person approves a gate: hooks run first, then the commands of the gate, then the run moves.

use std::time::Duration;

use accord_process::{Ending, Invocation, Spec};
use accord_runs_core::config::GateAction;
use accord_runs_core::operations::{ApproveCompletion, ApproveTransition};
use accord_runs_core::run::{
    self, ActionRun, ApprovalPlan, PendingApproval, approve_completion, approve_transition,
    stopped_by_hook,
};
use accord_runs_core::views::HistoryView;
use accord_runs_core::{CheckpointReason, Consent, HookPhase, Result};

use super::RunUpdate;
use crate::{Notice, Operation, RecordFile, Runs};

const MAX_EXCERPT: usize = 4096;

/// How many of the newest turns are searched for the one that requested a gate. No turn follows it
/// while the gate is pending, except turns that were active at the same time.
const RECENT: usize = 64;

impl Runs {
    /// What an approval would do, without doing it. Fails with `invalid_state_transition` if no
    /// gate is pending.
    pub fn plan_approval(&self, gate: PendingApproval) -> Result<ApprovalPlan> {
        let (config, state) = (self.config()?, self.state()?);
        let history = self.repository().index(state.run_id())?.length();
        run::plan_approval(&state, &config, gate, history)
    }

    /// The line of the history of the turn that requested a gate. Fails with `record_invalid` if a
    /// line is damaged.
    pub fn requester(&self, plan: &ApprovalPlan) -> Result<Option<HistoryView>> {
        let Some(turn) = plan.pending.requested_by_turn() else { return Ok(None) };
        let lines = self.repository().last_lines(RecordFile::History, RECENT)?;
        let mut lines = lines.iter().rev().map(HistoryView::of);
        Ok(lines.find(|line| line.turn_id.as_deref() == Some(turn)))
    }

    /// Approves a pending gate. The records say who approved it, and about which evidence. Fails
    /// with `not_for_workers` if a worker started the caller; `invalid_state_transition` if no gate
    /// is pending; `evidence_changed` if the person saw other evidence; `hook_blocked` if a hook
    /// refuses; `gate_action_failed` if a command of the gate fails. The last two block the run,
    /// and the gate stays pending.
    pub fn approve(&self, gate: PendingApproval, consent: &Consent) -> Result<RunUpdate> {
        let consent = match gate {
            PendingApproval::Transition => self.authorize_consent::<ApproveTransition>(consent),
            PendingApproval::Completion => self.authorize_consent::<ApproveCompletion>(consent),
        };
        let consent = &consent?;
        let mut operation = self.begin()?;
        let history = operation.locked.index(operation.state.run_id())?.length();
        let plan = run::plan_approval(&operation.state, &operation.config, gate, history);
        let plan = operation.unless_decided(plan, consent)?;
        // Before hooks and commands, which may change the files that the person saw.
        let approval = operation.approval(&gate.subject(), "approved", consent)?;
        let report = operation.hooks(plan.hooks, HookPhase::BeforeGate, &[])?;
        let now = operation.now();
        if let Some(refused) = stopped_by_hook(&operation.state, &report, &mut operation.ids, now) {
            return Err(operation.commit_refusal(refused));
        }
        let ran = run_actions(&operation, &plan.actions, &plan.environment);
        // A command that was cancelled has not failed. Its failure would block the run.
        operation.environment.check_cancelled()?;
        let now = operation.now();
        let Operation { state, config, ids, .. } = &mut operation;
        let approved = match gate {
            PendingApproval::Transition => {
                approve_transition(state, config, &approval, &ran, ids, now)
            }
            PendingApproval::Completion => approve_completion(state, &approval, &ran, ids, now),
        };
        let change = approved.map_err(|refused| operation.commit_refusal(refused))?;
        let update = operation.commit_update(change)?;
        let reason = match gate {
            PendingApproval::Transition => CheckpointReason::PhaseApproved,
            PendingApproval::Completion => CheckpointReason::RunCompleted,
        };
        operation.save_session(reason, None);
        Ok(update)
    }
}

/// Runs the commands of a gate in order, up to the first that fails. The configuration declares
/// them as shell command lines.
fn run_actions(
    operation: &Operation<'_>,
    actions: &[GateAction],
    environment: &[(String, String)],
) -> Vec<ActionRun> {
    let mut ran = Vec::new();
    for action in actions {
        operation.environment.notify(&Notice::CommandStarted { command: action.run.clone() });
        let run = run_action(operation, action, environment);
        let failed = run.exit_code != Some(0) || run.timed_out;
        ran.push(run);
        if failed {
            break;
        }
    }
    ran
}

fn run_action(
    operation: &Operation<'_>,
    action: &GateAction,
    environment: &[(String, String)],
) -> ActionRun {
    // A login shell, as in the reference runner.
    let invocation = Invocation::new("/bin/sh", ["-lc", action.run.as_str()]).cwd(operation.root());
    let mut invocation = invocation.as_worker(operation.root(), "a gate");
    for (name, value) in environment {
        invocation = invocation.env(name, value);
    }
    let mut run = ActionRun {
        run: action.run.clone(),
        exit_code: None,
        timed_out: false,
        duration_ms: 0,
        output_excerpt: String::new(),
    };
    let confined = operation.environment.confined_gate(invocation, operation.root());
    let ran = confined.and_then(|invocation| {
        let spec = Spec::new(invocation).time_limit(Duration::from_millis(action.timeout_ms));
        accord_process::run(&match operation.environment.cancel_token() {
            Some(cancel) => spec.cancel(cancel.clone()),
            None => spec,
        })
    });
    match ran {
        Err(error) => run.output_excerpt = error.to_string(),
        Ok(outcome) => {
            run.timed_out = outcome.timed_out;
            run.duration_ms = u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX);
            if let (Ending::Exited(code), false) = (outcome.ending, outcome.timed_out) {
                run.exit_code = Some(code.into());
            }
            // A failing command explains itself on standard error.
            let output = [outcome.stdout, outcome.stderr].concat();
            let output = String::from_utf8_lossy(&output).into_owned();
            let from = output.len().saturating_sub(MAX_EXCERPT);
            output[output.ceil_char_boundary(from)..].clone_into(&mut run.output_excerpt);
        }
    }
    run
}
