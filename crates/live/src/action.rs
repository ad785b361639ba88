//! Actions of a person over the channel.

use accord_contract::{Failure, rule};
use accord_live_core::frame::{Action, ActionAck, Binding};
use accord_live_core::refuse;
use accord_live_core::session::{ActFacts, Sender, act};

use super::{Live, counts::add, project_of, rows, unit::UnitError};

impl Live {
    /// Records an action. It is answered when it is durable. Fails with `project_archived`,
    /// `APPEND_FAILED` when it cannot be stored, else as [`act`].
    pub async fn act(
        &self,
        binding: &Binding,
        action: Action,
        sender: Sender,
    ) -> Result<ActionAck, Failure> {
        let project = project_of(&binding.app_id)?;
        let binding = binding.clone();
        let acted = self.write(move |job| {
            let found = job.unit.live_session(&binding.session_id)?;
            let Some(row) = found.filter(|row| row.session.app_id == binding.app_id) else {
                return Err(refuse::session_not_found("the session has expired").into());
            };
            let contract = job.contract(&row)?;
            let client_id = binding.client_id.as_deref();
            let earlier = match action.key(client_id) {
                Some(key) => job.unit.live_event(&binding.session_id, &key)?,
                None => None,
            };
            let earlier = earlier.as_ref().map(rows::ledger).transpose()?;
            let earlier = rule!(earlier; EarlierForgotten => None);
            let (ask, closed_by, content) = job.asked(&row, &contract, &sender)?;
            let facts = ActFacts {
                session: &row.session,
                contract: &contract,
                client_id,
                sender: &sender,
                earlier: earlier.as_ref(),
                ask: ask.as_ref(),
                content: content.as_ref(),
                closed_by: closed_by.as_ref(),
                at: job.at(&project)?,
            };
            let acted = act(action.clone(), facts)?;
            let delta = rule!(acted.delta; ActionsUnstored => Default::default());
            job.commit(&project, Some(&row), &delta, Vec::new())?;
            Ok((acted.ack, delta.ledger.len()))
        });
        let stored = |error: UnitError| error.into_failure_as(refuse::append_failed);
        let (ack, appended) = acted.await.map_err(stored)?;
        add(&self.inner.counters.actions, appended);
        Ok(ack)
    }
}
