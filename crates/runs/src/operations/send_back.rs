//! A person sends the request for a gate back: the run continues in its phase.

use accord_contract::Value;
use accord_runs_core::operations::SendBackRun;
use accord_runs_core::run::{self, SendBack, waiting_request};
use accord_runs_core::state::Pending;
use accord_runs_core::{CheckpointReason, Consent, Result, Subject};

use super::RunUpdate;
use crate::{Operation, RecordFile, Runs};

impl Runs {
    /// Sends the pending request back. The reason is in the prompts of the phase until the gate is
    /// requested again. Fails with `not_for_workers` if a worker started the caller;
    /// `invalid_state_transition` if no gate is pending; `evidence_changed` if the person saw other
    /// evidence; `unknown_role` or `role_without_runtime` if the named role cannot take a turn.
    pub fn send_back(&self, given: &SendBack, consent: &Consent) -> Result<RunUpdate> {
        let consent = &self.authorize_consent::<SendBackRun>(consent)?;
        let mut operation = self.begin()?;
        let pending = operation.unless_decided(waiting_request(&operation.state), consent)?;
        let approval = operation.approval(&subject(&pending), "sent_back", consent)?;
        let requested_by = requesting_role(&operation, &pending)?;
        let now = operation.now();
        let Operation { state, config, ids, .. } = &mut operation;
        let role = requested_by.as_deref();
        let change = run::send_back(state, config, given, &approval, role, ids, now)?;
        let update = operation.commit_update(change)?;
        operation.save_session(CheckpointReason::GateSentBack, None);
        Ok(update)
    }
}

fn subject(pending: &Pending) -> Subject<'static> {
    match pending {
        Pending::Transition(_) => Subject::Transition,
        Pending::Completion(_) => Subject::Completion,
    }
}

fn requesting_role(operation: &Operation<'_>, pending: &Pending) -> Result<Option<String>> {
    let Some(turn) = pending.requested_by_turn() else { return Ok(None) };
    let mut role = None;
    for line in operation.locked.objects(RecordFile::History)? {
        let line = line?;
        let text = |name: &str| line.get(name).and_then(Value::as_str);
        if text("turn_id") == Some(turn) {
            role = text("role").map(str::to_owned);
        }
    }
    Ok(role)
}
