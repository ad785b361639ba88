//! Actions of a person who has no page: from a terminal, or over Accord's own routes.

use accord_base::{Actor, Caller, Verb};
use accord_contract::codes::Failure;
use accord_contract::time::Timestamp;
use accord_contract::wire::{Object, Wire as _};
use accord_live_core::frame::{Action, Binding, Role};
use accord_live_core::{AppId, SessionId};

use super::Live;
use super::answers::{LiveAckAnswer, LiveAnswerRequest};

/// Who answers, and through which door.
#[derive(Clone, Debug)]
pub struct AnsweredBy {
    /// The actor.
    pub actor: Actor,
    /// The door.
    pub door: &'static str,
}

impl Live {
    /// Records an action as the channel does: it is checked against the contract, appended to the
    /// ledger, and then answered. The ledger also says who acted, through which door.
    ///
    /// # Errors
    /// `unauthorized`, `SESSION_NOT_FOUND`, `INVALID_MESSAGE`, `CONTRACT_VIOLATION`,
    /// `APPEND_FAILED`.
    pub async fn answer(
        &self,
        caller: &Caller,
        app: &AppId,
        session: &SessionId,
        request: LiveAnswerRequest,
        by: AnsweredBy,
    ) -> Result<LiveAckAnswer, Failure> {
        self.enter(caller, app, Verb::Write)?;
        let LiveAnswerRequest { action: name, data, client_id, client_seq } = request;
        let action = Action::submit(session.clone(), &name, data, client_seq);
        let action = action.sent_by(Some(by.actor.encode()), Some(by.door));
        let binding = Binding {
            session_id: session.clone(),
            app_id: app.clone(),
            role: Role::User,
            client_id,
        };
        let agent_waits = self.inner.hub.has_consumer(session);
        let ack = self.act(&binding, action).await?;
        Ok(LiveAckAnswer {
            session_id: session.clone(),
            action: name,
            sequence: ack.sequence,
            at: Timestamp::emit(ack.at),
            agent_waits,
            extra: Object::new(),
        })
    }
}
