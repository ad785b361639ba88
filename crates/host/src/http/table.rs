//! The routes of the protocol, as data.
//!
//! A [`Route`] says what it is called, what it takes and gives, and who handles it. The router and the
//! OpenAPI document are made from the same list, so that neither knows a route that the other does not.
//! Each file below `routes` lists its own.

use std::sync::Arc;

use accord_contract::codes::Code;
use accord_contract::wire::{Value, Wire, json_schema};
use axum::Router;
use axum::extract::Request;
use axum::handler::Handler;
use axum::middleware::{Next, from_fn, map_response};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use hyper::Method;

use super::{Host, Refusal, RouteName, routes};

/// One thing that can be asked for.
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
    /// What may stand in the query and the headers.
    pub(crate) parameters: Vec<Parameter>,
    /// What the body of a request is; `None` where none is read.
    pub(crate) body: Option<Content>,
    /// What it answers when all went well.
    pub(crate) answers: Vec<Answer>,
    /// The codes of its own with which it refuses; those that every route has are not among them.
    pub(crate) refusals: Vec<Code>,
    handler: MethodRouter<Host>,
}

/// Something that may stand in the query or the headers of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it stands.
    pub(crate) place: Place,
    /// What it means.
    pub(crate) about: &'static str,
    /// Whether it must be there.
    pub(crate) required: bool,
}

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    /// In the query.
    Query,
    /// In the headers.
    Header,
}

/// What a body is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// A JSON document, with the JSON Schema that it has.
    Json(fn() -> Value),
    /// JSON documents, one a line.
    Lines,
    /// A stream of events.
    Events,
    /// Bytes.
    Bytes,
    /// Text.
    Text,
}

/// What is answered when all went well.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: u16,
    /// What it means.
    pub(crate) about: &'static str,
    /// The body, where there is one.
    pub(crate) content: Option<Content>,
}

/// Every route of the protocol.
pub(crate) fn all() -> Vec<Route> {
    routes::all()
}

/// The router of a list of routes. A request whose query names what its route does not know is refused: a
/// misspelt filter would otherwise give more than was asked for, without a word.
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
        router = router.route(route.path, route.handler.layer(strict).layer(named));
    }
    router
}

impl Route {
    /// The names of what may stand in its query.
    fn query_parameters(&self) -> impl Iterator<Item = &'static str> {
        let parameters = self.parameters.iter();
        let in_query = parameters.filter(|parameter| parameter.place == Place::Query);
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

    /// A route that adds or moves something.
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
        let filter = MethodFilter::try_from(method.clone()).expect("a method that routers know");
        Self {
            name,
            method,
            path,
            summary,
            parameters: Vec::new(),
            body: None,
            answers: Vec::new(),
            refusals: Vec::new(),
            handler: on(filter, handler),
        }
    }

    /// The same route, with a parameter that may stand in the query.
    #[must_use]
    pub(crate) fn query(self, name: &'static str, about: &'static str) -> Self {
        self.parameter(Place::Query, name, about, false)
    }

    /// The same route, with a parameter that must stand in the query.
    #[must_use]
    pub(crate) fn demanded(self, name: &'static str, about: &'static str) -> Self {
        self.parameter(Place::Query, name, about, true)
    }

    /// The same route, with a header that it looks at.
    #[must_use]
    pub(crate) fn header(self, name: &'static str, about: &'static str) -> Self {
        self.parameter(Place::Header, name, about, false)
    }

    /// The same route, with a body.
    #[must_use]
    pub(crate) fn takes(mut self, content: Content) -> Self {
        self.body = Some(content);
        self
    }

    /// The same route, with an answer.
    #[must_use]
    pub(crate) fn answers(mut self, status: u16, about: &'static str, content: Content) -> Self {
        self.answers.push(Answer {
            status,
            about,
            content: Some(content),
        });
        self
    }

    /// The same route, with an answer that has no body.
    #[must_use]
    pub(crate) fn answers_nothing(mut self, status: u16, about: &'static str) -> Self {
        self.answers.push(Answer {
            status,
            about,
            content: None,
        });
        self
    }

    /// The same route, with codes of its own.
    #[must_use]
    pub(crate) fn refuses(mut self, codes: &[Code]) -> Self {
        self.refusals.extend_from_slice(codes);
        self
    }

    fn parameter(
        mut self,
        place: Place,
        name: &'static str,
        about: &'static str,
        required: bool,
    ) -> Self {
        self.parameters.push(Parameter {
            name,
            place,
            about,
            required,
        });
        self
    }
}

impl Content {
    /// A JSON document of this message.
    pub(crate) fn json<T: Wire>() -> Self {
        Self::Json(json_schema::<T>)
    }
}
