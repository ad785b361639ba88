//! The Agentic Protocol 0.1: its documents and its rules.
//!
//! Documents are read strictly, with all unknown members kept. [`deposit`], [`lifecycle`] and
//! [`fact`] decide about a write, given what is stored; [`bundle`] makes answers of several rows.
//!
//! Nothing here stores anything. A service loads what a decision needs, calls the decision, and
//! writes its result, all within one transaction.
//!
//! Invariants:
//! - a package's text is never written again from a value; its hash is that of its text;
//! - after its deposit only `status` and `review_type` of a package change, and its revision log
//!   has every state;
//! - of the facts of one subject and predicate at most one is current and at most one holds at any
//!   time, and only an invalidation leaves a gap;
//! - times are compared as instants, and their texts are kept;
//! - a refusal has a code and the position of the error, and changes nothing.
//!
//! This crate is pure: the time and random bytes come in as arguments.
//!
//! ```
//! use accord_memory_core::ContentHash;
//!
//! // White space and the order of members do not change a package's hash.
//! let one = ContentHash::of(br#"{"title": "Cart", "tags": []}"#)?;
//! let other = ContentHash::of(br#"{"tags":[],"title":"Cart"}"#)?;
//! assert_eq!(one, other);
//! # Ok::<(), accord_canon::CanonError>(())
//! ```

pub mod bundle;
mod callsign;
pub mod conformance;
pub mod damage;
pub mod deposit;
pub mod event;
pub mod export;
pub mod fact;
mod hash;
mod ids;
pub mod inbox;
pub mod lifecycle;
pub mod limits;
pub mod operations;
pub mod package;
pub mod project;
pub mod query;
mod refuse;
pub mod session;
pub mod sources;
mod text;
mod warning;

use accord_base::{Actor, ActorId, ActorKey, ActorType, Cursor, EventKind, NewEvent, ProjectId};
use accord_base::{ProjectPosition, SessionId};

pub use callsign::callsign;
pub use fact::Fact;
pub use hash::{ContentHash, ContentHashError};
pub use ids::{FactId, PackageId, SHORT_DIGITS, ShortIds};
pub use package::Package;
pub use project::{Project, ProjectPolicy, Writing};
pub use session::Session;
pub use text::compact;
pub use warning::{WARNINGS, Warning};
