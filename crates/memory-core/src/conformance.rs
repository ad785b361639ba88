//! The conformance document of a server.

use accord_contract::{Code, Failure, Object, message, wire_enum};

use crate::package::{PROTOCOL_VERSION, Version};

wire_enum! {
    /// The conformance levels.
    pub enum Level("ConformanceLevel", closed) {
        /// Reading.
        L0 = "L0",
        /// Reading and deposits.
        L1 = "L1",
        /// Also facts.
        L2 = "L2",
        /// Also reviews.
        L3 = "L3",
    }

    /// The optional capabilities.
    pub enum Capability("ContextCapability", closed) {
        /// Search by meaning and by words.
        HybridSearch = "hybrid_search",
        /// Search by meaning.
        SemanticSearch = "semantic_search",
        /// Event streams.
        Realtime = "realtime",
        /// Deliverables stored apart from packages.
        BlobStorage = "blob_storage",
        /// Search by words.
        KeywordSearch = "x-keyword_search",
    }
}

message! {
    // Clauses: AGENTIC-R-115, AGENTIC-R-116.
    /// The conformance document of a server.
    pub struct Conformance("ConformanceDescriptor", open) {
        /// The version of the protocol.
        required protocol_version: Version = "protocol_version", "protocol-version";
        /// The conformance level.
        required conformance_level: Level = "conformance_level", "conformance-level";
        /// The capabilities beyond that level.
        required capabilities: Capabilities = "capabilities", "capability-advertisement";
        /// Who made the server.
        required implementation: Implementation = "implementation", "implementation";
    }

    /// The capabilities of a server beyond its level.
    pub struct Capabilities("ContextCapabilities", open) {
        /// Search by meaning and by words.
        required hybrid_search: bool = "hybrid_search", "capability";
        /// Search by meaning.
        required semantic_search: bool = "semantic_search", "capability";
        /// Event streams.
        required realtime: bool = "realtime", "capability";
        /// Deliverables stored apart from packages.
        required blob_storage: bool = "blob_storage", "capability";
        /// Search by words.
        required keyword_search: bool = "x-keyword_search", "capability";
    }

    /// Who made a server.
    pub struct Implementation("Implementation", open) {
        /// Its name.
        required name: String = "name", "text-for-people";
        /// Its version.
        required version: String = "version", "software-version";
    }
}

impl Conformance {
    /// The document of an implementation of this name and version.
    pub fn new(level: Level, has: &[Capability], name: &str, version: &str) -> Self {
        let has = |capability| has.contains(&capability);
        Self {
            protocol_version: Version,
            conformance_level: level,
            capabilities: Capabilities {
                hybrid_search: has(Capability::HybridSearch),
                semantic_search: has(Capability::SemanticSearch),
                realtime: has(Capability::Realtime),
                blob_storage: has(Capability::BlobStorage),
                keyword_search: has(Capability::KeywordSearch),
                extra: Object::new(),
            },
            implementation: Implementation {
                name: name.into(),
                version: version.into(),
                extra: Object::new(),
            },
            extra: Object::new(),
        }
    }
}

/// The refusal of a pull that needs a missing capability.
/// Clauses: AGENTIC-R-076.
pub fn cannot_search(missing: Capability) -> Failure {
    lacking(Code::AgenticSearchNotSupported, missing)
}

/// The refusal of a pull that needs a capability which does not work at the moment.
pub fn cannot_search_now(missing: Capability) -> Failure {
    let message = "no vector of the query can be made at the moment: the embeddings server \
                   cannot be used";
    Failure::new(Code::AgenticSearchUnavailable, message)
        .with("missing_capability", missing.as_str())
        .suggesting("search without the parameter search, or with search=keyword")
}

/// The refusal of any other request that needs a missing capability.
/// Clauses: AGENTIC-R-117.
pub fn not_implemented(missing: Capability) -> Failure {
    lacking(Code::AgenticNotImplemented, missing)
}

fn lacking(code: Code, missing: Capability) -> Failure {
    let message = format!("this server lacks {missing} of protocol {PROTOCOL_VERSION}");
    Failure::new(code, message).with("missing_capability", missing.as_str())
}
