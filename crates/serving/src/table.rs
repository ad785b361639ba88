//! Routes as data.
//!
//! A [`Route`] is the declaration of an operation and its handler. The router, the OpenAPI document
//! and the manual are made from one list of routes, so they cannot differ.

use std::collections::BTreeMap;
use std::sync::Arc;

use accord_api::{Declaration, Location, Operation};
use accord_base::{Author, Caller, Need, Verb};
use accord_contract::{Code, Failure, Protocol};
use axum::Router;
use axum::extract::Request;
use axum::handler::Handler;
use axum::middleware::{Next, from_fn, map_response};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::declared::refusals;
use crate::query::check_query;
use crate::{Refusal, RouteName, errors};

/// The media type of JSON documents, one per line.
pub const LINES: &str = "application/x-ndjson";

/// One route: its declaration, and its handler.
#[derive(Clone)]
pub struct Route<D = ()> {
    /// What documents say about it.
    pub declared: Declaration,
    pub admission: Admission,
    handler: MethodRouter<D>,
}

/// What holds for every request of a path, before it reaches its handler.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The protocol whose codes and error bodies refusals have.
    pub protocol: Protocol,
    pub admission: Admission,
}

/// Who checks where a request comes from. The header Host is checked for every route.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Admission {
    /// The layer around the routes checks Origin and key.
    #[default]
    Common,
    /// The handler does, with a [`Visitor`](super::Visitor).
    Handler {
        /// Whether pages of every origin may read the answers, refusals included.
        any_origin: bool,
    },
}

pub type Rules = BTreeMap<String, Rule>;

pub fn rules(routes: &[Route]) -> Rules {
    let rule =
        |route: &Route| Rule { protocol: route.declared.protocol, admission: route.admission };
    routes.iter().map(|route| (route.declared.path.to_owned(), rule(route))).collect()
}

/// The router of a list of routes. A request with an unknown query parameter is refused: a misspelt
/// filter would otherwise silently return more than was asked for.
pub fn router(routes: Vec<Route>) -> Router {
    let mut router = Router::new();
    for route in routes {
        let name = RouteName(route.declared.name);
        let codes = Arc::new(RefusalCodes::of(&route.declared));
        let named = map_response(move |mut response: Response| {
            response.extensions_mut().insert(name);
            codes.check(&response);
            async move { response }
        });
        let known: Arc<[&'static str]> = route.query_parameters().collect();
        let need = route.declared.need;
        let strict = from_fn(move |request: Request, next: Next| {
            let checked = check_query(request.uri(), &known);
            let checked = checked.and_then(|()| check_worker(need, &request));
            async move {
                match checked {
                    Ok(()) => next.run(request).await,
                    Err(failure) => Refusal(failure).into_response(),
                }
            }
        });
        // The name is the outer layer, so that a refused query is counted for its route. A method
        // that the path does not have is refused as such, whatever the query is.
        router = router.route(route.declared.path, route.handler.route_layer(strict).layer(named));
    }
    router
}

/// Refuses administration to workers. A caller without the right is refused by its service.
fn check_worker(need: Need, request: &Request) -> Result<(), Failure> {
    let caller =
        request.extensions().get::<Caller>().filter(|_| matches!(need, Need::Create | Need::Admin));
    match caller.filter(|caller| caller.access().may_anywhere(Verb::Admin).is_ok()) {
        Some(caller) => caller.attribute(need, Author::unnamed()).map(drop),
        None => Ok(()),
    }
}

/// The closed list of the codes that a route refuses with.
struct RefusalCodes {
    route: &'static str,
    protocol: Protocol,
    codes: Vec<Code>,
}

impl RefusalCodes {
    fn of(declared: &Declaration) -> Self {
        let (route, protocol) = (declared.name, declared.protocol);
        Self { route, protocol, codes: refusals(declared) }
    }

    /// Logs a refusal whose code is not in the list.
    fn check(&self, response: &Response) {
        let Some(failure) = response.extensions().get::<Failure>() else { return };
        let code = errors::code_in(self.protocol, failure.code);
        if !self.codes.contains(&code) {
            tracing::error!(route = self.route, %code, "a code that the route does not declare");
        }
    }
}

impl<D: Clone + Send + Sync + 'static> Route<D> {
    fn query_parameters(&self) -> impl Iterator<Item = &'static str> {
        let parameters = self.declared.parameters.iter();
        let in_query = parameters.filter(|parameter| parameter.location == Location::Query);
        in_query.map(|parameter| parameter.name)
    }

    pub fn serving<O: Operation, T: 'static>(handler: impl Handler<T, D>) -> Self {
        Self::declared(O::declared(), handler)
    }

    pub fn declared<T: 'static>(declared: Declaration, handler: impl Handler<T, D>) -> Self {
        let filter = match declared.method {
            accord_api::Method::Get => MethodFilter::GET,
            accord_api::Method::Post => MethodFilter::POST,
            accord_api::Method::Put => MethodFilter::PUT,
            accord_api::Method::Patch => MethodFilter::PATCH,
            accord_api::Method::Delete => MethodFilter::DELETE,
        };
        Self { declared, admission: Admission::Common, handler: on(filter, handler) }
    }

    pub fn behind(self, door: D) -> Route {
        let Self { declared, admission, handler } = self;
        Route { declared, admission, handler: handler.with_state(door) }
    }

    /// Lets its handler check Origin and credentials.
    #[must_use]
    pub fn admits_itself(mut self, any_origin: bool) -> Self {
        self.admission = Admission::Handler { any_origin };
        self
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;
    use accord_api::body::Bytes;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    accord_api::operation! {
        /// Does nothing.
        struct Stale("stale", Get "/stale") of Alx {
            needs Need::Read;
            answers 200 "Nothing.", Bytes;
            refuses [&[Code::AofStaleRun]];
        }
    }

    /// What is logged about a refusal of a route that declares `aof.stale_run`.
    fn logged(code: Code) -> String {
        let codes = RefusalCodes::of(&Stale::declared());
        let response = Refusal(Failure::new(code, "refused")).into_response();
        let log = Log::default();
        let writer = log.clone();
        let lines = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(lines, || codes.check(&response));
        let lines = log.0.lock().unwrap().clone();
        String::from_utf8(lines).unwrap()
    }

    #[test]
    fn a_code_that_a_route_does_not_declare_is_one_line_in_the_log() {
        assert_eq!(logged(Code::AofStaleRun), "");
        assert_eq!(logged(Code::StoreBusy), "", "every route has it");
        let lines = logged(Code::AofTaskFinished);
        assert_eq!(lines.lines().count(), 1, "{lines}");
        assert!(lines.contains("ERROR") && lines.contains(Code::AofTaskFinished.as_str()));
    }
}
