//! One connection: HTTP/1.1 over a stream.

use std::convert::Infallible;
use std::sync::Arc;

use accord_contract::Protocol;
use axum::Router;
use axum::body::Body;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue, UPGRADE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tower::ServiceExt as _;

use super::accept::Authenticated;
use super::activity::Activity;
use super::stream::MonitoredStream;
use crate::settings::Limits;
use crate::{Metrics, Peer};

/// The smallest buffer that hyper accepts is 8 KiB; a larger one saves reads of large bodies.
const MIN_BUFFER: usize = 64 * 1024;

/// One client, from its first request to its last.
pub(super) struct Connection {
    pub router: Arc<Router>,
    pub limits: Limits,
    pub metrics: Metrics,
    /// The protocol of error bodies for requests that reach no route.
    pub protocol: Protocol,
    pub one_request: bool,
    pub peer: Peer,
    pub authenticated: Authenticated,
    pub closing: watch::Receiver<bool>,
    /// Dropped when the connection has ended.
    pub _alive: mpsc::Sender<()>,
}

impl Connection {
    /// Answers until the client closes the connection, or the server shuts down.
    pub(super) async fn serve<S>(mut self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let activity = Activity::new();
        let (limits, metrics) = (self.limits.clone(), self.metrics.clone());
        let stream = MonitoredStream::new(stream, activity.clone(), limits, metrics, self.protocol);
        let head = usize::try_from(self.limits.header_bytes.0).unwrap_or(usize::MAX);
        let service = service_fn(|request: hyper::Request<Incoming>| {
            let running = activity.begin();
            let wants_upgrade = request.headers().contains_key(UPGRADE);
            let mut request = request.map(|body| Body::new(activity.track(body)));
            let extensions = request.extensions_mut();
            extensions.insert(self.peer.clone());
            extensions.insert(self.authenticated.clone());
            let answer = (*self.router).clone().oneshot(request);
            async move {
                let mut response = answer.await?;
                if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                    running.upgrade();
                } else if wants_upgrade {
                    // hyper would keep the connection for the upgrade, without a timeout.
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(response.map(|body| running.answer(body)))
            }
        });
        let mut protocol = http1::Builder::new();
        protocol
            // `MonitoredStream` has the timeouts, and answers with a code when one passes.
            .header_read_timeout(None)
            .keep_alive(!self.one_request)
            .max_header_size(head)
            .max_buf_size(head.saturating_mul(2).max(MIN_BUFFER));
        let connection = protocol.serve_connection(TokioIo::new(stream), service).with_upgrades();
        let mut connection = std::pin::pin!(connection);
        let closing = async { drop(self.closing.wait_for(|closing| *closing).await) };
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = closing => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection was lost");
        }
    }
}
