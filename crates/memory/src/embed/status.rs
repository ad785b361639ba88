//! The status of search by meaning, for the operator.

use std::sync::atomic::Ordering;

use accord_api::operations::upkeep::{EmbeddingState, EmbeddingStatus};
use accord_contract::{Failure, Object};

use super::Embedder;
use super::health::Contact;
use crate::Memory;

impl Memory {
    /// The status of search by meaning, if there is an embedder.
    pub async fn embedding_status(&self) -> Result<Option<EmbeddingStatus>, Failure> {
        let Some(embedder) = &self.options().embedder else { return Ok(None) };
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
