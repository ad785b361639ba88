//! How long a host may be silent.
//!
//! Whoever sends a body may take its time to make it, and whoever reads an answer to read it:
//! only the host's own silence counts.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::address::Address;
use super::trouble;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Waits for a host, but not for ever.
#[derive(Clone)]
pub(super) struct Patience {
    limit: Duration,
    wait: Arc<Mutex<Wait>>,
}

#[derive(Clone, Copy)]
enum Wait {
    /// For the host, since then.
    Host(Instant),
    /// For our own body.
    Ourselves,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            limit,
            wait: Arc::new(Mutex::new(Wait::Host(Instant::now()))),
        }
    }

    /// From now on the host is waited for.
    pub(super) fn begin(&self) {
        self.set(Wait::Host(Instant::now()));
    }

    /// The body that is sent; that the host takes a part of it breaks its silence.
    pub(super) fn watch(&self, body: Body) -> Body {
        if body.is_end_stream() {
            return body;
        }
        Body::new(Sent {
            body,
            patience: self.clone(),
        })
    }

    /// Over when the host has been silent for too long.
    pub(super) async fn exhausted(&self) {
        loop {
            let wait = *self.wait.lock().unwrap_or_else(PoisonError::into_inner);
            let until = match wait {
                Wait::Host(since) => since + self.limit,
                Wait::Ourselves => Instant::now() + self.limit,
            };
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }

    fn set(&self, wait: Wait) {
        *self.wait.lock().unwrap_or_else(PoisonError::into_inner) = wait;
    }
}

/// A body on its way to the host.
struct Sent {
    body: Body,
    patience: Patience,
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match polled {
            Poll::Pending => self.patience.set(Wait::Ourselves),
            Poll::Ready(_) => self.patience.begin(),
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

/// The body of an answer.
pub(super) struct Answered {
    body: Incoming,
    address: Address,
    limit: Duration,
    /// Runs while somebody waits for the host.
    silence: Option<Pin<Box<Sleep>>>,
}

impl Answered {
    pub(super) fn new(body: Incoming, address: Address, limit: Duration) -> Self {
        Self {
            body,
            address,
            limit,
            silence: None,
        }
    }
}

impl HttpBody for Answered {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.silence = None;
            let failed = |error| Box::new(trouble::broken(&this.address, &error)) as BoxError;
            return Poll::Ready(frame.map(|frame| frame.map_err(failed)));
        }
        let limit = this.limit;
        let silence = this.silence.get_or_insert_with(|| Box::pin(sleep(limit)));
        if silence.as_mut().poll(context).is_ready() {
            let failure = trouble::silent(&this.address, limit);
            return Poll::Ready(Some(Err(Box::new(failure))));
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
