//! A person opens the gate that an initiative waits at.

use accord_contract::codes::Failure;
use accord_contract::wire::Object;
use accord_runs_core::coordinator::{Account, CoordinatorState, approve_gate, hooks};
use accord_runs_core::hooks::HookPhase;

use super::Coordinator;

/// A gate that was passed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GateApproval {
    /// The gate, as it waited.
    pub gate: Object,
    /// Where the initiative stands.
    pub state: CoordinatorState,
}

impl Coordinator {
    /// Opens the gate that waits, and the barriers that waited for the same person.
    ///
    /// # Errors
    /// `invalid_state_transition` if none waits; `hook_blocked` if a hook refuses;
    /// `coordinator_diverged` if a repository is no longer as it was when the gate was reached.
    pub fn approve_gate(&self) -> Result<GateApproval, Failure> {
        let mut session = self.open_session()?;
        session.catch_up(Account::None)?;
        // Refused before a hook is asked about it.
        approve_gate(&session.initiative(), session.now())?;
        let gate = session.state.pending_gate().cloned().unwrap_or_default();
        let batch = hooks::before_gate(&session.initiative(), &session.workspace());
        let said = session.hooks(batch, HookPhase::BeforeGate)?;
        if let Some(failure) = said.failure() {
            return Err(failure);
        }
        let now = session.now();
        let mut ledger = session.ledger;
        let change = approve_gate(&session.initiative(), now)?.into_change(&mut ledger, now);
        session.commit(change)?;
        Ok(GateApproval {
            gate,
            state: session.state,
        })
    }
}
