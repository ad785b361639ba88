//! The values of the context slots of a page.

use std::sync::Arc;

use accord_base::{Caller, Need};
use accord_contract::{Failure, Object};
use accord_live_core::session::{check_context_size, sync_context};
use accord_live_core::tools::{Outcome, SyncContextRequest};

use super::Live;

impl Live {
    /// Records the values of the context slots. Fails with `unauthorized`, `project_archived`. A
    /// refusal of the protocol is an outcome.
    pub async fn sync_context(
        &self,
        caller: &Caller,
        request: SyncContextRequest,
    ) -> Result<Outcome, Failure> {
        if let Err(failure) = check_context_size(&request.snapshot) {
            return Ok(Outcome::Refused(Box::new(failure)));
        }
        let project = self.enter(caller, &request.app_id, Need::Write)?;
        self.check_open(&request.app_id).await?;
        let none = self.inner.contracts.of_ui(&Object::new())?;
        let synced = self.write(move |job| {
            let row = job.unit.live_session(&request.session_id)?;
            let contract = match &row {
                Some(row) => job.contract(row)?,
                None => Arc::clone(&none),
            };
            let session = row.as_ref().map(|row| &row.session);
            let (snapshot, at) = (request.snapshot.clone(), job.at(&project)?);
            let delta = sync_context(session, &request.app_id, &contract, snapshot, at)?;
            job.commit(&project, row.as_ref(), &delta, Vec::new())?;
            Ok(Object::new())
        });
        Ok(Outcome::of(synced.await.map_err(Failure::from)))
    }
}
