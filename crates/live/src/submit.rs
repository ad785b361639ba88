//! Actions of a person through the tool of a page.

use accord_base::{Caller, Decision, Door, Need};
use accord_contract::Failure;
use accord_live_core::refuse;
use accord_live_core::session::{ActFacts, DedupKey, Sender, submit};
use accord_live_core::tools::{Outcome, Submission, SubmitActionRequest, submit_action};

use super::{Live, counts::add, project_of, rows};

impl Live {
    /// Records an action that a page submits. Links and display modes are the host's; nothing of
    /// them is recorded. Fails with `unauthorized`, `project_archived`. A refusal of the protocol
    /// is an outcome.
    pub async fn submit_action(
        &self,
        caller: &Caller,
        request: SubmitActionRequest,
    ) -> Result<Outcome, Failure> {
        let (app, session) = (request.app_id.clone(), request.session_id.clone());
        let project = project_of(&app)?;
        caller.access().may(Need::Decide(Decision::Answer).verb(), &project)?;
        let sender = Sender::of(caller, None, Door::McpApp)?.in_a_frame();
        self.check_open(&app).await?;
        let dispatch = match submit_action(request) {
            Err(failure) => return Ok(Outcome::Refused(Box::new(failure))),
            Ok(Submission::Dispatch(dispatch)) => dispatch,
            Ok(_) => return Ok(Outcome::submitted(None)),
        };
        let has_consumer = self.has_consumer(&session);
        let recorded = self.write(move |job| {
            let found = job.unit.live_session(&session)?;
            let Some(row) = found.filter(|row| row.session.app_id == app) else {
                return Err(refuse::pipe_not_found("there is no such session; render it").into());
            };
            let contract = job.contract(&row)?;
            let key = DedupKey::identified(&dispatch.action_id);
            let earlier = job.unit.live_event(&session, &key)?;
            let earlier = earlier.as_ref().map(rows::ledger).transpose()?;
            let (ask, closed_by, content) = job.asked(&row, &contract, &sender)?;
            let facts = ActFacts {
                session: &row.session,
                contract: &contract,
                client_id: None,
                sender: &sender,
                earlier: earlier.as_ref(),
                ask: ask.as_ref(),
                content: content.as_ref(),
                closed_by: closed_by.as_ref(),
                at: job.at(&project)?,
            };
            let acted = submit((*dispatch).clone(), facts)?;
            job.commit(&project, Some(&row), &acted.delta, Vec::new())?;
            Ok(acted.delta.ledger.len())
        });
        match recorded.await {
            Ok(appended) => {
                add(&self.inner.counters.actions, appended);
                Ok(Outcome::submitted(Some(has_consumer)))
            }
            Err(error) => {
                Ok(Outcome::Refused(Box::new(error.into_failure_as(refuse::pipe_not_found))))
            }
        }
    }
}
