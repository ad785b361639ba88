//! The state of a connection, shared between the byte stream below HTTP and the requests above it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use parking_lot::Mutex;
use tokio::time::Instant;

/// The state of a connection. A clone is the same connection.
#[derive(Clone)]
pub(super) struct Activity(Arc<Mutex<State>>);

#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub phase: Phase,
    pub since: Instant,
    /// Whether a part of an answer may not have been sent yet.
    pub unsent: bool,
    /// Whether a request was answered before all of its body was read.
    pub unread: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    Idle,
    Head,
    Busy,
    /// No longer HTTP: the protocol that it was upgraded to has its own timeouts.
    Upgraded,
}

/// A request that is being answered. Dropping it ends the request.
pub(super) struct RunningRequest(Activity);

pub(super) struct RequestBody {
    body: Incoming,
    ended: bool,
    activity: Activity,
}

/// The body of an answer. The request ends with it.
pub(super) struct AnswerBody {
    body: Body,
    _request: RunningRequest,
}

impl Activity {
    pub(super) fn new() -> Self {
        let (phase, since) = (Phase::Idle, Instant::now());
        Self(Arc::new(Mutex::new(State { phase, since, unsent: false, unread: false })))
    }

    pub(super) fn state(&self) -> State {
        *self.0.lock()
    }

    pub(super) fn received(&self) {
        let mut state = self.0.lock();
        if state.phase == Phase::Idle {
            state.phase = Phase::Head;
            state.since = Instant::now();
        }
    }

    /// All buffered bytes were sent.
    pub(super) fn sent(&self) {
        let mut state = self.0.lock();
        // While a request is answered, more bytes may follow those that were flushed.
        if state.phase != Phase::Busy {
            state.unsent = false;
        }
    }

    /// Wraps the body of a request, to record whether all of it was read.
    pub(super) fn track(&self, body: Incoming) -> RequestBody {
        RequestBody { ended: body.is_end_stream(), body, activity: self.clone() }
    }

    pub(super) fn begin(&self) -> RunningRequest {
        let mut state = self.0.lock();
        state.phase = Phase::Busy;
        state.unsent = true;
        drop(state);
        RunningRequest(self.clone())
    }
}

impl RunningRequest {
    /// The answer upgrades the connection, which stays so.
    pub(super) fn upgrade(&self) {
        self.0.0.lock().phase = Phase::Upgraded;
    }

    /// Wraps the body of the answer. The request goes on until the body ends.
    pub(super) fn answer(self, body: Body) -> AnswerBody {
        AnswerBody { body, _request: self }
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        if state.phase == Phase::Upgraded {
            return;
        }
        // `unsent` stays set until the next flush, because hyper may still buffer the end of the
        // answer.
        state.phase = Phase::Idle;
        state.since = Instant::now();
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        // After an error nothing more can arrive.
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

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.ended {
            self.activity.0.lock().unread = true;
        }
    }
}

impl HttpBody for AnswerBody {
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
