//! The HTTP interface of a host: all routes of its doors (`groups`), Accord's own routes
//! (`accord`), and the documents that are made from the list: OpenAPI, `/docs` and the manual.
//!
//! How a request reaches its handler is in [`accord_serving`].

mod accord;
mod examples;
mod groups;
mod host;
mod local_tools;
mod manual;
mod metrics;
mod openapi;
mod page;
mod project_document;
mod surroundings;
mod words;

use std::convert::Infallible;
use std::sync::Arc;

use accord_base::Caller;
use accord_contract::{Failure, Protocol};
use accord_serving::exchange::{Frame, exchange};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::Redirect;
use axum::routing::get;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tower::ServiceExt as _;

use crate::mcp::{self, HostAccess, McpEndpoints, SessionLimits};
use crate::{Api, Request, Response};

pub use accord_serving::listen::this_process;
pub use accord_serving::logins::Holder;
pub use accord_serving::{
    CORRELATION, Correlation, Metrics, Refusal, Reply, RouteName, TERMINAL, body, errors, reply,
    streams,
};
pub(crate) use accord_serving::{Peer, table};

pub use self::examples::{EXAMPLES, Example};
pub use self::groups::every_declaration;
pub(crate) use self::host::WeakHost;
pub use self::host::{BLOBS, Host};
pub use self::manual::pages;
pub use self::openapi::schemas;
pub use accord_serving::reply::{NEW_PROJECT, REVIEW, SUPERSEDED_BY, WARNINGS};

pub(crate) type Context = accord_serving::Context<Host>;

pub(crate) type Route = table::Route<Host>;

/// All routes of a host, with authentication, limits and error bodies.
pub fn router(host: Host) -> Router {
    let routes = groups::every_route(&host);
    let endpoints = mcp_endpoints(&host);
    let mut rules = table::rules(&routes);
    rules.extend(endpoints.protocols().map(|(path, protocol)| {
        (path.to_owned(), table::Rule { protocol, admission: table::Admission::Common })
    }));
    let beside = table::Admission::Handler { any_origin: true };
    let rule = table::Rule { protocol: Protocol::Ggui, admission: beside };
    rules.extend([(accord_live_door::WITHOUT_SESSION.to_owned(), rule)]);
    let frame = Frame {
        serving: host.serving().clone(),
        rules: Arc::new(rules),
        refused_host: accord_live_door::show_refused_host,
    };
    let layer = from_fn_with_state(frame, exchange);
    table::router(routes)
        .route("/", get(async || Redirect::to("/docs")))
        .route(accord_live_door::WITHOUT_SESSION, get(accord_live_door::without_session))
        .merge(endpoints.router())
        .layer(layer)
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

pub fn api_as(host: &Host, caller: Caller) -> Arc<dyn Api> {
    Arc::new(InProcess { router: host.router(), caller })
}

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
