//! Which frames a socket may send, before and after its subscription.

use accord_contract::{Failure, rule};

use super::{ClientBody, ClientFrame, Role};
use crate::{AppId, SessionId, refuse};

/// The state of a socket. Its frames are handled one after another, in the order in which they
/// arrive, so that each of them sees what the one before did.
///
/// Clauses: GGUI-TRANSPORT-ORDER.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Socket {
    pub binding: Option<Binding>,
    /// Whether a subscribe has used its identity.
    pub is_spent: bool,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Binding {
    pub session_id: SessionId,
    pub app_id: AppId,
    pub role: Role,
    /// Names the load of the page.
    pub client_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Gate {
    Pass,
    /// It does nothing and is not answered.
    Ignore,
    /// It is answered with an `error` frame.
    Refuse(Box<Failure>),
}

impl Socket {
    /// Whether the socket may send a frame.
    ///
    /// Clauses: GGUI-TRANSPORT-FIRST-FRAME, GGUI-SUBSCRIBE-ONCE.
    pub fn gate(&self, frame: &ClientFrame) -> Gate {
        let refuse_if = |wrong: bool, failure: fn(String) -> Failure, message: &str| match wrong {
            true => Gate::Refuse(Box::new(failure(message.to_owned()))),
            false => Gate::Pass,
        };
        let session = match &frame.body {
            ClientBody::Ping => return Gate::Pass,
            // The first subscribe uses the identity of the socket, accepted or not.
            ClientBody::Subscribe(_) => {
                let message = "a socket is subscribed once; open another one";
                let is_spent = rule!(self.is_spent; SubscribedAgain => false);
                return refuse_if(is_spent, refuse::unauthenticated, message);
            }
            ClientBody::Action(action) => Some(&action.session_id),
            ClientBody::HostContext(observed) => Some(&observed.session_id),
            // Another session is answered by the checks of the channel, with their own frame.
            ClientBody::ChannelSubscribe(_) => None,
            ClientBody::ChannelUnsubscribe(asked) => {
                let is_bound = |bound: &Binding| bound.session_id == asked.session_id;
                let is_known = self.binding.as_ref().is_some_and(is_bound);
                return if is_known { Gate::Pass } else { Gate::Ignore };
            }
        };
        let Some(bound) = &self.binding else {
            let message = format!("send subscribe before {}", frame.kind());
            return rule!(
                refuse_if(true, refuse::not_subscribed, &message);
                UnsubscribedIgnored => Gate::Ignore
            );
        };
        let is_other = session.is_some_and(|session| bound.session_id != *session);
        let is_other = rule!(is_other; OtherSessionServed => false);
        let message = "the socket is subscribed to another session";
        refuse_if(is_other, refuse::session_mismatch, message)
    }
}
