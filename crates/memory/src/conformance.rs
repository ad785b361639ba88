//! The conformance document of this host.

use accord_memory_core::conformance::{Capability, Conformance, Level};

use super::Memory;

impl Memory {
    /// The conformance document of this host. It lists only capabilities that work at the moment.
    /// Clauses: AGENTIC-R-124.
    pub async fn conformance(&self) -> Conformance {
        let options = self.options();
        let mut has = vec![Capability::KeywordSearch, Capability::Realtime];
        if options.blobs.is_some() {
            has.push(Capability::BlobStorage);
        }
        if let Some(embedder) = &options.embedder
            && embedder.is_usable().await
        {
            has.extend([Capability::SemanticSearch, Capability::HybridSearch]);
        }
        Conformance::new(Level::L3, &has, "accord", env!("CARGO_PKG_VERSION"))
    }
}
