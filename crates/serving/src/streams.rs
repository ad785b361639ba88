//! Answers that do not end on their own: how many there may be, and that they end with the host.

use std::sync::Arc;

use accord_contract::{Code, Failure};
use tokio::sync::watch;

use super::permits::{Permit, Permits};

/// The open event streams of a host.
#[derive(Clone, Debug)]
pub struct Streams(Arc<State>);

#[derive(Debug)]
struct State {
    permits: Permits,
    closing: watch::Sender<bool>,
    /// How much work there is that must end before the store closes.
    unfinished: watch::Sender<usize>,
}

/// Work that must end before the store closes. Dropping it says that it has ended.
#[derive(Debug)]
pub struct Unfinished(Arc<State>);

/// The right to keep one stream open. Dropping it returns it.
#[derive(Debug)]
pub struct StreamPermit {
    closing: watch::Receiver<bool>,
    _permit: Permit,
}

impl Streams {
    pub fn new(limit: usize) -> Self {
        Self(Arc::new(State {
            permits: Permits::new(limit),
            closing: watch::Sender::new(false),
            unfinished: watch::Sender::new(0),
        }))
    }

    /// Takes a permit, which the stream keeps until it ends.
    pub fn take(&self) -> Result<StreamPermit, Failure> {
        // Subscribed before the check, so that a close between the two is not missed.
        let closing = self.0.closing.subscribe();
        if *closing.borrow() {
            return Err(closing_down());
        }
        let permits = &self.0.permits;
        let permit = permits.try_take().ok_or_else(|| {
            let message = format!("{} event streams are open, which is the limit", permits.limit());
            Failure::new(Code::HttpTooManyStreams, message)
        })?;
        Ok(StreamPermit { closing, _permit: permit })
    }

    pub fn open(&self) -> usize {
        self.0.permits.taken()
    }

    pub fn are_closing(&self) -> bool {
        *self.0.closing.borrow()
    }

    pub fn closed(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut closing = self.0.closing.subscribe();
        // An error means that the host is gone.
        async move { drop(closing.wait_for(|closing| *closing).await) }
    }

    /// Registers work that must end before the store closes.
    pub fn begin_work(&self) -> Unfinished {
        self.0.unfinished.send_modify(|count| *count += 1);
        Unfinished(Arc::clone(&self.0))
    }

    /// Returns when all such work has ended.
    pub async fn finished(&self) {
        let mut unfinished = self.0.unfinished.subscribe();
        // The sender lives as long as this.
        drop(unfinished.wait_for(|count| *count == 0).await);
    }

    /// Ends all streams, and refuses new ones.
    pub fn close(&self) {
        self.0.closing.send_replace(true);
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.0.unfinished.send_modify(|count| *count -= 1);
    }
}

impl StreamPermit {
    /// Returns when the stream must end because the host closes.
    pub async fn closing(&mut self) {
        // An error means that the host is gone, which also ends the stream.
        drop(self.closing.wait_for(|closing| *closing).await);
    }
}

/// The refusal of a request to a host that closes.
pub fn closing_down() -> Failure {
    Failure::new(Code::HostClosing, "the server is closing")
}
