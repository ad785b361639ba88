//! Handshakes: an agent says what it wants to show.

use accord_base::{Caller, Need};
use accord_contract::Failure;
use accord_live_core::tools::{HandshakeAnswer, HandshakeRequest, Prepared, prepare_handshake};
use accord_live_core::{AppId, HandshakeId, handshake::begin};

use super::{Live, rows};

impl Live {
    /// Makes a handshake, which a render uses once. Fails with `unauthorized`, `project_archived`,
    /// or the refusal of the contract.
    pub async fn handshake(
        &self,
        caller: &Caller,
        app: &AppId,
        request: HandshakeRequest,
    ) -> Result<HandshakeAnswer, Failure> {
        let prepared = self.check_handshake(caller, app, request).await?;
        self.begin_handshake(caller, app, prepared).await
    }

    /// Checks a handshake. The project need not exist: one that is refused creates none. Fails with
    /// `unauthorized`, or the refusal of the contract.
    pub async fn check_handshake(
        &self,
        caller: &Caller,
        app: &AppId,
        request: HandshakeRequest,
    ) -> Result<Prepared, Failure> {
        self.enter(caller, app, Need::Write)?;
        let mut request = request;
        self.inner.catalogs.apply(app, &mut request.blueprint_draft.contract);
        let live = self.clone();
        let prepare = move || prepare_handshake(request, |tool| live.options().tools.get(tool));
        self.compute(prepare).await?
    }

    /// Makes a handshake that was checked. Fails with `unauthorized`, `project_archived`;
    /// `APP_MISMATCH` when the project does not exist.
    pub async fn begin_handshake(
        &self,
        caller: &Caller,
        app: &AppId,
        prepared: Prepared,
    ) -> Result<HandshakeAnswer, Failure> {
        let project = self.enter(caller, app, Need::Write)?;
        let (id, app) = (HandshakeId::mint(accord_system::random()), app.clone());
        let asked = prepared.asked;
        let made = self.write(move |job| {
            job.check_open(&project)?;
            let known = job.unit.live_blueprint(&project, &asked.key)?;
            let known = known.as_ref().map(rows::blueprint);
            let now = job.at(&project)?.now;
            let made = begin(id.clone(), &app, asked.clone(), known.as_ref(), now);
            job.unit.trim_live_handshakes(now)?;
            job.unit.insert_live_handshake(&rows::handshake_row(&made, project.clone()))?;
            Ok(made)
        });
        let made = made.await?;
        Ok(HandshakeAnswer::new(&made, &prepared.contract, &prepared.findings))
    }
}
