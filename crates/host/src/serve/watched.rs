//! The bytes of a connection, watched: a client that makes no progress is let go, and what the
//! HTTP layer answers by itself becomes an answer with a code.
//!
//! The HTTP layer refuses a head that it cannot read, or that is too large, with a bare status and
//! closes. Such bytes are those that it writes while no request of ours is being answered, and
//! nothing of an earlier answer waits; what is sent in their place is the one error body.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::activity::{Activity, Phase};
use super::refuse;
use crate::http::Metrics;
use crate::settings::Limits;

/// How long a client that was refused may go on sending.
const LINGER: Duration = Duration::from_secs(2);

/// A connection that is watched.
pub(super) struct Watched<S> {
    stream: S,
    activity: Activity,
    patience: Patience,
    metrics: Metrics,
    /// When the client must have sent something.
    silence: Pin<Box<Sleep>>,
    /// When the client must have taken something; while something waits for it.
    stall: Option<Pin<Box<Sleep>>>,
    /// What is sent instead of the HTTP layer's own refusal.
    instead: Vec<u8>,
    /// Whether that was decided. Nothing else is sent then.
    refused: bool,
    /// When what the client still sends is no longer read; once we have sent everything.
    linger: Option<Pin<Box<Sleep>>>,
}

/// How long a client may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    head: Duration,
    idle: Duration,
    write: Duration,
}

impl From<&Limits> for Patience {
    fn from(limits: &Limits) -> Self {
        Self {
            head: limits.header_timeout,
            idle: limits.idle_timeout,
            write: limits.write_timeout,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Watched<S> {
    pub(super) fn new(stream: S, activity: Activity, patience: Patience, metrics: Metrics) -> Self {
        Self {
            stream,
            activity,
            patience,
            metrics,
            silence: Box::pin(tokio::time::sleep(patience.idle)),
            stall: None,
            instead: Vec::new(),
            refused: false,
            linger: None,
        }
    }

    /// Whether bytes that are to be written are a refusal of the HTTP layer's own.
    fn is_foreign(&self) -> bool {
        let state = self.activity.state();
        self.refused || state.phase != Phase::Busy && !state.unsent
    }

    /// Takes a refusal of the HTTP layer's own, and sends ours instead.
    fn replace(&mut self, head: &[u8]) {
        if !self.refused {
            let failure = refuse::of_head(head);
            self.refuse(&failure);
        }
    }

    fn refuse(&mut self, failure: &Failure) {
        self.refused = true;
        self.metrics.refused(failure.code);
        self.instead = refuse::answer(failure);
    }

    /// Sends what is sent instead.
    fn poll_instead(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.instead.is_empty() {
            let written = Pin::new(&mut self.stream).poll_write(context, &self.instead);
            let written = ready!(self.within_patience(context, written))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.instead.drain(..written);
        }
        Poll::Ready(Ok(()))
    }

    /// Reads what the client still sends. A connection that is closed with something unread is reset,
    /// and a client that is still sending then never sees the answer.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let linger = (self.linger).get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
        if linger.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut unread = [0; 8 * 1024];
        loop {
            let mut buffer = ReadBuf::new(&mut unread);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                _ => return Poll::Ready(Ok(())),
            }
        }
    }

    /// Gives up on a client that takes nothing.
    fn within_patience<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stall = None;
            return outcome;
        }
        let patience = self.patience.write;
        let stall = (self.stall).get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(stall.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            if buffer.filled().len() > before {
                self.activity.received();
            }
            return read;
        }
        let state = self.activity.state();
        let patience = match state.phase {
            Phase::Busy => return Poll::Pending,
            Phase::Idle => self.patience.idle,
            Phase::Head => self.patience.head,
        };
        let until: Instant = state.since + patience;
        if self.silence.deadline() != until {
            self.silence.as_mut().reset(until);
        }
        ready!(self.silence.as_mut().poll(context));
        if state.phase == Phase::Idle {
            // As if the client had closed the connection, which it may.
            return Poll::Ready(Ok(()));
        }
        if !self.refused {
            let message = format!("the headers did not come within {patience:?}");
            self.refuse(&Failure::new(Code::HttpHeaderTimeout, message));
        }
        ready!(self.poll_instead(context))?;
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_foreign() {
            self.replace(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within_patience(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.is_foreign() {
            let first = slices.first().map_or(&[][..], |slice| slice);
            self.replace(first);
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.within_patience(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(context))?;
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        ready!(self.within_patience(context, flushed))?;
        self.activity.sent();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(context))?;
        if self.linger.is_none() {
            let ended = Pin::new(&mut self.stream).poll_shutdown(context);
            ready!(self.within_patience(context, ended))?;
        }
        match self.refused || self.activity.state().unread {
            true => self.poll_linger(context),
            false => Poll::Ready(Ok(())),
        }
    }
}
