//! The registry of failure codes. A code has one entry, from which its type, page, lists and HTTP
//! status are made. Only [`Failure::body`] makes the error body of a protocol.
//!
//! Invariants: a code never changes its meaning or its category, a wrong one is retired and
//! replaced; a reader accepts unknown codes ([`WireCode`]).

mod failure;
mod pages;
mod registry;
mod union;

use crate::wire::Extensible;
use crate::wire_enum;

pub use failure::{Exchange, Failure};
pub use pages::{index, page, page_name, properties};
pub use registry::Code;
pub use union::{Policy, Union, unions};

/// A failure code as a reader gets it.
pub type WireCode = Extensible<Code>;

wire_enum! {
    /// The protocol that defines a code.
    pub enum Protocol("Protocol", closed) {
        /// Accord itself: input and output, canonical JSON, the wire, the kit.
        Accord = "accord",
        /// ALX 1.1: envelopes, events, Knowledge Blocks.
        Alx = "alx",
        /// The Agentic Protocol 0.1: packages, facts, sessions.
        Agentic = "agentic",
        /// AgentXchain v7: governed runs.
        Xchain = "agentxchain",
        /// AOF/1: tasks.
        Aof = "aof",
        /// ggui: live sessions.
        Ggui = "ggui",
    }
}

impl Protocol {
    /// Its name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Accord => "Accord",
            Self::Alx => "ALX 1.1",
            Self::Agentic => "Agentic Protocol 0.1",
            Self::Xchain => "AgentXchain v7",
            Self::Aof => "AOF/1",
            Self::Ggui => "ggui",
        }
    }

    /// Whether its error bodies name the field, and have the Agentic codes for common refusals.
    pub const fn has_agentic_errors(self) -> bool {
        matches!(self, Self::Agentic | Self::Aof | Self::Ggui)
    }
}

wire_enum! {
    /// The stable category of a failure. It is the `error.type` of the ALX envelope.
    pub enum Category("ErrorType", closed) {
        /// The caller is unknown, or lacks permission.
        Auth = "auth",
        /// The request waits for a decision.
        Approval = "approval",
        /// The request was valid, and executing it failed.
        Execution = "execution",
        /// The request, or a document in it, is not valid.
        Validation = "validation",
        /// What the request names does not exist.
        NotFound = "not_found",
    }

    /// When a request that failed may be sent again.
    pub enum RetryClass("RetryClass", closed) {
        /// After the credentials have changed.
        AfterCredentials = "after_credentials",
        /// After the request, or what it depends on, has changed.
        AfterChange = "after_change",
        /// Unchanged, after a growing wait.
        Backoff = "backoff",
        /// Not at all.
        Never = "never",
        /// The code is unknown: assume that the request was executed.
        Conservative = "conservative",
    }
}
