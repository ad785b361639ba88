//! Stops a run until a person has looked at it, and continues it.

use accord_runs_core::operations::ResolveBlock;
use accord_runs_core::{Block, CheckpointReason, Consent, Result, Subject, run};

use super::RunUpdate;
use crate::{Operation, Runs};

impl Runs {
    /// A person stops the run. Fails with `invalid_state_transition` if the run is not active.
    pub fn escalate(&self, reason: &str) -> Result<RunUpdate> {
        let mut operation = self.begin()?;
        let now = operation.now();
        let change = run::escalate(&operation.state, reason, &mut operation.ids, now)?;
        let update = operation.commit_update(change)?;
        operation.run_escalation_hooks(None, Some(reason));
        operation.save_session(CheckpointReason::Blocked, None);
        Ok(update)
    }

    /// A person stops the run, and ends the workers of its turns: whoever waits for one ends it.
    /// The turns stay active, and go on once a person resolved the block. Fails with
    /// `not_for_workers` if a worker started the caller; `invalid_state_transition` if the run is
    /// not active; `evidence_changed` if the person saw another phase or other turns.
    pub fn stop(&self, reason: &str, consent: &Consent) -> Result<RunUpdate> {
        let consent = &self.authorize_stop(consent)?;
        let mut operation = self.begin()?;
        operation.unless_decided(run::check_stoppable(&operation.state), consent)?;
        let approval = operation.approval(&Subject::Run, "stopped", consent)?;
        let now = operation.now();
        let change = run::stop(&operation.state, reason, &approval, &mut operation.ids, now)?;
        let update = operation.commit_update(change)?;
        operation.run_escalation_hooks(None, Some(reason));
        operation.save_session(CheckpointReason::Blocked, None);
        Ok(update)
    }

    /// Blocks the run for any reason. Fails with `invalid_state_transition` if no run is active or
    /// paused.
    pub fn block(&self, block: &Block) -> Result<RunUpdate> {
        let mut operation = self.begin()?;
        let now = operation.now();
        let change = run::block(&operation.state, block, &mut operation.ids, now)?;
        let update = operation.commit_update(change)?;
        let turn = block.turn.as_ref().and_then(|turn| operation.state.turn(turn));
        operation.run_escalation_hooks(turn, Some(&block.detail));
        let turn = turn.cloned();
        operation.save_session(CheckpointReason::Blocked, turn.as_ref());
        Ok(update)
    }

    /// Continues a run that is blocked or paused. Commits that the person made meanwhile are not
    /// counted as changes of active turns. Fails with `not_for_workers` if a worker started the
    /// caller; `evidence_changed` if the person saw other evidence; `invalid_state_transition` if
    /// it is neither, or if a gate is pending.
    pub fn resolve(&self, consent: &Consent) -> Result<RunUpdate> {
        let consent = &self.authorize_consent::<ResolveBlock>(consent)?;
        let mut operation = self.begin()?;
        let now = operation.now();
        operation.unless_decided(run::check_resolvable(&operation.state), consent)?;
        let approval = operation.approval(&Subject::Block, "resolved", consent)?;
        let standing = operation.baseline()?;
        let Operation { state, ids, .. } = &mut operation;
        let change = run::resolve(state, Some(&standing), &approval, ids, now)?;
        operation.commit_update(change)
    }
}
