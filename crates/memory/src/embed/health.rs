//! Whether the embeddings server works, as far as the last requests show.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use accord_contract::Timestamp;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::server::{EmbedError, EmbedErrorKind};

/// How long searches do without the server after a failure.
const PAUSE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Health {
    state: Mutex<State>,
    /// Packages that wait for vectors, as they were last counted.
    pub(super) waiting: AtomicU64,
    /// The dimension of the server's vectors; zero before its first answer.
    pub(super) dimension: AtomicUsize,
    /// Packages that got vectors since the start.
    pub(super) made: AtomicU64,
    /// Failed requests since the start.
    pub(super) failures: AtomicU64,
    /// Searches since the start that got no vector in time.
    pub(super) slow_queries: AtomicU64,
    /// Wakes the queue: the server should be checked, or answers again.
    pub(super) changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    contact: Contact,
    paused: Option<(Instant, EmbedError)>,
    last_error: Option<(Timestamp, String)>,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Contact {
    /// There was none.
    #[default]
    Unknown,
    Up,
    Down,
}

impl Health {
    pub(super) fn contact(&self) -> Contact {
        self.state.lock().contact
    }

    pub(super) fn last_error(&self) -> Option<(Timestamp, String)> {
        self.state.lock().last_error.clone()
    }

    /// Whether the server can be used now; `None` if nothing is known.
    pub(super) fn is_usable(&self) -> Option<bool> {
        match (self.contact(), self.paused()) {
            (Contact::Unknown, None) => None,
            (Contact::Up, None) => Some(true),
            _ => Some(false),
        }
    }

    /// The error because of which searches do without the server at the moment.
    pub(super) fn paused(&self) -> Option<EmbedError> {
        let state = self.state.lock();
        let (until, error) = state.paused.as_ref()?;
        (*until > Instant::now()).then(|| error.clone())
    }

    pub(super) fn succeeded(&self) {
        let was = {
            let mut state = self.state.lock();
            state.paused = None;
            std::mem::replace(&mut state.contact, Contact::Up)
        };
        if was == Contact::Down {
            tracing::info!("the embeddings server works again");
            self.changed.notify_one();
        }
    }

    pub(super) fn query_failed(&self, error: &EmbedError) {
        if error.kind == EmbedErrorKind::Slow {
            self.slow_queries.fetch_add(1, Ordering::Relaxed);
        }
        match error.kind {
            EmbedErrorKind::Down => self.down(error),
            // A long query may be refused, and the next one accepted.
            EmbedErrorKind::Refused => return self.note(error),
            // The query may be the cause, or a long request for packages. The queue finds out.
            _ => self.note(error),
        }
        self.state.lock().paused = Some((Instant::now() + PAUSE, error.clone()));
        self.changed.notify_one();
    }

    pub(super) fn down(&self, error: &EmbedError) {
        self.note(error);
        let was = std::mem::replace(&mut self.state.lock().contact, Contact::Down);
        if was != Contact::Down {
            tracing::warn!(
                "the embeddings server cannot be used, so searches are by words alone: {error}"
            );
        }
    }

    /// Counts a failure and keeps it for the operator.
    pub(super) fn note(&self, error: &EmbedError) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        let at = Timestamp::emit(accord_system::now());
        self.state.lock().last_error = Some((at, error.to_string()));
    }
}
