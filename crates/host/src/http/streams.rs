//! Answers that do not end by themselves: how many there are, and how they end with the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use accord_contract::codes::{Code, Failure};
use tokio::sync::watch;

/// The open event streams of a host.
#[derive(Clone, Debug)]
pub struct Streams(Arc<State>);

#[derive(Debug)]
struct State {
    limit: usize,
    open: AtomicUsize,
    closing: watch::Sender<bool>,
}

/// A place among the streams; dropped, it is free again.
#[derive(Debug)]
pub struct Ticket {
    streams: Streams,
    closing: watch::Receiver<bool>,
}

impl Streams {
    /// No stream yet, and at most `limit` at once.
    pub fn new(limit: usize) -> Self {
        Self(Arc::new(State {
            limit,
            open: AtomicUsize::new(0),
            closing: watch::Sender::new(false),
        }))
    }

    /// Takes a place, to be kept as long as the stream lasts.
    ///
    /// # Errors
    /// When all places are taken, or the host closes.
    pub fn take(&self) -> Result<Ticket, Failure> {
        let closing = self.0.closing.subscribe();
        if *closing.borrow() {
            return Err(closing_down());
        }
        let more = |open: usize| (open < self.0.limit).then_some(open + 1);
        let taken = (self.0.open).fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        if taken.is_err() {
            let message = format!("{} event streams are open already", self.0.limit);
            return Err(Failure::new(Code::HttpTooManyStreams, message));
        }
        Ok(Ticket {
            streams: self.clone(),
            closing,
        })
    }

    /// How many are open.
    pub fn open(&self) -> usize {
        self.0.open.load(Ordering::Relaxed)
    }

    /// Whether the host closes.
    pub fn are_closing(&self) -> bool {
        *self.0.closing.borrow()
    }

    /// Returns when the host closes.
    pub fn closed(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut closing = self.0.closing.subscribe();
        // A host that is gone has closed.
        async move { drop(closing.wait_for(|closing| *closing).await) }
    }

    /// Ends all streams, and lets none begin.
    pub fn close(&self) {
        self.0.closing.send_replace(true);
    }
}

impl Ticket {
    /// Returns when the stream is to end because the host closes.
    pub async fn closing(&mut self) {
        // The sender lives as long as the ticket does.
        drop(self.closing.wait_for(|closing| *closing).await);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.streams.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The refusal of a host that closes.
pub fn closing_down() -> Failure {
    Failure::new(Code::HostClosing, "the server is closing")
}
