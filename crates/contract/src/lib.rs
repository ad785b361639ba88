//! The wire contract: the form of Accord's messages, the failure codes, and the rules for changes
//! between two versions.
//!
//! * [`wire`]: one declaration per message gives its type, its strict reader, its writer, its entry
//!   in a contract snapshot and its JSON Schema.
//! * [`codes`]: the registry of failure codes, and the form of a failure in each protocol.
//! * [`text`]: excerpts for messages, JSON in the form of files, and parts of URLs.
//! * [`time`]: dates, points in time and timestamps, for every protocol.
//! * [`alx`]: the messages, events and retries of ALX 1.1.
//! * [`closest`](mod@closest): suggestions for mistyped names.
//! * [`faults`]: rules that can be made wrong on purpose, for the kit's self-test.
//! * [`fixture`]: the protocol between adapters and the kit.
//! * [`snapshot`]: the contract as one document, made from the types.
//! * [`compat`]: what changed between two such documents, and whether the version
//!   number is honest about it.
//!
//! What nearly every module needs is at the root: [`Code`], [`Failure`], [`Time`], [`Value`].
//!
//! This crate is pure: it reads no clock, file, environment or random source.
//!
//! ```
//! use accord_contract::{Code, Failure, Time};
//!
//! let failure = Failure::new(Code::CanonDuplicateKey, "the key \"a\" is repeated").at("/a");
//! assert_eq!(failure.code.as_str(), "CANON_DUPLICATE_KEY");
//!
//! let time = Time::parse_rfc3339("2026-11-15T17:00:00+01:00").expect("a time");
//! assert_eq!(time.add_seconds(90).to_string(), "2026-11-15T16:01:30.000Z");
//! ```

#![warn(missing_docs)]

pub mod alx;
pub mod closest;
pub mod codes;
pub mod compat;
pub mod faults;
pub mod fixture;
pub mod snapshot;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod time;
pub mod wire;

pub use codes::{Code, Failure, Protocol, WireCode};
pub use time::{Date, Time, Timestamp};
pub use wire::{Extensible, Field, Limits, Object, TextForm, Value, Wire};
