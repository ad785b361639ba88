//! A server under test, judged by its answers over HTTP.
//!
//! Invariants:
//! - A run uses its own scopes (projects), or only reads one that it was given. It uses no other.
//! - Redirects are not followed, bodies are limited, every request and every case has a time limit.
//! - A key is sent only to the named server, and is in no report.

mod client;
mod connect;
mod fixtures;
mod run_scopes;

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use accord_contract::Code;
use accord_process::Cancel;
use thiserror::Error;

use super::{ANSWER_LIMIT, Adapter, AdapterInfo, CannotBegin, Driver, DriverKind, DriverOutcome};
use crate::case::{Case, Credential, Exchange, GeneratorKind, Step, Task};
use crate::corpus::{Method, Protocol, RouteList};
use crate::exchange::{End, Engine, ExchangeError, Exchanged};
use crate::report::LeftBehind;
pub(super) use client::Client;
pub use fixtures::HttpFixtures;
use run_scopes::{CannotOpen, RunScopes};

/// How to reach a server, and what a run may do there.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The base URL, `http://` or `https://`; the paths of routes are added to it.
    pub url: String,
    /// The key that requests carry as a bearer token.
    pub token: Option<String>,
    /// A second key: a valid one that does not reach the scopes of the run.
    pub second_token: Option<String>,
    /// An existing scope to read. The run then writes nothing, and cases that would are skipped.
    pub scope: Option<String>,
    /// The scopes of the run are removed at its end, where the server can do that.
    pub cleanup: bool,
    /// The server is discarded after the run, so nothing is retired or reported as left behind.
    pub thrown_away: bool,
    /// How long one request may take.
    pub request_timeout: Duration,
    /// The largest body of an answer.
    pub body_limit: u64,
}

/// A server that cannot be judged.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ServerError {
    /// The URL is not valid.
    #[error("{url:?} is not the URL of a server: {why}")]
    BadUrl {
        /// The URL.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The server does not answer.
    #[error("the server at {url} does not answer: {why}")]
    Unreachable {
        /// The URL.
        url: String,
        /// What happened.
        why: String,
    },
    /// The server refuses a request that the run needs, with or without a key.
    #[error(
        "the server refuses what the run needs: {request} answered {status}; {}{}",
        advice(*has_key),
        describe_left(left)
    )]
    Refused {
        /// Method and target of the request.
        request: String,
        /// The status of the answer.
        status: u16,
        /// Whether the run was given a key.
        has_key: bool,
        /// What the run had created until then, and its state.
        left: Vec<LeftBehind>,
    },
    /// The conformance control of the server does not take the token.
    #[error(
        "the conformance control at {url} answered {status}; give its token with --control-token \
         or ACCORD_CONFORMANCE_TOKEN"
    )]
    ControlRefused {
        /// The URL.
        url: String,
        /// The status of the answer.
        status: u16,
    },
    /// The protocol has no cases that are judged over HTTP.
    #[error("{protocol} has no cases over HTTP; name an adapter instead")]
    NotOverHttp {
        /// The protocol.
        protocol: String,
    },
}

fn advice(has_key: bool) -> &'static str {
    if has_key {
        "give a key that has all scopes in new projects with --token, or name a project to read \
         with --project"
    } else {
        "give a key with --token, or name a publicly readable project with --project"
    }
}

fn describe_left(left: &[LeftBehind]) -> String {
    left.iter().map(|left| format!("; {} {}: {}", left.kind, left.id, left.state)).collect()
}

/// A server, by its URL.
pub struct Http {
    options: HttpOptions,
    client: Client,
    run: OnceLock<Run>,
}

/// What is known once a run has started.
struct Run {
    routes: RouteList,
    scopes: RunScopes,
}

impl HttpOptions {
    /// A server at this URL, without keys; ten seconds per request, eight megabytes per body.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            token: None,
            second_token: None,
            scope: None,
            cleanup: false,
            thrown_away: false,
            request_timeout: Duration::from_secs(10),
            body_limit: 8 * 1024 * 1024,
        }
    }

    /// A server at this URL that executes cases, without a key, with the limits of an adapter.
    pub fn fixtures(url: impl Into<String>) -> Self {
        let request_timeout = Duration::from_secs(30);
        Self { request_timeout, body_limit: ANSWER_LIMIT as u64, ..Self::new(url) }
    }
}

impl Http {
    /// Prepares the client. Nothing is sent yet.
    pub fn new(options: HttpOptions) -> Result<Self, ServerError> {
        Ok(Self { client: Client::new(&options)?, options, run: OnceLock::new() })
    }

