//! Steps from the valid result to the observation of the changes in the repository.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::{Code, Failure, Value};

use super::observed::Observed;
use super::{Context, Next, Observation, Outcome, Step, Want, observe};
use crate::config::TimeoutAction;
use crate::result::{Rewrite, TurnResult, TurnStatusClaim};
use crate::{RepoPath, Result, doc, gate, ledger, rule, timeout};

/// The result passed its judgement.
#[derive(Clone, Debug)]
pub(super) struct Valid {
    pub(super) result: TurnResult,
    pub(super) rewrites: Vec<Rewrite>,
    pub(super) warnings: Vec<String>,
    pub(super) at_flat_path: bool,
}

impl Valid {
    /// Checks that decision ids are new in the run, and that overrides are allowed, one for each
    /// target.
    ///
    /// Clauses: AX-DL-DUPLICATE-ACCEPT.
    pub(super) fn check_decisions(&mut self, context: &Context) -> Result<()> {
        let inputs = &context.inputs;
        let used = inputs.index.decisions();
        let mut own = BTreeSet::new();
        let mut overridden = BTreeSet::new();
        for decision in self.result.decisions() {
            let is_used = |id: &str| rule!(used.contains(id); UsedIdAccepted => false);
            let taken = |id: &str| own.contains(id) || is_used(id);
            let id = ledger::check_entry(&Value::Object(decision.clone()), taken)?;
            own.insert(id);
            let role = context.turn.role();
            let warning = inputs.repo_decisions.check_override(decision, role, &inputs.config)?;
            self.warnings.extend(warning);
            if let Some(target) = doc::Decision::OVERRIDES.get(decision)
                && !overridden.insert(target)
            {
                let message = format!("the result overrides {target} twice; keep one of the two");
                let failure = Failure::new(Code::XchainOverrideValidationFailed, message);
                return Err(failure.with("overrides", target));
            }
        }
        Ok(())
    }

    pub(super) fn observe(self, context: &Context) -> Next {
        let want = self.ask_changes(context);
        (Step::Observing(self), want)
    }

    pub(super) fn ask_changes(&self, context: &Context) -> Want {
        Want::Observe {
            baseline: context.turn.baseline(),
            named: self.result.named_files(),
            proposed: self.result.proposed_writes(),
            deleted: self.result.proposed_deletions(),
        }
    }

    /// The files that a gate needs, when the turn may pass one.
    pub(super) fn gate_files(&self, context: &Context) -> Vec<RepoPath> {
        let (config, state) = (&context.inputs.config, &context.inputs.state);
        let asks = self.result.status() == TurnStatusClaim::Completed
            && (self.result.wants_completion() || self.result.phase_request().is_some());
        // A queued request is executed when the last active turn is accepted, and that turn need
        // not ask for anything.
        let queued = [doc::State::QUEUED_PHASE_TRANSITION, doc::State::QUEUED_RUN_COMPLETION];
        let is_queued = || queued.iter().any(|request| request.given(state.members()).is_some());
        let skips = || timeout::phase_action(config, state.phase()) == TimeoutAction::SkipPhase;
        if asks || is_queued() || skips() {
            gate::needed_files(config, state.phase())
        } else {
            Vec::new()
        }
    }

    pub(super) fn observed(mut self, context: &mut Context, observation: Observation) -> Outcome {
        let checked = observe::check(&self.result, &context.turn, &context.inputs, &observation)?;
        self.warnings.extend(checked.warnings);
        let files = self.gate_files(context);
        let observed = Observed { valid: self, observation, changed: checked.changed };
        if files.is_empty() {
            observed.gated(context, BTreeMap::new())
        } else {
            Ok((Step::GateFiles(observed), Want::Files(files)))
        }
    }
}
