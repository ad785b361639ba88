//! The byte stream of a connection, with timeouts, and with error bodies where hyper has none.
//!
//! hyper refuses a head that it cannot parse, or that is too large, with a bare status, and closes
//! the connection. Those bytes can be recognised: they are written while no request is being
//! answered and nothing of an earlier answer is unsent. An error body is sent in their place.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use accord_contract::{Code, Failure, Protocol};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::activity::{Activity, Phase};
use super::refusals;
use crate::Metrics;
use crate::settings::Limits;

/// How long a refused client may pause while it still sends, and how long it may send.
const LINGER_PAUSE: Duration = Duration::from_secs(2);
const LINGER: Duration = Duration::from_secs(10);

pub(super) struct MonitoredStream<S> {
    stream: S,
    activity: Activity,
    limits: Limits,
    metrics: Metrics,
    protocol: Protocol,
    /// When the client must have sent something.
    read_timer: Pin<Box<Sleep>>,
    /// When the client must have received something. Runs while bytes wait for it.
    write_timer: Option<Pin<Box<Sleep>>>,
    /// Our refusal, which is sent in place of hyper's. Once there is one, nothing else is sent.
    refusal: Option<Vec<u8>>,
    /// When reading what the client still sends ends. Runs once everything was sent.
    linger: Option<Linger>,
}

struct Linger {
    until: Instant,
    timer: Pin<Box<Sleep>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> MonitoredStream<S> {
    pub(super) fn new(
        stream: S,
        activity: Activity,
        limits: Limits,
        metrics: Metrics,
        protocol: Protocol,
    ) -> Self {
        let read_timer = Box::pin(tokio::time::sleep(limits.idle_timeout));
        Self {
            stream,
            activity,
            limits,
            metrics,
            protocol,
            read_timer,
            write_timer: None,
            refusal: None,
            linger: None,
        }
    }

    /// Whether bytes that hyper writes now are a refusal by hyper.
    fn is_hyper_refusal(&self) -> bool {
        let state = self.activity.state();
        let is_between = matches!(state.phase, Phase::Idle | Phase::Head);
        self.refusal.is_some() || is_between && !state.unsent
    }

    fn replace(&mut self, head: &[u8]) {
        if self.refusal.is_none() {
            self.refuse(&refusals::of_head(head));
        }
    }

    fn refuse(&mut self, failure: &Failure) {
        self.metrics.refused(failure.code);
        self.refusal = Some(refusals::answer(failure, self.protocol));
    }

    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(unsent) = self.refusal.as_ref().filter(|unsent| !unsent.is_empty()) {
            let written = Pin::new(&mut self.stream).poll_write(context, unsent);
            let written = ready!(self.with_write_timeout(context, written))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            if let Some(unsent) = &mut self.refusal {
                unsent.drain(..written);
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads what the client still sends. If a connection is closed with unread bytes, the system
    /// resets it, and a client that is still sending never sees the answer.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let now = Instant::now();
        let linger = self.linger.get_or_insert_with(|| Linger {
            until: now + LINGER,
            timer: Box::pin(tokio::time::sleep(LINGER_PAUSE)),
        });
        let mut unread = [0; 8 * 1024];
        let mut buffer = ReadBuf::new(&mut unread);
        while let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
            if read.is_err() || buffer.filled().is_empty() || now >= linger.until {
                return Poll::Ready(Ok(()));
            }
            buffer.clear();
            linger.timer.as_mut().reset((now + LINGER_PAUSE).min(linger.until));
        }
        linger.timer.as_mut().poll(context).map(Ok)
    }

    /// Fails when the client has received nothing for too long.
    fn with_write_timeout<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.write_timer = None;
            return outcome;
        }
        let timeout = self.limits.write_timeout;
        let timer = (self.write_timer).get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for MonitoredStream<S> {
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
        let timeout = match state.phase {
            // A handler may take its time. Its request body has its own timeout.
            Phase::Busy | Phase::Upgraded => return Poll::Pending,
            Phase::Idle => self.limits.idle_timeout,
            Phase::Head => self.limits.header_timeout,
        };
        let until: Instant = state.since + timeout;
        // The phase has changed since the timer was set.
        if self.read_timer.deadline() != until {
            self.read_timer.as_mut().reset(until);
        }
        ready!(self.read_timer.as_mut().poll(context));
        if state.phase == Phase::Idle {
            // End of file, as if the client had closed the connection.
            return Poll::Ready(Ok(()));
        }
        if self.refusal.is_none() {
            let message = format!("the headers were not received within {timeout:?}");
            self.refuse(&Failure::new(Code::HttpHeaderTimeout, message));
        }
        ready!(self.poll_refusal(context))?;
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for MonitoredStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_hyper_refusal() {
            // hyper must take its bytes for sent. Ours are written when it flushes.
            self.replace(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.with_write_timeout(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.is_hyper_refusal() {
            // The status is in the first slice.
            let first = slices.first().map_or(&[][..], |slice| slice);
            self.replace(first);
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.with_write_timeout(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(context))?;
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        ready!(self.with_write_timeout(context, flushed))?;
        self.activity.sent();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(context))?;
        // Shut down once; later polls only read what the client still sends.
        if self.linger.is_none() {
            let ended = Pin::new(&mut self.stream).poll_shutdown(context);
            ready!(self.with_write_timeout(context, ended))?;
        }
        if self.refusal.is_some() || self.activity.state().unread {
            return self.poll_linger(context);
        }
        Poll::Ready(Ok(()))
    }
}
