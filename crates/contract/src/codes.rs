//! The registry of failure codes.
//!
//! One line of the registry declares a code; its type, its documentation page, its
//! place in the lists and its HTTP status come from there. A [`Failure`] is a code
//! with what happened this time, and [`Failure::body`] is the one place that turns it
//! into the error body of a protocol.
//!
//! Invariants:
//! * A code never changes its meaning or its category. A wrong one is retired and
//!   replaced by a new one.
//! * A reader of codes lives with those that it does not know ([`WireCode`]).

mod failure;
mod pages;
mod registry;
mod union;

use crate::wire::Extensible;
use crate::wire_enum;

pub use failure::{Exchange, Failure};
pub use pages::{index, page, page_name};
pub use registry::Code;
pub use union::{Policy, Union, unions};

/// A failure code as a reader meets it.
pub type WireCode = Extensible<Code>;

wire_enum! {
    /// Who defined a code.
    pub enum Protocol("Protocol", closed) {
        /// Accord itself: input and output, canonical JSON, the wire, the kit.
        Accord = "accord",
        /// ALX 1.1: envelopes, events, Knowledge Blocks.
        Alx = "alx",
        /// The Agentic Protocol 0.1: packages, facts, sessions.
        Agentic = "agentic",
        /// AgentXchain v7: governed runs.
        Xchain = "agentxchain",
    }
}

wire_enum! {
    /// The stable category of a failure. It is the `error.type` of the ALX envelope.
    pub enum Category("ErrorType", closed) {
        /// Who asks is not known, or may not.
        Auth = "auth",
        /// The request waits for a decision.
        Approval = "approval",
        /// The request was sound and carrying it out failed.
        Execution = "execution",
        /// The request, or a document in it, is not sound.
        Validation = "validation",
        /// What the request names is not there.
        NotFound = "not_found",
    }
}

wire_enum! {
    /// When a request that failed may be sent again.
    pub enum RetryClass("RetryClass", closed) {
        /// After the credentials have changed.
        AfterCredentials = "after_credentials",
        /// After the request, or what it depends on, has changed.
        AfterChange = "after_change",
        /// Unchanged, after a wait that grows.
        Backoff = "backoff",
        /// Not at all.
        Never = "never",
        /// The code is not known: as if the worst were true.
        Conservative = "conservative",
    }
}
