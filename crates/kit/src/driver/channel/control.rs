//! The client of "conformance control v1", which sets the sessions of a server up and reads them.

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

type Answered = Result<Answer, ExchangeError>;

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
    pub(super) fn setup(&self, step: &Object, limit: Duration) -> Answered {
        let body = Value::Object(step.clone()).to_string();
        self.send("/setup".to_owned(), Some(body), limit)
    }

    pub(super) fn field(&self, session: &str, name: &str, limit: Duration) -> Answered {
        let (session, name) = (percent_encoded(session), percent_encoded(name));
        self.send(format!("/session-field?sessionId={session}&field={name}"), None, limit)
    }

    fn send(&self, target: String, body: Option<String>, limit: Duration) -> Answered {
        let content_type = "application/json".to_owned();
        let request = Outgoing {
            method: if body.is_some() { Method::Post } else { Method::Get },
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
