//! Metrics of the services, which are read when they are requested.

use std::fmt;
use std::sync::{Arc, Weak};

use accord_live_door::metrics::{LiveNumbers, encode};
use accord_memory::{Embedder, EmbeddingState};
use accord_serving::metrics::{counter, gauge};
use accord_store::Engine;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

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
            encode(&mut encoder, &values)?;
        }
        let Some(engine) = self.engine.upgrade() else { return Ok(()) };
        let store = engine.statistics();
        gauge(&mut encoder, "store_jobs_waiting", "Jobs that wait for the store", store.waiting)?;
        counter(&mut encoder, "store_commits", "Commits since the start", store.commits)?;
        counter(&mut encoder, "store_jobs", "Jobs of the store since the start", store.jobs)
    }
}

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
