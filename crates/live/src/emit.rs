//! Frames from an agent to the person.

use accord_base::{Caller, Need, ProjectId};
use accord_contract::{Failure, rule};
use accord_live_core::session::{Emitted, Emitter, NewFrame, emit};
use accord_live_core::tools::{EmitAnswer, EmitRequest};
use accord_live_core::{AppId, SessionId, frame::ServerFrame};

use super::Live;

impl Live {
    /// Sends a frame to the subscribers of a session.
    pub async fn emit(
        &self,
        caller: &Caller,
        app: &AppId,
        request: EmitRequest,
    ) -> Result<EmitAnswer, Failure> {
        let project = self.enter(caller, app, Need::Write)?;
        let EmitRequest { session_id, channel, payload, complete, .. } = request;
        let frame = NewFrame { channel, payload, complete: complete.unwrap_or(false) };
        let emitted = self.emit_as(Emitter::Agent, project, app, session_id, frame).await?;
        Ok(EmitAnswer::new(&emitted))
    }

    pub(crate) async fn emit_as(
        &self,
        by: Emitter,
        project: ProjectId,
        app: &AppId,
        session: SessionId,
        frame: NewFrame,
    ) -> Result<Emitted, Failure> {
        let app = app.clone();
        let emitted = self.write(move |job| {
            let row = job.session(&session, &app)?;
            let (contract, oldest) = (job.contract(&row)?, job.oldest(&row)?);
            let at = job.at(&project)?;
            let emitted = emit(&row.session, &contract, frame.clone(), by, oldest, at)?;
            let data = ServerFrame::Data { session_id: session.clone(), row: emitted.row.clone() };
            let frames = rule!(vec![data]; EmittedUndelivered => Vec::new());
            job.commit(&project, Some(&row), &emitted.delta, frames)?;
            Ok(emitted)
        });
        Ok(emitted.await?)
    }
}
