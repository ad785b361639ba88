//! Routes as data.
//!
//! A [`Route`] declares its name, parameters, bodies, refusals and handler. The router, the OpenAPI
//! document and the manual are made from the same list (`groups`), so they cannot differ. Each file
//! below `routes`, `tasks` and `own` declares its own routes.

use std::collections::BTreeMap;
use std::sync::Arc;

use accord_contract::codes::{Code, Protocol};
use accord_contract::wire::{Object, Shape, Value, Wire, json_schema};
use accord_memory_core::query::Described;
use axum::Router;
use axum::extract::Request;
use axum::handler::Handler;
use axum::middleware::{Next, from_fn, map_response};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use hyper::Method;

use super::{Host, Refusal, RouteName, routes};

/// The media type of JSON documents, one per line.
pub(crate) const LINES: &str = "application/x-ndjson";

/// One route.
#[derive(Clone)]
pub(crate) struct Route {
    /// Its name: short, unique, stable.
    pub(crate) name: &'static str,
    /// The method.
    pub(crate) method: Method,
    /// The path, with `{name}` for each parameter.
    pub(crate) path: &'static str,
    /// What it does, in a sentence.
    pub(crate) summary: &'static str,
    /// Its query parameters and headers.
    pub(crate) parameters: Vec<Parameter>,
    /// The request body; `None` if none is read.
    pub(crate) body: Option<Body>,
    /// Its successful answers.
    pub(crate) answers: Vec<Answer>,
    /// The protocol whose codes and error bodies its refusals have.
    pub(crate) protocol: Protocol,
    /// The name of its group. The list of the groups sets it.
    pub(crate) group: &'static str,
    /// Its own failure codes, without those that every route has.
    pub(crate) refusals: Vec<Code>,
    /// Who checks its requests.
    pub(crate) admission: Admission,
    handler: MethodRouter<Host>,
}

/// A query parameter or a header.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it is sent.
    pub(crate) location: Location,
    /// What it means.
    pub(crate) about: &'static str,
    /// Whether it is required.
    pub(crate) required: bool,
    /// What its value must be.
    pub(crate) shape: Shape,
    /// The value that counts if it is not given.
    pub(crate) default: Option<Value>,
}

/// Where a parameter is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Location {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In the headers.
    Header,
}

/// A request body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    /// Its content.
    pub(crate) content: Content,
    /// Whether it must be sent.
    pub(crate) required: bool,
}

/// The content of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// A JSON document with this JSON Schema.
    Json(fn() -> Value),
    /// JSON documents, one per line.
    Lines,
    /// Server-sent events.
    Events,
    /// Bytes.
    Bytes,
    /// Text of this media type.
    Text(&'static str),
}

/// A successful answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: u16,
    /// What it means.
    pub(crate) about: &'static str,
    /// The body, if it has one.
    pub(crate) content: Option<Content>,
}

/// What holds for every request of a path, before it reaches its handler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// The protocol whose codes and error bodies refusals have.
    pub(crate) protocol: Protocol,
    /// Who checks a request.
    pub(crate) admission: Admission,
}

/// Who checks where a request comes from. The header Host is checked for every route.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Admission {
    /// The layer around the routes checks Origin and key.
    #[default]
    Common,
    /// The handler does, with a [`Visitor`](super::Visitor).
    Handler {
        /// Whether pages of every origin may read the answers, refusals included.
        any_origin: bool,
    },
}

/// The rules by the path of the route.
pub(crate) type Rules = BTreeMap<String, Rule>;

/// The rules of a list of routes.
pub(crate) fn rules(routes: &[Route]) -> Rules {
    let rule = |route: &Route| Rule { protocol: route.protocol, admission: route.admission };
    routes.iter().map(|route| (route.path.to_owned(), rule(route))).collect()
}

