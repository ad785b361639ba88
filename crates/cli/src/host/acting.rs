//! Who acts in a change.

use accord_api::body::AnswerBody;
use accord_api::{Answered, Call, Operation};
use accord_contract::codes::Code;

use super::answer::Answer;
use super::open::Connection;
use super::request::HostRequest;
use crate::error::CliError;

/// Who acts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Acting {
    /// The actor that somebody named.
    Named(String),
    /// Nobody named one: the actor of the key, else this user of the operating system.
    User(String),
}

impl Connection {
    /// Calls an operation that changes something, by an actor.
    pub(crate) fn call_by<O>(
        &self,
        by: &Acting,
        call: &Call<O>,
    ) -> Result<Answered<O::Answer>, CliError>
    where
        O: Operation<Answer: AnswerBody>,
    {
        let request = call.encode();
        self.send_by(by, || request.clone().into())?.read()
    }

    /// Sends a change by an actor, and waits for the whole response.
    pub(crate) fn send_by(
        &self,
        by: &Acting,
        request: impl Fn() -> HostRequest,
    ) -> Result<Answer, CliError> {
        let named = |actor: &str| self.send(request().with("actor", Some(actor)));
        match by {
            Acting::Named(actor) => named(actor),
            Acting::User(user) if !self.has_key() => named(user),
            Acting::User(user) => match self.send(request()) {
                // The key has no actor, or the server needs no keys.
                Err(refused)
                    if refused.code() == Some(Code::WireFieldMissing)
                        && refused.is_about("/actor") =>
                {
                    named(user)
                }
                sent => sent,
            },
        }
    }
}
