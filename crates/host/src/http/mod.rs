//! The HTTP door: what stands between a connection and the services.
//!
//! A request walks inwards through `exchange` (correlation id, error body, log, metrics), `guard` (Host
//! and Origin), `entrance` (who asks) and the limits, and then to its handler. Each of them can refuse
//! it; what it refuses with is a [`Failure`], and only `exchange` writes it down.
//!
//! Handlers take `State<Host>`, `Extension<Caller>`, `Extension<Correlation>` and, for their bodies,
//! [`body::Document`] or [`body::Chunks`]; they answer `Result<_, Refusal>`.

pub mod body;
mod correlation;
mod entrance;
mod examples;
mod exchange;
mod guard;
mod host;
mod manual;
mod metrics;
mod openapi;
mod own;
mod page;
pub mod reply;
mod routes;
pub mod streams;
mod table;

use std::convert::Infallible;
use std::sync::Arc;

use accord_base::Caller;
use accord_contract::codes::Failure;
use axum::Router;
use axum::middleware::from_fn_with_state;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tower::ServiceExt as _;

use crate::mcp::{self, McpDoors, SessionLimits};
use crate::{Api, Request, Response};

pub use self::correlation::{CORRELATION, Correlation};
pub(crate) use self::entrance::Entrance;
pub use self::examples::{EXAMPLES, Example};
pub use self::host::{BLOBS, Host};
pub use self::manual::pages;
pub use self::metrics::Metrics;
pub use self::reply::{Refusal, Reply};

/// The name of the route that answered, in the extensions of its response: for the metrics, where
/// paths would be too many.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RouteName(pub &'static str);

/// Everything that a host can be asked, behind the door.
pub fn router(host: Host) -> Router {
    let layer = from_fn_with_state(host.clone(), exchange::exchange);
    let routes = table::router(every_route()).merge(mcp_doors(&host).router());
    routes.layer(layer).with_state(host)
}

/// The doors for agents, each call of whom comes back in as a request of the same caller.
fn mcp_doors(host: &Host) -> McpDoors {
    let closed = host.streams().closed().boxed();
    let host = host.clone();
    let api_for = Arc::new(move |caller: &Caller| api_as(&host, caller.clone()));
    mcp::service(api_for, mcp::TOOLSETS, SessionLimits::default(), closed)
        .expect("the tools were joined when the host was opened")
}

/// A host as whoever has its data folder asks it.
pub fn local_api(host: &Host) -> Arc<dyn Api> {
    api_as(host, Caller::owner())
}

/// A host as somebody asks it who is known already.
pub fn api_as(host: &Host, caller: Caller) -> Arc<dyn Api> {
    Arc::new(InProcess {
        router: host.router(),
        caller,
    })
}

/// Every route: the protocol's and our own.
fn every_route() -> Vec<table::Route> {
    let mut routes = table::all();
    routes.extend(own::all());
    routes
}

/// A host in this process.
struct InProcess {
    router: Arc<Router>,
    caller: Caller,
}

impl Api for InProcess {
    fn call(&self, mut request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        let entrance = Entrance::Known(self.caller.clone());
        request.extensions_mut().insert(entrance);
        let answer = (*self.router).clone().oneshot(request);
        answer
            .map(|answer| Ok(answer.unwrap_or_else(|never: Infallible| match never {})))
            .boxed()
    }
}
