//! The scopes that a run creates on a server, and its unique values.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use accord_contract::Value;
use parking_lot::Mutex;

use super::HttpOptions;
use super::client::Client;
use crate::case::{Exchange, Generator, Request, Step};
use crate::corpus::{Method, RouteList};
use crate::exchange::answer::{Answer, names};
use crate::exchange::compose::compose;
use crate::exchange::generate::Values;
use crate::exchange::variables::Variables;
use crate::exchange::{End, Engine, ExchangeError, Exchanged, Transport as _};
use crate::report::LeftBehind;

pub(super) struct RunScopes {
    values: Values,
    /// The scope of the cases that do not create their own.
    pub(super) scope: String,
    made: Mutex<Vec<String>>,
    /// Scopes that all runs share; they are kept.
    shared: Mutex<BTreeSet<String>>,
    /// The targets of all writes, and the ids of the scopes that were created.
    pub(super) written: Mutex<BTreeSet<String>>,
    pub(super) present: BTreeSet<String>,
    pub(super) filled: bool,
}

/// Why a run cannot start on a server.
#[derive(Debug, thiserror::Error)]
pub(super) enum CannotOpen {
    #[error("{0}")]
    Failed(#[from] ExchangeError),
    #[error("{} answered {}", .0.request, .0.status)]
    Refused(Refusal),
}

/// A request that was refused because of the run's key, or the lack of one.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) request: String,
    pub(super) status: u16,
    /// What the run had created until then.
    pub(super) left: Vec<LeftBehind>,
}

impl RunScopes {
    /// Creates the run's scope, writes to it and finds out which routes exist; or uses the scope
    /// that the run was given. A server that refuses the run's key is not judged at all.
    pub(super) fn open(
        routes: &RouteList,
        client: &Client,
        options: &HttpOptions,
    ) -> Result<Self, CannotOpen> {
        let values = Values::new();
        let mut world = Self {
            scope: format!("{}{}", routes.scope.prefix, values.run()),
            values,
            made: Mutex::new(Vec::new()),
            shared: Mutex::new(BTreeSet::new()),
            written: Mutex::new(BTreeSet::new()),
            present: BTreeSet::new(),
            filled: false,
        };
        if let Some(scope) = &options.scope {
            world.scope.clone_from(scope);
        }
        // No route counts as present yet: these first requests find out which routes exist.
        let none = BTreeSet::new();
        let engine = Engine {
            routes: routes.requests(),
            transport: client,
            present: &none,
            request_limit: options.request_timeout,
            deadline: Instant::now() + OPENING_LIMIT,
            cancel: None,
            written: &world.written,
        };
        if options.scope.is_some() {
            world.check_readable(routes, &engine)?;
            return Ok(world);
        }
        world.create(&world.scope, routes, &engine);
        let mut variables = world.base(routes);
        for (index, step) in routes.scope.open.iter().enumerate() {
            let ended = engine.run(std::slice::from_ref(step), &mut variables);
            // A gateway may answer 403 to any unknown path. Only the first step, which every run
            // needs, counts without the protocol's own code.
            if let Some(refusal) = Refusal::of(&ended, routes, index == 0) {
                // The run ends without a report, so the error must list what was created.
                let (limit, cleanup) = (options.request_timeout, options.cleanup);
                let left = world.close(routes, client, limit, cleanup);
                return Err(CannotOpen::Refused(Refusal { left, ..refusal }));
            }
            match ended.end {
                End::Met | End::Unmet { .. } | End::Excused { .. } => {
                    world.present.insert(step.request.route.clone());
                    world.filled |= index == 0 && matches!(ended.end, End::Met);
                }
                End::Failed(trouble @ ExchangeError::Unreachable(_)) => return Err(trouble.into()),
                // Says nothing about the other requests.
                End::Missing { .. } | End::Failed(_) | End::Harness(_) => {}
            }
        }
        Ok(world)
    }

    pub(super) fn variables(
        &self,
        exchange: &Exchange,
        routes: &RouteList,
        engine: &Engine<'_>,
    ) -> Variables {
        let mut variables = self.base(routes);
        for (name, generator) in &exchange.variables {
            variables.set(name, self.make(generator, routes, engine));
        }
        variables
    }