    fn engine<'a>(
        &'a self,
        run: &'a Run,
        limit: Duration,
        cancel: Option<&'a Cancel>,
    ) -> Engine<'a> {
        Engine {
            routes: run.routes.requests(),
            transport: &self.client,
            present: &run.scopes.present,
            request_limit: self.options.request_timeout,
            deadline: Instant::now() + limit,
            cancel,
            written: &run.scopes.written,
        }
    }

    /// Why a case cannot be run with the keys of the run.
    fn lacks_key(&self, exchange: &Exchange) -> Option<&'static str> {
        let steps = &exchange.steps;
        let uses = |key| steps.iter().any(|step| step.request.credential == Some(key));
        // A server without keys may accept every caller.
        let strangers = uses(Credential::Wrong) || uses(Credential::None);
        if strangers && self.options.token.is_none() {
            return Some("is about keys, and the run was given none; give one with --token");
        }
        if uses(Credential::Second) && self.options.second_token.is_none() {
            return Some(
                "needs a second key that does not reach the run's own scope; give it with \
                 --second-token",
            );
        }
        None
    }
}

impl Adapter for Http {
    fn begin(&self, protocol: &Protocol) -> Result<(), CannotBegin> {
        let routes = protocol
            .routes()
            .ok_or_else(|| ServerError::NotOverHttp { protocol: protocol.name().to_owned() })?;
        let unreachable = |trouble: ExchangeError| ServerError::Unreachable {
            url: self.client.base().to_owned(),
            why: trouble.to_string(),
        };
        self.client.greet(self.options.request_timeout).map_err(unreachable)?;
        // A second run with the same adapter reuses the scope of the first.
        if self.run.get().is_none() {
            let opened = RunScopes::open(routes, &self.client, &self.options);
            let scopes = opened.map_err(|cannot| match cannot {
                CannotOpen::Failed(trouble) => unreachable(trouble),
                CannotOpen::Refused(refusal) => ServerError::Refused {
                    request: refusal.request,
                    status: refusal.status,
                    left: refusal.left,
                    has_key: self.options.token.is_some(),
                },
            })?;
            // Fails only if two runs begin at the same time. The first scope then serves both.
            let _ = self.run.set(Run { routes: routes.clone(), scopes });
        }
        Ok(())
    }

    fn applies(&self, case: &Case) -> Result<(), String> {
        let Task::Exchange(exchange) = &case.task else {
            return Err("needs an adapter, and the run has a server".to_owned());
        };
        let Some(run) = self.run.get() else { return Ok(()) };
        if let Some(why) = self.lacks_key(exchange) {
            return Err(why.to_owned());
        }
        let writes = writes(exchange, &run.routes);
        match &self.options.scope {
            Some(scope) if writes => Err(format!("writes, and the run only reads {scope:?}")),
            // Reading an empty scope would pass many cases that prove nothing.
            None if !writes && reads_scope(exchange, &run.routes) && !run.scopes.filled => {
                Err("there is nothing to read, because the server took nothing in; name what to \
                     read"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        Box::new(HttpDriver { http: self, cancel: None })
    }

    fn end(&self) -> Vec<LeftBehind> {
        let Some(run) = self.run.get().filter(|_| !self.options.thrown_away) else {
            return Vec::new();
        };
        let limit = self.options.request_timeout;
        run.scopes.close(&run.routes, &self.client, limit, self.options.cleanup)
    }

    fn info(&self) -> AdapterInfo {
        AdapterInfo {
            url: Some(self.client.base().to_owned()),
            scope: self.run.get().map(|run| run.scopes.scope.to_owned()),
            ..AdapterInfo::new(DriverKind::Http, Vec::new())
        }
    }
}

struct HttpDriver<'a> {
    http: &'a Http,
    cancel: Option<Cancel>,
}

impl Driver for HttpDriver<'_> {
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome {
        let (Some(run), Task::Exchange(exchange)) = (self.http.run.get(), &case.task) else {
            let why = "a server cannot run this case".to_owned();
            return Exchanged::nothing(End::Harness(why)).into();
        };
        let engine = self.http.engine(run, limit, self.cancel.as_ref());
        let mut variables = run.scopes.variables(exchange, &run.routes, &engine);
        let mut exchanged = engine.run(&exchange.steps, &mut variables);
        if let (End::Met, Some(name)) = (&exchanged.end, &exchange.claim) {
            let claim = variables.get(name).and_then(|value| value.as_str());
            exchanged.claim = claim.map(str::to_owned);
        }
        exchanged.into()
    }

    fn cancel_with(&mut self, cancel: Cancel) {
        self.cancel = Some(cancel);
    }
}

impl ServerError {
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::BadUrl { .. } | Self::NotOverHttp { .. } => Code::Usage,
            Self::Unreachable { .. } => Code::KitServerUnreachable,
            Self::Refused { .. } | Self::ControlRefused { .. } => Code::KitServerRefused,
        }
    }
}

fn writes(exchange: &Exchange, routes: &RouteList) -> bool {
    let is_write = |step: &Step| routes.routes[&step.request.route].method != Method::Get;
    exchange.variables.values().any(|made| made.make == GeneratorKind::Scope)
        || exchange.steps.iter().any(is_write)
}

/// Whether a case reads from the run's scope.
fn reads_scope(exchange: &Exchange, routes: &RouteList) -> bool {
    let parameters = |step: &'_ Step| routes.routes[&step.request.route].parameters();
    exchange.steps.iter().flat_map(parameters).any(|name| name == routes.scope.variable)
}
