//! What the conformance control sets up: sessions with chosen ids, other versions, frames of the
//! platform. Only a listener of its own offers it.

use accord_contract::codes::Failure;
use accord_contract::wire::Object;
use accord_live_core::frame::ServerFrame;
use accord_live_core::session::{Emitter, NewFrame, Rendering, render};
use accord_live_core::{AppId, SessionId};

use super::unit::UnitError;
use super::{Live, project_of};

impl Live {
    /// Begins a session of a chosen id with a UI. One that exists begins again; its counters go on.
    ///
    /// # Errors
    /// When the UI has no valid contract, or the project of the app does not exist.
    pub async fn seed(&self, app: &AppId, session: &SessionId, ui: Object) -> Result<(), Failure> {
        let (project, contract) = (project_of(app)?, self.inner.contracts.of_ui(&ui)?);
        let (live, app, session) = (self.clone(), app.clone(), session.clone());
        let seeded = self.write(move |job| {
            let stored = job.unit.live_session(&session)?;
            let rendering = Rendering {
                session_id: &session,
                app_id: &app,
                earlier: stored.as_ref().map(|row| &row.session),
                ui: ui.clone(),
                props: Object::new(),
                contract: &contract,
                asked_by: None,
            };
            let (begun, content, delta) = render(rendering, job.at(&project)?);
            let mut frames = super::render::frames(&begun, &delta);
            let snapshot = begun.snapshot(&content, live.now());
            frames.push(ServerFrame::Render { session: snapshot, match_type: None });
            job.commit(&project, stored.as_ref(), &delta, frames)?;
            Ok(())
        });
        seeded.await.map_err(UnitError::into_failure)
    }

    /// Lets a session advertise another version; `None` for that of the server.
    pub fn advertise(&self, session: &SessionId, version: Option<String>) {
        self.inner.hub.advertise(session, version);
    }

    /// Sends a frame as the platform, which may use the reserved channels.
    ///
    /// # Errors
    /// `session_not_found`, `contract_violation`.
    pub async fn emit_as_platform(
        &self,
        app: &AppId,
        session: &SessionId,
        frame: NewFrame,
    ) -> Result<u64, Failure> {
        let project = project_of(app)?;
        let emitted = self.emit_as(Emitter::Platform, project, app, session.clone(), frame).await?;
        Ok(emitted.row.seq)
    }
}
