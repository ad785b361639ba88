//! Actions of a person who has no page: from a terminal, or over Accord's own routes.

use accord_base::{ActorKey, By, Caller, Decision, Door, Need};
use accord_contract::{Failure, Object, Timestamp};
use accord_live_core::frame::{Action, Binding, Role};
use accord_live_core::operations::answer::{LiveAckAnswer, LiveAnswerRequest};
use accord_live_core::session::Sender;
use accord_live_core::{AppId, SessionId};

use super::{Live, project_of};

impl Live {
    /// Records an action as the channel does: it is checked against the contract, appended to the
    /// ledger, and then answered. The ledger also says who acted, through which door.
    pub async fn answer(
        &self,
        caller: &Caller,
        app: &AppId,
        session: &SessionId,
        request: LiveAnswerRequest,
        by: By,
    ) -> Result<LiveAckAnswer, Failure> {
        let named = by.actor.key();
        self.answer_as(caller, app, session, request, Some(&named), by.door).await
    }

    /// The same, in the name of an actor, else of the caller.
    pub async fn answer_as(
        &self,
        caller: &Caller,
        app: &AppId,
        session: &SessionId,
        request: LiveAnswerRequest,
        named: Option<&ActorKey>,
        door: Door,
    ) -> Result<LiveAckAnswer, Failure> {
        let project = project_of(app)?;
        caller.access().may(Need::Decide(Decision::Answer).verb(), &project)?;
        let sender = Sender::of(caller, named, door)?;
        let LiveAnswerRequest { action: name, data, client_id, client_seq, expect } = request;
        let action = Action::submit(session.clone(), &name, data, client_seq, expect);
        let (session_id, app_id) = (session.clone(), app.clone());
        let binding = Binding { session_id, app_id, role: Role::User, client_id };
        let agent_waits = self.inner.hub.has_consumer(session);
        let ack = self.act(&binding, action, sender).await?;
        Ok(LiveAckAnswer {
            session_id: session.clone(),
            action: name,
            sequence: ack.sequence,
            at: Timestamp::emit(ack.at),
            agent_waits,
            warnings: (!ack.warnings.is_empty()).then_some(ack.warnings),
            extra: Object::new(),
        })
    }
}
