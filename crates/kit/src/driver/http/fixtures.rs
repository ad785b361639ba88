//! `http-fixture-v1`: one request per case, to a server that executes cases. It answers with one
//! result document and status 200; anything else, also a redirect, is an error of the server.

use std::time::Duration;

use accord_contract::fixture::{CAPABILITIES_PATH, EXECUTE_PATH};
use accord_contract::{Value, Wire as _};

use super::{Client, HttpOptions, ServerError};
use crate::case::{Case, Credential};
use crate::corpus::{AnswerForm, Method, Protocol};
use crate::driver::{
    Adapter, AdapterInfo, CannotBegin, Driver, DriverKind, DriverOutcome, NoAnswer, reply,
};
use crate::exchange::answer::Answer;
use crate::exchange::compose::{Body, Outgoing};
use crate::exchange::{End, ExchangeError, Exchanged, Transport as _};

/// A server that executes cases, by its URL.
pub struct HttpFixtures {
    client: Client,
    request_timeout: Duration,
}

impl HttpFixtures {
    /// Prepares the client. Nothing is sent yet. Fails when the URL is not valid.
    pub fn new(options: &HttpOptions) -> Result<Self, ServerError> {
        Ok(Self { client: Client::new(options)?, request_timeout: options.request_timeout })
    }

    /// The base URL.
    pub fn url(&self) -> &str {
        self.client.base()
    }

    /// Requests the capabilities, and returns the text of the answer.
    pub(crate) fn capabilities(&self) -> Result<String, ExchangeError> {
        let answer = self.ask(Method::Get, CAPABILITIES_PATH, None, self.request_timeout);
        whole(answer?).map(|answer| answer.text)
    }

    fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        limit: Duration,
    ) -> Result<Answer, ExchangeError> {
        let outgoing = Outgoing {
            method,
            target: path.to_owned(),
            // Each request has its own connection, so the server need not keep this one open.
            headers: vec![("connection".to_owned(), "close".to_owned())],
            credential: Credential::Main,
            body: body.map(|text| Body { content_type: "application/json".to_owned(), text }),
            answer: AnswerForm::Json,
            events: 0,
        };
        self.client.send(&outgoing, limit)
    }
}

impl Adapter for HttpFixtures {
    fn begin(&self, _: &Protocol) -> Result<(), CannotBegin> {
        Ok(())
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        Box::new(FixtureDriver(self))
    }

    fn info(&self) -> AdapterInfo {
        AdapterInfo {
            url: Some(self.url().to_owned()),
            ..AdapterInfo::new(DriverKind::HttpFixtures, Vec::new())
        }
    }
}

struct FixtureDriver<'a>(&'a HttpFixtures);

impl Driver for FixtureDriver<'_> {
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome {
        let document = Some(case.encode().to_string());
        let answered = self.0.ask(Method::Post, EXECUTE_PATH, document, limit);
        let result = answered.and_then(whole).and_then(|answer| {
            let text = answer.text.as_bytes();
            reply::read(case, text, reply::Asked::Alone).map_err(|why| {
                ExchangeError::Broken(format!("the server answered with 200, but {why}"))
            })
        });
        match result {
            Ok(result) => DriverOutcome::new(Ok::<_, NoAnswer>(result), b""),
            Err(trouble) => Exchanged::nothing(End::Failed(trouble)).into(),
        }
    }
}

fn whole(answer: Answer) -> Result<Answer, ExchangeError> {
    if answer.status == 200 {
        return Ok(answer);
    }
    let advice = match answer.status {
        401 | 403 => "; check the token",
        300..=399 => "; redirects are not followed",
        _ => "",
    };
    let status = answer.status;
    Err(ExchangeError::Broken(match said(&answer.text) {
        Some(said) => format!("HTTP {status}: {said}{advice}"),
        None => format!("HTTP {status}{advice}"),
    }))
}

/// The message of a failed answer: its member `message`, or the beginning of its text.
fn said(text: &str) -> Option<String> {
    let document: Option<Value> = serde_json::from_str(text).ok();
    let message = document.as_ref().and_then(|body| body["message"].as_str());
    let said = message.unwrap_or(text).trim();
    let end = said.floor_char_boundary(LONGEST_SAYING);
    (!said.is_empty()).then(|| said[..end].to_owned())
}

const LONGEST_SAYING: usize = 200;
