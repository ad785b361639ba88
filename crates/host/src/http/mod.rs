//! HTTP: everything between a connection and the services.
//!
//! A request passes through `exchange` (correlation id, error body, log, metrics), `guard` (the
//! headers Host and Origin), `peer` (authentication) and the limits, and then reaches its handler.
//! Each of them can refuse it with a [`Failure`], and `exchange` alone writes the error body.
//!
//! Handlers take a `Context` (the host, the caller, the correlation id) and, for their bodies,
//! [`body::Document`] or [`body::Chunks`]; they answer `Result<_, Refusal>`.

pub mod body;
mod context;
mod correlation;
pub(crate) mod errors;
mod examples;
mod exchange;
mod groups;
mod guard;
mod host;
mod live;
mod live_tools;
mod manual;
mod metrics;
mod openapi;
mod operation;
mod own;
mod page;
mod pages;
mod peer;
mod permits;
mod project_document;
pub mod reply;
mod routes;
pub mod streams;
mod table;
mod tasks;
mod visitor;
mod words;

use std::convert::Infallible;
use std::sync::Arc;

use accord_base::Caller;
use accord_contract::codes::{Failure, Protocol};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::Redirect;
use axum::routing::get;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tower::ServiceExt as _;

use crate::mcp::{self, HostAccess, McpEndpoints, SessionLimits};
use crate::serve::this_process;
use crate::{Api, Request, Response};

pub(crate) use self::context::Context;
pub use self::correlation::{CORRELATION, Correlation};
pub use self::examples::{EXAMPLES, Example};
pub use self::exchange::TERMINAL;
pub use self::groups::every_declaration;
pub(crate) use self::host::WeakHost;
pub use self::host::{BLOBS, Host};
pub use self::manual::pages;
pub use self::metrics::Metrics;
pub(crate) use self::metrics::{LiveNumbers, LiveValues};
pub use self::openapi::schemas;
pub(crate) use self::pages::Holder;
pub(crate) use self::pages::page_link;
pub(crate) use self::peer::Peer;
pub(crate) use self::permits::{Permit, Permits};
pub use self::reply::{Refusal, Reply};
pub(crate) use self::routes::Query;
pub use self::routes::{NEW_PROJECT, SUPERSEDED_BY};
pub(crate) use self::visitor::Visitor;

/// The name of the route that answered, in the extensions of its response. Metrics use it, because
/// the number of paths is unbounded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RouteName(pub &'static str);

/// All routes of a host, with authentication, limits and error bodies.
pub fn router(host: Host) -> Router {
    let routes = groups::every_route();
    let endpoints = mcp_endpoints(&host);
    let mut rules = table::rules(&routes);
    rules.extend(endpoints.protocols().map(|(path, protocol)| {
        (path.to_owned(), table::Rule { protocol, admission: table::Admission::Common })
    }));
    let beside = table::Admission::Handler { any_origin: true };
    let rule = table::Rule { protocol: Protocol::Ggui, admission: beside };
    rules.extend([(live::WITHOUT_SESSION.to_owned(), rule)]);
    let state = (host.clone(), Arc::new(rules));
    let layer = from_fn_with_state(state, exchange::exchange);
    table::router(routes)
        .route("/", get(async || Redirect::to("/docs")))
        .route(live::WITHOUT_SESSION, get(live::without_session))
        .merge(endpoints.router())
        .layer(layer)
        .with_state(host)
}

/// The MCP endpoints. Each tool call becomes a request of the same caller.
fn mcp_endpoints(host: &Host) -> McpEndpoints {
    let closed = host.streams().closed().boxed();
    let (reached, keys, streams) = (host.clone(), host.keys().clone(), host.streams().clone());
    let access = HostAccess {
        api_for: Arc::new(move |caller: &Caller| api_as(&reached, caller.clone())),
        is_accepted: Arc::new(move |caller: Caller| {
            let keys = keys.clone();
            // If the keys cannot be read, the stream ends and its client sees why when it asks
            // again.
            async move { keys.accepts(&caller).await.unwrap_or(false) }.boxed()
        }),
        keep_open: Arc::new(move || Box::new(streams.begin_work())),
    };
    mcp::service(access, mcp::TOOLSETS, SessionLimits::default(), closed)
        .expect("opening the host has checked that the tools can be combined")
}

/// The host as the owner of its data folder uses it in this process.
pub fn local_api(host: &Host) -> Arc<dyn Api> {
    api_as(host, Caller::owner().examined_by(this_process))
}

/// The host as an authenticated caller uses it.
pub fn api_as(host: &Host, caller: Caller) -> Arc<dyn Api> {
    Arc::new(InProcess { router: host.router(), caller })
}

/// A host in this process.
struct InProcess {
    router: Arc<Router>,
    caller: Caller,
}

impl Api for InProcess {
    fn call(&self, mut request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        let peer = Peer::Trusted(self.caller.clone());
        request.extensions_mut().insert(peer);
        let answer = (*self.router).clone().oneshot(request);
        answer.map(|answer| Ok(answer.unwrap_or_else(|never: Infallible| match never {}))).boxed()
    }
}
