//! What a connection is doing, as both of its sides see it: the bytes below HTTP, and the requests
//! above.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::time::Instant;

/// What a connection is doing. A clone is the same connection.
#[derive(Clone)]
pub(super) struct Activity(Arc<Mutex<State>>);

#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// What it does.
    pub(super) phase: Phase,
    /// Since when.
    pub(super) since: Instant,
    /// Whether something of our own answers may still be on its way to the client.
    pub(super) unsent: bool,
    /// Whether a request was answered before all of its body was read.
    pub(super) unread: bool,
}

/// What a connection does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    /// Nothing.
    Idle,
    /// The head of a request comes.
    Head,
    /// A request is being answered.
    Busy,
}

/// A request that is being answered; dropped, it is done.
pub(super) struct Request(Activity);

/// The body of a request.
pub(super) struct Asked {
    body: Incoming,
    ended: bool,
    activity: Activity,
}

/// The body of an answer. When it has ended, the request is done.
pub(super) struct Answer {
    body: Body,
    _request: Request,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            phase: Phase::Idle,
            since: Instant::now(),
            unsent: false,
            unread: false,
        })))
    }

    pub(super) fn state(&self) -> State {
        *self.lock()
    }

    /// Bytes came.
    pub(super) fn received(&self) {
        let mut state = self.lock();
        if state.phase == Phase::Idle {
            state.phase = Phase::Head;
            state.since = Instant::now();
        }
    }

    /// Everything that was to be sent is sent.
    pub(super) fn sent(&self) {
        let mut state = self.lock();
        if state.phase != Phase::Busy {
            state.unsent = false;
        }
    }

    /// The body of a request, whose end is noticed.
    pub(super) fn asked(&self, body: Incoming) -> Asked {
        Asked {
            ended: body.is_end_stream(),
            body,
            activity: self.clone(),
        }
    }

    /// The head of a request is complete.
    pub(super) fn begin(&self) -> Request {
        let mut state = self.lock();
        state.phase = Phase::Busy;
        state.unsent = true;
        drop(state);
        Request(self.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Request {
    /// The answer, as part of which the request goes on.
    pub(super) fn answer(self, body: Body) -> Answer {
        Answer {
            body,
            _request: self,
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.phase = Phase::Idle;
        state.since = Instant::now();
    }
}

impl HttpBody for Asked {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        // After an error there is nothing to wait for either.
        self.ended |=
            matches!(frame, Poll::Ready(None | Some(Err(_)))) || self.body.is_end_stream();
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.ended {
            self.activity.lock().unread = true;
        }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
