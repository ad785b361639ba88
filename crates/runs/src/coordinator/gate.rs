//! A person approves the pending gate of an initiative.

use accord_contract::codes::Failure;
use accord_contract::wire::Object;
use accord_runs_core::coordinator::{Account, CoordinatorState, approve_gate, hooks};
use accord_runs_core::hooks::HookPhase;

use super::Coordinator;

/// A gate that was approved.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GateApproval {
    /// The gate.
    pub gate: Object,
    /// The new state of the initiative.
    pub state: CoordinatorState,
}

impl Coordinator {
    /// Approves the pending gate, and the barriers that wait for the same approval.
    ///
    /// # Errors
    /// `not_for_workers` if a worker of a repository started the caller; `invalid_state_transition` if no gate is pending; `hook_blocked` if a hook refuses;
    /// `coordinator_diverged` if a repository changed since the gate was reached.
    pub fn approve_gate(&self) -> Result<GateApproval, Failure> {
        let mut session = self.open_session()?;
        session.refuse_worker()?;
        session.catch_up(Account::None)?;
        // Refuse before hooks run.
        approve_gate(&session.initiative(), session.now())?;
        let gate = session.state.pending_gate().cloned().unwrap_or_default();
        let batch = hooks::before_gate(&session.initiative(), &session.workspace());
        let report = session.hooks(batch, HookPhase::BeforeGate)?;
        if let Some(failure) = report.failure() {
            return Err(failure);
        }
        // Decided again with the time after the hooks, which may have run for long.
        let now = session.now();
        let mut ledger = session.ledger;
        let change = approve_gate(&session.initiative(), now)?.into_change(&mut ledger, now);
        session.commit(change)?;
        Ok(GateApproval { gate, state: session.state })
    }
}