    /// Removes or retires the run's scopes that exist, and returns those that are left.
    pub(super) fn close(
        &self,
        routes: &RouteList,
        client: &Client,
        limit: Duration,
        cleanup: bool,
    ) -> Vec<LeftBehind> {
        let server = Closing { routes, client, limit, cleanup };
        let written = self.written.lock();
        // Whole path segments are compared: the id of one scope can be the beginning of another.
        let came_to_be = |id: &&String| {
            let mut parts = written.iter().flat_map(|target| target.split(['/', '?']));
            parts.any(|part| part == id.as_str())
        };
        // After a connection error, no further scope is tried: each could take the whole limit.
        let mut gone = false;
        let mut left = Vec::new();
        for id in self.made.lock().iter().filter(came_to_be) {
            let state = match gone {
                true => Some("kept, because the server no longer answers".to_owned()),
                false => server.close(id).unwrap_or_else(|trouble| {
                    gone = matches!(trouble, ExchangeError::Unreachable(_));
                    Some(format!("kept: {trouble}"))
                }),
            };
            left.extend(state.map(|state| LeftBehind::new(&routes.scope.kind, id.clone(), state)));
        }
        for id in self.shared.lock().iter().filter(came_to_be) {
            let kept = "kept, because all runs share it".to_owned();
            let state = match server.remove(id) {
                Ok(Some(Removal::Done)) => continue,
                Ok(Some(Removal::Refused(why))) => format!("{kept}; not removed: {why}"),
                Ok(None) | Err(_) => kept,
            };
            left.push(LeftBehind::new(&routes.scope.kind, id.clone(), state));
        }
        left
    }

    /// Reads from the given scope, to check that the key allows it.
    fn check_readable(&self, routes: &RouteList, engine: &Engine<'_>) -> Result<(), CannotOpen> {
        let reads_scope = |step: &&Step| {
            let route = &routes.routes[&step.request.route];
            route.method == Method::Get && route.parameters().eq([routes.scope.variable.as_str()])
        };
        let Some(step) = routes.scope.open.iter().find(reads_scope) else { return Ok(()) };
        let ended = engine.run(std::slice::from_ref(step), &mut self.base(routes));
        Refusal::of(&ended, routes, true)
            .map_or(Ok(()), |refusal| Err(CannotOpen::Refused(refusal)))
    }

    fn base(&self, routes: &RouteList) -> Variables {
        let mut variables = Variables::of(&routes.scope.variable, &self.scope);
        variables.set("run", self.values.run());
        variables
    }

    fn make(&self, generator: &Generator, routes: &RouteList, engine: &Engine<'_>) -> Value {
        if let Some(value) = self.values.make(generator) {
            return value;
        }
        match &generator.id {
            Some(id) => {
                // The lock is held until the scope exists, so that no other case uses it earlier.
                let mut shared = self.shared.lock();
                if shared.insert(id.clone()) {
                    self.request(id, routes, engine);
                }
                id.as_str().into()
            }
            None => {
                let prefix = &routes.scope.prefix;
                let scope = format!("{prefix}{}-{:x}", self.values.run(), self.values.next());
                self.create(&scope, routes, engine);
                scope.into()
            }
        }
    }

    fn create(&self, id: &str, routes: &RouteList, engine: &Engine<'_>) {
        // Before the request, whose answer may be lost. `close` checks whether it was written to.
        self.made.lock().push(id.to_owned());
        self.request(id, routes, engine);
    }

    /// Creates a scope. If the server has no route for that, the first write creates it.
    fn request(&self, id: &str, routes: &RouteList, engine: &Engine<'_>) {
        let variables = Variables::of(&routes.scope.variable, id);
        let create = &routes.scope.create;
        // The mark of a conformance run is no part of the protocol, and a server may be strict.
        for request in [Some(create.clone()), without_extensions(create)].into_iter().flatten() {
            let request = compose(&request, engine.routes, &variables);
            let Ok(Ok(answer)) = request.map(|request| engine.send(&request)) else { return };
            if answer.is_success() {
                self.written.lock().insert(id.to_owned());
            }
            if ![400, 422].contains(&answer.status) {
                return;
            }
        }
    }
}

