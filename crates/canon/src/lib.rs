//! Canonical JSON in named profiles, digests and content ids.
//!
//! The same document must give the same bytes on every machine and in every release, because those
//! bytes are hashed into identities that outlive both. So this crate reads JSON text itself, in one
//! pass. It refuses everything that two readers could understand differently, and writes the
//! canonical form directly from the text without building a tree.
//!
//! Invariants:
//! - canonical output, canonicalised again, gives itself;
//! - the order in which a document names its members never matters;
//! - a refusal names its reason and the JSON pointer of the place, and yields no bytes;
//! - a reused [`Canonicalizer`] does not allocate per key.
//!
//! ```
//! use accord_canon::{Hash, Profile, canonicalize, hash_tagged};
//!
//! let canonical = canonicalize(Profile::Alx, br#"{"b": 1.0, "a": [true]}"#)?;
//! assert_eq!(canonical, br#"{"a":[true],"b":1}"#);
//! let digest = hash_tagged(Hash::Keccak256, "KB_V1", &canonical);
//! assert_eq!(digest.prefixed().len(), "0x".len() + 64);
//! assert!(canonicalize(Profile::Alx, br#"{"a": 1, "a": 2}"#).is_err());
//! # Ok::<(), accord_canon::CanonError>(())
//! ```

#![warn(missing_docs)]

mod canonicalizer;
mod cid;
mod digest;
mod error;
mod json;
mod locate;
mod number;
mod order;
mod profile;
mod projection;
mod scan;
mod text;

pub use canonicalizer::{Canonicalizer, canonicalize};
pub use cid::raw_sha256_cid;
pub use digest::{
    Digest, DigestError, Hash, hash_tagged, hmac_sha256, keccak256, sha256, sha256_parts,
};
pub use error::{CanonError, Refusal, shorten_path};
pub use json::read;
pub use locate::{escape_segment, unescape_segment};
pub use order::{KeyOrder, compare_strings};
pub use profile::{MAX_DEPTH, Nulls, Numbers, Profile};
pub use projection::{Part, Projection};