/// The router of a list of routes. A request with an unknown query parameter is refused: a misspelt
/// filter would otherwise silently return more than was asked for.
pub(crate) fn router(routes: Vec<Route>) -> Router<Host> {
    let mut router = Router::new();
    for route in routes {
        let name = RouteName(route.name);
        let named = map_response(move |mut response: Response| async move {
            response.extensions_mut().insert(name);
            response
        });
        let known: Arc<[&'static str]> = route.query_parameters().collect();
        let strict = from_fn(move |request: Request, next: Next| {
            let checked = routes::check_query(request.uri(), &known);
            async move {
                match checked {
                    Ok(()) => next.run(request).await,
                    Err(failure) => Refusal(failure).into_response(),
                }
            }
        });
        // The name is the outer layer, so that a refused query is counted for its route. A method
        // that the path does not have is refused as such, whatever the query is.
        router = router.route(route.path, route.handler.route_layer(strict).layer(named));
    }
    router
}

impl Route {
    /// The names of its query parameters.
    fn query_parameters(&self) -> impl Iterator<Item = &'static str> {
        let parameters = self.parameters.iter();
        let in_query = parameters.filter(|parameter| parameter.location == Location::Query);
        in_query.map(|parameter| parameter.name)
    }

    /// A route that reads.
    pub(crate) fn get<T: 'static>(
        name: &'static str,
        path: &'static str,
        summary: &'static str,
        handler: impl Handler<T, Host>,
    ) -> Self {
        Self::new(name, Method::GET, path, summary, handler)
    }

    /// A route that writes.
    pub(crate) fn post<T: 'static>(
        name: &'static str,
        path: &'static str,
        summary: &'static str,
        handler: impl Handler<T, Host>,
    ) -> Self {
        Self::new(name, Method::POST, path, summary, handler)
    }

    /// A route of any method.
    pub(crate) fn new<T: 'static>(
        name: &'static str,
        method: Method,
        path: &'static str,
        summary: &'static str,
        handler: impl Handler<T, Host>,
    ) -> Self {
        let filter =
            MethodFilter::try_from(method.clone()).expect("a method that the router supports");
        Self {
            name,
            method,
            path,
            summary,
            parameters: Vec::new(),
            body: None,
            answers: Vec::new(),
            protocol: Protocol::Agentic,
            group: "",
            refusals: Vec::new(),
            admission: Admission::Common,
            handler: on(filter, handler),
        }
    }

    /// Adds an optional query parameter.
    #[must_use]
    pub(crate) fn query(self, parameter: impl Into<Described>, about: &'static str) -> Self {
        self.parameter(Location::Query, parameter.into(), about, false)
    }

    /// Adds a required query parameter.
    #[must_use]
    pub(crate) fn required_query(
        self,
        parameter: impl Into<Described>,
        about: &'static str,
    ) -> Self {
        self.parameter(Location::Query, parameter.into(), about, true)
    }

    /// Adds a header.
    #[must_use]
    pub(crate) fn header(self, parameter: impl Into<Described>, about: &'static str) -> Self {
        self.parameter(Location::Header, parameter.into(), about, false)
    }

    /// Sets the request body.
    #[must_use]
    pub(crate) fn takes(mut self, content: Content) -> Self {
        self.body = Some(Body { content, required: true });
        self
    }

    /// Sets a request body that may be empty.
    #[must_use]
    pub(crate) fn may_take(mut self, content: Content) -> Self {
        self.body = Some(Body { content, required: false });
        self
    }

    /// Adds an answer.
    #[must_use]
    pub(crate) fn answers(mut self, status: u16, about: &'static str, content: Content) -> Self {
        self.answers.push(Answer { status, about, content: Some(content) });
        self
    }

    /// Adds an answer without a body.
    #[must_use]
    pub(crate) fn answers_nothing(mut self, status: u16, about: &'static str) -> Self {
        self.answers.push(Answer { status, about, content: None });
        self
    }

    /// Sets the protocol whose codes and error bodies its refusals have.
    #[must_use]
    pub(crate) fn of(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// Lets its handler check Origin and credentials.
    #[must_use]
    pub(crate) fn admits_itself(mut self, any_origin: bool) -> Self {
        self.admission = Admission::Handler { any_origin };
        self
    }

    /// Sets the name of its group.
    #[must_use]
    pub(crate) fn in_group(mut self, name: &'static str) -> Self {
        self.group = name;
        self
    }

    /// Adds failure codes.
    #[must_use]
    pub(crate) fn refuses(mut self, codes: &[Code]) -> Self {
        self.refusals.extend_from_slice(codes);
        self
    }

    fn parameter(
        mut self,
        location: Location,
        parameter: Described,
        about: &'static str,
        required: bool,
    ) -> Self {
        let Described { name, shape, default } = parameter;
        self.parameters.push(Parameter { name, location, about, required, shape, default });
        self
    }
}

impl Content {
    /// The JSON document of a message.
    pub(crate) fn json<T: Wire>() -> Self {
        Self::Json(json_schema::<T>)
    }

    /// The JSON document of one of two messages.
    pub(crate) fn either<A: Wire, B: Wire>() -> Self {
        Self::Json(either_schema::<A, B>)
    }
}

fn either_schema<A: Wire, B: Wire>() -> Value {
    let (mut choices, mut definitions) = (Vec::new(), Object::new());
    for mut schema in [json_schema::<A>(), json_schema::<B>()] {
        if let Value::Object(found) = schema["$defs"].take() {
            definitions.extend(found);
        }
        choices.push(serde_json::json!({"$ref": schema["$ref"]}));
    }
    serde_json::json!({"anyOf": choices, "$defs": definitions})
}