impl Refusal {
    /// The refusal in an answer: the caller has no key, or its key lacks permission.
    fn of(ended: &Exchanged, routes: &RouteList, plain: bool) -> Option<Self> {
        let answer = &ended.actual["answer"];
        let status = u16::try_from(answer["status"].as_u64()?).ok()?;
        let is_coded = || {
            let mut codes = routes.codes.iter().filter(|(_, status)| **status == 403);
            codes.any(|(code, _)| names(&answer["body"], code))
        };
        // 401 is about the key by definition. 403 can also come from a gateway, so it needs more.
        let is_refusal = status == 401 || (status == 403 && (plain || is_coded()));
        let request = &ended.actual["request"];
        let text = |member: &str| request[member].as_str().unwrap_or_default().to_owned();
        let request = format!("{} {}", text("method"), text("target"));
        is_refusal.then_some(Self { request, status, left: Vec::new() })
    }
}

/// A request without the members `x-…` of its document; `None` if it has none.
fn without_extensions(request: &Request) -> Option<Request> {
    let mut plain = request.clone();
    let members = plain.json.as_mut()?.as_object_mut()?;
    let before = members.len();
    members.retain(|name, _| !name.starts_with("x-"));
    (members.len() < before).then_some(plain)
}

struct Closing<'a> {
    routes: &'a RouteList,
    client: &'a Client,
    limit: Duration,
    cleanup: bool,
}

enum Removal {
    Done,
    Refused(String),
}

impl Closing<'_> {
    /// Removes or retires a scope, and returns its state; `None` if the server does not have it.
    fn close(&self, id: &str) -> Result<Option<String>, ExchangeError> {
        match self.remove(id)? {
            Some(Removal::Done) => Ok(None),
            Some(Removal::Refused(why)) => {
                Ok(self.retire(id)?.map(|state| format!("{state}; not removed: {why}")))
            }
            None => self.retire(id),
        }
    }

    /// Removes a scope, if the run is to clean up.
    fn remove(&self, id: &str) -> Result<Option<Removal>, ExchangeError> {
        let Some(request) = self.routes.scope.remove.as_ref().filter(|_| self.cleanup) else {
            return Ok(None);
        };
        let (answer, body) = match self.send(request, id)? {
            Ok(answered) => answered,
            Err(why) => return Ok(Some(Removal::Refused(why))),
        };
        let is_gone = || self.routes.not_found_codes().any(|code| names(&body, code));
        if answer.is_success() || is_gone() {
            return Ok(Some(Removal::Done));
        }
        let code = body["error"]["code"].as_str().or(body["code"].as_str());
        let code = code.map(|code| format!(" {code}")).unwrap_or_default();
        let why = format!("`{}` answered {}{code}", request.route, answer.status);
        Ok(Some(Removal::Refused(why)))
    }

    /// Retires a scope and returns its state; `None` if the server does not have it.
    fn retire(&self, id: &str) -> Result<Option<String>, ExchangeError> {
        let scope = &self.routes.scope;
        let (answer, body) = match self.send(&scope.retire, id)? {
            Ok(answered) => answered,
            Err(why) => return Ok(Some(format!("kept: {why}"))),
        };
        Ok(match answer.status {
            _ if answer.is_success() => Some(scope.retired.clone()),
            _ if self.routes.not_found_codes().any(|code| names(&body, code)) => None,
            status => Some(format!("kept, because `{}` answered {status}", scope.retire.route)),
        })
    }

    /// Sends a request about a scope. `Ok(Err)` says why it cannot be sent.
    fn send(
        &self,
        request: &Request,
        id: &str,
    ) -> Result<Result<(Answer, Value), String>, ExchangeError> {
        let variables = Variables::of(&self.routes.scope.variable, id);
        let request = match compose(request, self.routes.requests(), &variables) {
            Ok(request) => request,
            Err(unknown) => return Ok(Err(unknown.to_string())),
        };
        let answer = self.client.send(&request, self.limit)?;
        let body: Value = serde_json::from_str(&answer.text).unwrap_or_default();
        Ok(Ok((answer, body)))
    }
}

const OPENING_LIMIT: Duration = Duration::from_secs(60);
