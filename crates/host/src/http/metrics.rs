//! Metrics of the services, which are read when they are requested.

use std::fmt;
use std::sync::{Arc, Weak};

use accord_live::Counts;
use accord_memory::{Embedder, EmbeddingState};
use accord_serving::metrics::{counter, gauge};
use accord_store::Engine;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

/// What is known about live sessions; `None` when the host is closing.
pub(crate) type LiveNumbers = Box<dyn Fn() -> Option<LiveValues> + Send + Sync>;

/// What is known about live sessions.
pub(crate) struct LiveValues {
    /// Open sockets and event streams of sessions.
    pub(crate) sockets: usize,
    /// Those that are subscribed.
    pub(crate) subscribers: usize,
    /// Sessions that have subscribers, or agents that wait.
    pub(crate) sessions: usize,
    /// What happened since the start.
    pub(crate) counts: Counts,
}

/// The values of a host.
pub(crate) struct ServiceValues {
    pub(crate) embedder: Option<Arc<Embedder>>,
    pub(crate) live: LiveNumbers,
    /// Weak: metrics must not keep the store open.
    pub(crate) engine: Weak<dyn Engine>,
}

impl Collector for ServiceValues {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        if let Some(embedder) = &self.embedder {
            embeddings(&mut encoder, embedder)?;
        }
        if let Some(values) = (self.live)() {
            live(&mut encoder, &values)?;
        }
        let Some(store) = self.engine.upgrade().map(|engine| engine.statistics()) else {
            return Ok(());
        };
        gauge(&mut encoder, "store_jobs_waiting", "Jobs that wait for the store", store.waiting)?;
        let counters = [
            ("store_commits", "Commits since the start", store.commits),
            ("store_jobs", "Jobs of the store since the start", store.jobs),
        ];
        for (name, help, value) in counters {
            counter(&mut encoder, name, help, value)?;
        }
        Ok(())
    }
}

/// The metrics of live sessions.
fn live(encoder: &mut DescriptorEncoder<'_>, values: &LiveValues) -> Result<(), fmt::Error> {
    let LiveValues { sockets, subscribers, sessions, counts } = values;
    for (name, help, value) in [
        ("live_sockets", "Open sockets and event streams of live sessions", sockets),
        ("live_subscribers", "Those of them that are subscribed", subscribers),
        ("live_sessions", "Live sessions with subscribers or agents that wait", sessions),
    ] {
        gauge(encoder, name, help, *value)?;
    }
    for (name, help, value) in [
        ("live_actions", "Actions that were recorded since the start", counts.actions),
        ("live_frames", "Frames that subscribers got since the start", counts.frames),
        ("live_slow_subscribers", "Subscribers that ended because they were slow", counts.slow),
    ] {
        counter(encoder, name, help, value)?;
    }
    Ok(())
}

/// The metrics of search by meaning.
fn embeddings(encoder: &mut DescriptorEncoder<'_>, embedder: &Embedder) -> Result<(), fmt::Error> {
    let status = embedder.status();
    let is_up = usize::from(status.state == EmbeddingState::Up);
    gauge(encoder, "embeddings_up", "Whether the embeddings server works", is_up)?;
    let waiting = status.waiting;
    gauge(encoder, "embeddings_waiting", "Packages that wait for their vectors", waiting)?;
    let made = "Packages that got vectors since the start";
    counter(encoder, "embeddings_made", made, status.made)?;
    let failures = "Failed requests to the embeddings server since the start";
    counter(encoder, "embeddings_failures", failures, status.failures)
}

impl fmt::Debug for ServiceValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceValues").finish_non_exhaustive()
    }
}
