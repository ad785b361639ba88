//! The status of search by meaning, for the operator.

use std::sync::atomic::Ordering;

use accord_contract::codes::Failure;
use accord_contract::time::Timestamp;
use accord_contract::wire::Object;
use accord_contract::{message, wire_enum};

use super::Embedder;
use super::health::Contact;
use crate::Memory;

wire_enum! {
    /// Whether the embeddings server works.
    pub enum EmbeddingState("EmbeddingState", closed) {
        /// It was not asked yet.
        Unknown = "unknown",
        /// The last request succeeded.
        Up = "up",
        /// It cannot be used. Searches are by words alone.
        Down = "down",
    }
}

message! {
    /// The status of search by meaning.
    pub struct EmbeddingStatus("EmbeddingStatus", open) {
        /// The model.
        required model: String = "model", "name";
        /// Whether the server works.
        required state: EmbeddingState = "state", "state";
        /// Packages that wait for their vectors.
        required waiting: u64 = "waiting", "count";
        /// Packages that got vectors since the start.
        required made: u64 = "made", "count";
        /// Failed requests since the start.
        required failures: u64 = "failures", "count";
        /// The last failure. Only for keys with `admin`.
        optional last_error: String = "last_error", "text-for-people";
        /// When it happened.
        optional last_error_at: Timestamp = "last_error_at", "time:rfc-3339";
    }
}

impl Memory {
    /// The status of search by meaning, if there is an embedder.
    pub async fn embedding_status(&self) -> Result<Option<EmbeddingStatus>, Failure> {
        let Some(embedder) = &self.options().embedder else {
            return Ok(None);
        };
        let waiting = self.unembedded(embedder).await?;
        Ok(Some(EmbeddingStatus { waiting, ..embedder.status() }))
    }

    /// The number of packages that wait for vectors.
    pub(super) async fn unembedded(&self, embedder: &Embedder) -> Result<u64, Failure> {
        let model = embedder.model().to_owned();
        let dimension = embedder.health.dimension.load(Ordering::Relaxed);
        let dimension = (dimension > 0).then_some(dimension);
        self.read(move |unit| Ok(unit.unembedded_count(&model, dimension)?)).await
    }
}

impl Embedder {
    /// The status, with the number of waiting packages as it was last counted.
    pub fn status(&self) -> EmbeddingStatus {
        let (last_error_at, last_error) = self.health.last_error().unzip();
        EmbeddingStatus {
            model: self.model.clone(),
            state: match self.health.contact() {
                Contact::Unknown => EmbeddingState::Unknown,
                Contact::Up => EmbeddingState::Up,
                Contact::Down => EmbeddingState::Down,
            },
            waiting: self.health.waiting.load(Ordering::Relaxed),
            made: self.health.made.load(Ordering::Relaxed),
            failures: self.health.failures.load(Ordering::Relaxed),
            last_error,
            last_error_at,
            extra: Object::new(),
        }
    }
}
