//! A server of something other than a host, over the same accept loop, with the same limits, log
//! and error bodies.

use std::future::Future;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use accord_contract::{Code, Failure, Protocol};
use axum::Router;
use axum::body::Body;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::accept::{Acceptor, Authenticated, ConnectionPolicy, Listeners};
use super::listen;
use crate::body::TimedBody;
use crate::settings::{Limits, Settings};
use crate::streams::Streams;
use crate::{CORRELATION, Correlation, Metrics, Permits, Request, Response, errors};

pub trait Service: Send + Sync + 'static {
    /// Answers a request. Once the request has authenticated itself, it must say so to
    /// `connection`, or the connection may be closed to make room for another.
    fn answer<'a>(
        &'a self,
        request: Request,
        connection: &'a Authenticated,
    ) -> BoxFuture<'a, Result<Response, Failure>>;
}

#[derive(Clone, Copy, Debug)]
pub struct ServiceLimits {
    pub connections: usize,
    /// How long one connection, which carries one request, may live.
    pub lifetime: Duration,
    /// The protocol whose error bodies refusals have.
    pub protocol: Protocol,
}

/// A server that listens and has not begun to answer.
pub struct ServiceServer {
    acceptor: Acceptor,
    listeners: Listeners,
    address: SocketAddr,
}

impl ServiceServer {
    pub async fn bind(
        address: SocketAddr,
        service: Arc<dyn Service>,
        own: ServiceLimits,
    ) -> Result<Self, Failure> {
        let (tcp, address) = listen(address).await?;
        let mut limits = Settings::default().limits;
        limits.connections = own.connections;
        let connections = Permits::new(limits.connections);
        let router = router(service, &limits, own.protocol);
        let metrics = Metrics::new(Streams::new(0), connections.clone(), Vec::new());
        Ok(Self {
            acceptor: Acceptor {
                router: Arc::new(router),
                metrics,
                limits,
                connections,
                protocol: own.protocol,
                policy: ConnectionPolicy {
                    one_request: true,
                    lifetime: Some(own.lifetime),
                    evict_unauthenticated: true,
                },
            },
            listeners: Listeners { tcp, tls: None, socket: None },
            address,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `end`, then gives running requests the shutdown timeout.
    pub async fn run(self, end: impl Future<Output = ()>) {
        self.acceptor.run(self.listeners, end, || {}).await;
    }
}

fn router(service: Arc<dyn Service>, limits: &Limits, protocol: Protocol) -> Router {
    let (pause, rate) = (limits.body_timeout, limits.body_rate.0);
    Router::new().fallback(move |request: Request| {
        let service = Arc::clone(&service);
        let request = request.map(|body| Body::new(TimedBody::new(body, pause, rate)));
        async move { exchange(&*service, request, protocol).await }
    })
}

async fn exchange(service: &dyn Service, request: Request, protocol: Protocol) -> Response {
    let correlation = Correlation::of(request.headers());
    let connection = request.extensions().get::<Authenticated>().cloned().unwrap_or_default();
    let answered = AssertUnwindSafe(service.answer(request, &connection)).catch_unwind();
    let fault = |_| Err(Failure::new(Code::HttpFault, "internal error"));
    let mut response = answered.await.unwrap_or_else(fault).unwrap_or_else(|failure| {
        tracing::info!(code = %failure.code, "{}", failure.message);
        errors::response(&failure, protocol, &correlation)
    });
    response.headers_mut().insert(CORRELATION, correlation.header());
    response
}
