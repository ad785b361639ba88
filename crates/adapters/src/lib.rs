//! Accord's own side of the conformance cases: from a case's abstract operation to the code that
//! users run, and back to an outcome that the kit compares.
//!
//! An adapter decides nothing. It reads the arguments, calls the crate that owns the behaviour, and
//! writes down what came back. What a case asks for and Accord does not have is `not_implemented`;
//! a case that cannot be understood is an `error`; neither is ever a pass.
//!
//! ```
//! use accord_contract::fixture::Status;
//!
//! let adapter = accord_adapters::adapter("alx").expect("Accord implements ALX");
//! let case = serde_json::json!({
//!     "protocol": "alx",
//!     "input": {"operation": "version_relation", "args": {"ours": "1.1", "theirs": "1.2"}},
//!     "expected": {"result": "ok", "relation": "minor_newer"}
//! });
//! assert_eq!(adapter.answer_case(&case).status, Status::Pass);
//! ```

pub mod agentxchain;
pub mod alx;
pub mod aof;
mod call;
#[cfg(feature = "faults")]
pub mod faults;
pub mod ggui;
mod serve;

pub use call::{BadCall, Call};
pub(crate) use call::{Outcome, Stop};
pub use serve::{Adapter, Answered, Reply, adapter, protocols};
