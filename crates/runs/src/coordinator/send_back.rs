//! A person sends the pending gate of an initiative back.

use accord_contract::Object;
use accord_runs_core::coordinator::{CoordinatorState, SendBackGate, send_back_gate};
use accord_runs_core::operations::SendBackInitiative;
use accord_runs_core::{Consent, Result};

use super::Coordinator;

#[derive(Clone, Debug, PartialEq)]
pub struct GateSentBack {
    pub gate: Object,
    pub repos: Vec<String>,
    pub state: CoordinatorState,
}

impl Coordinator {
    /// Sends the pending gate back. The initiative continues in its phase: each named repository
    /// gets another turn, with the reason in its context. Fails with `not_for_workers` if a worker
    /// of a repository started the caller; `invalid_state_transition` if no gate is pending, or if
    /// the runs of all repositories are completed; `evidence_changed` if the person saw other
    /// evidence; `unknown_repository`; `coordinator_diverged` if a repository changed since the
    /// gate was reached.
    pub fn send_back(&self, given: &SendBackGate, consent: &Consent) -> Result<GateSentBack> {
        let (mut session, gate, approval) =
            self.begin_decision::<SendBackInitiative>("sent_back", consent)?;
        let mut ledger = session.ledger;
        let now = session.now();
        let place = session.initiative();
        let change = send_back_gate(&place, &session.views, given, &approval, &mut ledger, now)?;
        session.commit(change)?;
        let repos = session.initiative().owed_repos();
        Ok(GateSentBack { gate, repos, state: session.state })
    }
}
