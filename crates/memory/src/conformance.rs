//! What this host says that it can do.

use accord_memory_core::conformance::{Capability, Conformance, Level};

use super::Memory;

impl Memory {
    /// What this host says that it can do: what is loaded, and nothing else.
    ///
    /// Clauses: AGENTIC-R-124.
    pub fn conformance(&self) -> Conformance {
        let options = self.options();
        let mut has = vec![Capability::KeywordSearch, Capability::Realtime];
        if options.blobs.is_some() {
            has.push(Capability::BlobStorage);
        }
        if options.embedder.is_some() {
            has.extend([Capability::SemanticSearch, Capability::HybridSearch]);
        }
        Conformance::new(Level::L3, &has, "accord", env!("CARGO_PKG_VERSION"))
    }
}
