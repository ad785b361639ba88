//! Handshakes: an agent says what it wants to show.

use accord_base::{Caller, Verb};
use accord_contract::codes::Failure;
use accord_live_core::handshake::begin;
use accord_live_core::tools::{HandshakeAnswer, HandshakeRequest, prepare_handshake};
use accord_live_core::{AppId, HandshakeId, refuse};

use super::unit::UnitError;
use super::{Live, rows};

impl Live {
    /// Makes a handshake, which a render uses once.
    ///
    /// # Errors
    /// `unauthorized`, or the refusal of the contract.
    pub async fn handshake(
        &self,
        caller: &Caller,
        app: &AppId,
        request: HandshakeRequest,
    ) -> Result<HandshakeAnswer, Failure> {
        let project = self.enter(caller, app, Verb::Write)?;
        let tools = self.tools_of(app);
        let prepared = prepare_handshake(request, |tool| tools.get(tool))?;
        let (id, app) = (HandshakeId::mint(accord_system::random()), app.clone());
        let asked = prepared.asked;
        let made = self.write(move |job| {
            if job.unit.project(&project)?.is_none() {
                let message = "there is no project of this app; create it first";
                return Err(refuse::app_mismatch(message).into());
            }
            let known = job.unit.live_blueprint(&project, &asked.key)?;
            let known = known.as_ref().map(rows::blueprint);
            let now = job.at(&project)?.now;
            let made = begin(id.clone(), &app, asked.clone(), known.as_ref(), now);
            job.unit.trim_live_handshakes(now)?;
            job.unit.insert_live_handshake(&rows::handshake_row(&made, project.clone()))?;
            Ok(made)
        });
        let made = made.await.map_err(UnitError::into_failure)?;
        Ok(HandshakeAnswer::new(&made, &prepared.contract, &prepared.findings))
    }
}
