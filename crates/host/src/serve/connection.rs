//! One connection: HTTP/1.1 over a stream.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tower::ServiceExt as _;

use super::activity::Activity;
use super::watched::{Patience, Watched};
use crate::http::{Entrance, Host};

/// The least that the HTTP layer must be given room for.
const LEAST_BUFFER: usize = 64 * 1024;

/// One client, from its first request to its last.
pub(super) struct Visit {
    pub(super) host: Host,
    pub(super) router: Arc<Router>,
    pub(super) entrance: Entrance,
    pub(super) closing: watch::Receiver<bool>,
    /// Held as long as the visit lasts.
    pub(super) _visitor: mpsc::Sender<()>,
}

impl Visit {
    /// Answers until the client goes, or the server closes.
    pub(super) async fn serve<S>(mut self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let limits = &self.host.settings().limits;
        let activity = Activity::new();
        let metrics = self.host.metrics().clone();
        let stream = Watched::new(stream, activity.clone(), Patience::from(limits), metrics);
        let head = usize::try_from(limits.header_bytes.0).unwrap_or(usize::MAX);
        let service = service_fn(|request: hyper::Request<Incoming>| {
            let began = activity.begin();
            let mut request = request.map(|body| Body::new(activity.asked(body)));
            request.extensions_mut().insert(self.entrance.clone());
            let answer = (*self.router).clone().oneshot(request);
            async move {
                let response = answer.await?;
                Ok::<_, Infallible>(response.map(|body| began.answer(body)))
            }
        });
        let mut protocol = http1::Builder::new();
        protocol
            // The bytes below are watched for that.
            .header_read_timeout(None)
            .max_header_size(head)
            .max_buf_size(head.saturating_mul(2).max(LEAST_BUFFER));
        let connection = protocol.serve_connection(TokioIo::new(stream), service);
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
            tracing::debug!(%error, "a connection broke off");
        }
    }
}
