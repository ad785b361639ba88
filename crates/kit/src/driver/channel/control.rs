//! The client of "conformance control v1": brings the sessions of a server into the state that a
//! case needs, and reads members of them.

use std::time::Duration;

use accord_contract::text::percent_encoded;
use accord_contract::{Object, Value};

use super::super::http::{Client, HttpOptions, ServerError};
use crate::case::Credential;
use crate::corpus::{AnswerForm, Method};
use crate::exchange::answer::Answer;
use crate::exchange::compose::{Body, Outgoing};
use crate::exchange::{ExchangeError, Transport as _};

pub(super) struct Control {
    client: Client,
}

impl Control {
    pub(super) fn new(url: &str, token: Option<&str>) -> Result<Self, ServerError> {
        let mut options = HttpOptions::new(url);
        options.token = token.map(str::to_owned);
        Ok(Self { client: Client::new(&options)? })
    }

    /// Whether it can be reached and takes the token. Asks about a session that nobody made.
    pub(super) fn greet(&self, limit: Duration) -> Result<(), ServerError> {
        let url = || self.client.base().to_owned();
        match self.field("accord-check", "appId", limit) {
            Err(trouble) => Err(ServerError::Unreachable { url: url(), why: trouble.to_string() }),
            Ok(Answer { status: status @ (401 | 403), .. }) => {
                Err(ServerError::ControlRefused { url: url(), status })
            }
            Ok(_) => Ok(()),
        }
    }

    /// Takes a step. Any success says that it was applied.
    pub(super) fn setup(&self, step: &Object, limit: Duration) -> Result<Answer, ExchangeError> {
        let body = Value::Object(step.clone()).to_string();
        self.send(Method::Post, "/setup".to_owned(), Some(body), limit)
    }

    pub(super) fn field(
        &self,
        session: &str,
        name: &str,
        limit: Duration,
    ) -> Result<Answer, ExchangeError> {
        let (session, name) = (percent_encoded(session), percent_encoded(name));
        let target = format!("/session-field?sessionId={session}&field={name}");
        self.send(Method::Get, target, None, limit)
    }

    fn send(
        &self,
        method: Method,
        target: String,
        body: Option<String>,
        limit: Duration,
    ) -> Result<Answer, ExchangeError> {
        let content_type = "application/json".to_owned();
        let request = Outgoing {
            method,
            target,
            headers: Vec::new(),
            credential: Credential::Main,
            body: body.map(|text| Body { content_type, text }),
            answer: AnswerForm::Json,
            events: 0,
        };
        self.client.send(&request, limit)
    }
}
