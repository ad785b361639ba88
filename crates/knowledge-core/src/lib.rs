//! Knowledge Blocks: identity, schemas and lineage.
//!
//! A block's identity is a hash over seven of its members in canonical form,
//! under a domain tag that names the rule. The rest of this crate decides whether an envelope is
//! valid: its members, its payload's schema and its lineage.
//!
//! Invariants:
//! - the rule behind a domain tag never changes; another rule has another tag (`identity/` has each
//!   rule with its vectors, and a test checks them);
//! - the received text is hashed, never a value that was parsed and written again;
//! - a refusal has a code, names the member and changes nothing.
//!
//! ```
//! use accord_knowledge_core::{HashOptions, KbHasher};
//!
//! let mut hasher = KbHasher::new(HashOptions::default());
//! let block = br#"{"type": "practice", "domain": "testing", "note": "not hashed"}"#;
//! let kb_hash = hasher.identify(block)?.kb_hash;
//! let same = hasher.identify(br#"{"domain": "testing", "sources": [], "type": "practice"}"#)?;
//! assert_eq!(same.kb_hash, kb_hash);
//! # Ok::<(), accord_knowledge_core::KbError>(())
//! ```

mod derive;
mod envelope;
mod error;
mod hasher;
mod members;
mod payload;
mod registry;
mod rule;
mod sources;
mod verify;

pub use derive::{Derived, Draft, build_derived};
pub use envelope::{DERIVATION_TYPES, TIERS, Validated, validate};
pub use error::KbError;
pub use hasher::{HashOptions, Identified, KbHasher, artifact_hash};
pub use payload::PAYLOAD_TYPES;
pub use registry::{Registered, Registry};
pub use rule::{IDENTITY_RULES, IdentityRule, KB_V1};
pub use sources::SourceMode;
pub use verify::{Check, Verification, verify};
