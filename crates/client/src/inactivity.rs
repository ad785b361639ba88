//! How long a server may be inactive.
//!
//! A caller may take its time to produce a request body, and to read a response. Only time in which
//! the client waits for the server counts.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use parking_lot::Mutex;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use crate::BoxError;
use crate::client::RequestBody;
use crate::endpoint::Endpoint;
use crate::errors::ClientError;

/// Measures the inactivity of a server until it answers. A clone is the same measurement.
#[derive(Clone)]
pub(crate) struct Inactivity {
    timeout: Duration,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Clone, Copy)]
enum Waiting {
    ForServer(Instant),
    /// For the caller's request body.
    ForCaller,
}

impl Inactivity {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { timeout, waiting: Arc::new(Mutex::new(Waiting::ForServer(Instant::now()))) }
    }

    pub(crate) fn restart(&self) {
        *self.waiting.lock() = Waiting::ForServer(Instant::now());
    }

    /// Wraps a request body. When the server accepts a part of it, the measurement restarts.
    pub(crate) fn watch<B>(&self, body: B) -> RequestBody
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let body = body.map_err(Into::into);
        // hyper never polls an empty body, so there is nothing to measure.
        if body.is_end_stream() {
            return body.boxed_unsync();
        }
        WatchedBody { body: body.boxed_unsync(), inactivity: self.clone() }.boxed_unsync()
    }

    /// Completes when the server has been inactive for too long.
    pub(crate) async fn exceeded(&self) {
        loop {
            let until = match *self.waiting.lock() {
                Waiting::ForServer(since) => since + self.timeout,
                // The caller has no timeout. This only says when to look again.
                Waiting::ForCaller => Instant::now() + self.timeout,
            };
            // The measurement may have been restarted during the sleep, so the time is computed
            // again.
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }
}

struct WatchedBody {
    body: RequestBody,
    inactivity: Inactivity,
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        // hyper asks for the next part when it has room for it: the server has accepted earlier
        // ones.
        if polled.is_pending() {
            *self.inactivity.waiting.lock() = Waiting::ForCaller;
        } else {
            self.inactivity.restart();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a response. Reading it fails when the server is inactive for too long.
pub struct ResponseBody {
    body: Incoming,
    endpoint: Endpoint,
    timeout: Duration,
    /// Runs while a reader waits for the server.
    timer: Option<Pin<Box<Sleep>>>,
}

impl ResponseBody {
    pub(crate) fn new(body: Incoming, endpoint: Endpoint, timeout: Duration) -> Self {
        Self { body, endpoint, timeout, timer: None }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = ClientError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ClientError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            // A reader may take its time between frames; the next wait for the server starts from
            // zero.
            this.timer = None;
            let failed = |error| ClientError::exchange(&this.endpoint, error);
            return Poll::Ready(frame.map(|frame| frame.map_err(failed)));
        }
        let timeout = this.timeout;
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep(timeout)));
        if timer.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(ClientError::inactive(&this.endpoint, timeout))));
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
