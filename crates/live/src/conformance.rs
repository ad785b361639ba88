//! What the conformance control sets up: sessions with chosen ids, other versions, frames of the
//! platform. Only a listener of its own offers it.

use accord_contract::{Failure, Object};
use accord_live_core::session::{Emitter, NewFrame, Rendering, expire, render};
use accord_live_core::token::{Minted, TokenKind};
use accord_live_core::{AppId, SessionId, frame::ServerFrame, refuse};

use super::{Live, project_of};

impl Live {
    /// Begins a session of a chosen id with a UI and props. One that exists begins again; its
    /// counters go on. Fails when the UI has no valid contract, or the project of the app does not
    /// exist.
    pub async fn seed(
        &self,
        app: &AppId,
        session: &SessionId,
        ui: Object,
        props: Object,
    ) -> Result<(), Failure> {
        let (project, contract) = (project_of(app)?, self.inner.contracts.of_ui(&ui)?);
        let (live, app, session) = (self.clone(), app.clone(), session.clone());
        let seeded = self.write(move |job| {
            let stored = job.unit.live_session(&session)?;
            let rendering = Rendering {
                session_id: &session,
                app_id: &app,
                earlier: stored.as_ref().map(|row| &row.session),
                ui: ui.clone(),
                props: props.clone(),
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
        Ok(seeded.await?)
    }

    /// Ends a session now, as if its time were over. Its subscribers end.
    pub async fn expire_now(&self, session: &SessionId) -> Result<(), Failure> {
        let (live, session) = (self.clone(), session.clone());
        let expired = self.write(move |job| {
            let found = job.unit.live_session(&session)?;
            let missing = || refuse::session_not_found("there is no such session");
            let mut row = found.ok_or_else(missing)?;
            let stored = row.clone();
            row.session.head.expires_at = live.now();
            let Some(project) = stored.project_id.clone() else { return Ok(()) };
            if let Some(delta) = expire(&row.session, job.at(&project)?) {
                job.record(&project, Some(&stored), &delta, Vec::new())?;
                job.unit.clear_live_session(&session)?;
            }
            Ok(())
        });
        Ok(expired.await?)
    }

    /// Makes a token for the channel that expires in this many seconds, or expired that long ago.
    pub fn mint_token_expiring(&self, id: &SessionId, app: &AppId, seconds: i64) -> Option<Minted> {
        let kind = TokenKind::Ws;
        let made = self.now().add_seconds(seconds - kind.ttl_seconds());
        Some(self.secret()?.mint(kind, id, app, made, accord_system::random()))
    }

    /// Lets a session advertise another version; `None` for that of the server.
    pub fn advertise(&self, session: &SessionId, version: Option<String>) {
        self.inner.hub.advertise(session, version);
    }

    /// Sends a frame as the platform, which may use the reserved channels.
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
