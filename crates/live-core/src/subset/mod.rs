//! Whether one schema accepts only what another accepts.
//!
//! The comparison is the protocol's: it knows types, properties, required members, additional
//! properties and items. It ignores bounds, patterns and formats, and gives up at `$ref`, `allOf`,
//! `oneOf`, `anyOf`, `enum` and `const`, unless both schemas are equal.

mod compare;
mod compat;

pub use compare::{Failure as SubsetFailure, Reason, failures};
pub use compat::{Finding, FindingKind, Policy, check_contract, check_tools};
