//! ALX 1.1: the version, the envelopes and messages, events and retries.
//!
//! Invariants (the ten wire guarantees of the protocol):
//! * WG-01: the shapes of this module are the only ones; every surface uses them.
//! * WG-02: every message that answers a request has `ok`, `correlationId` and
//!   `protocol`; [`envelope!`](crate::envelope) declares them.
//! * WG-03, WG-04: an emitter writes only the listed event types.
//! * WG-05: a [`Failure`](crate::codes::Failure) is written with a code of the registry in the
//!   category of the contract, which never changes. [`ErrorEnvelope::new`] accepts any code, to
//!   pass on the answer of another server.
//! * WG-06: every canonical member has a meaning token in the contract snapshot.
//! * WG-07: unknown members and capabilities are tolerated, and survive.
//! * WG-08: a failure cannot have `ok: true`, and a success cannot have `ok: false`.
//! * WG-09, WG-10: `run.failed` carries `ok: false` and `run.completed` `ok: true`.

mod capabilities;
mod envelope;
mod event_stream;
mod events;
mod message_name;
mod retry;
mod session;
mod snapshot;
mod solve;
mod success;
mod version;

pub use capabilities::{Capabilities, Capability, known_capabilities};
pub use envelope::{Envelope, ErrorBody, ErrorEnvelope, ProtocolInfo};
pub use event_stream::{
    EventReport, Reading, RefusedEvent, SkippedEvent, Step, Stream, emit, read, read_one,
};
pub use events::{
    RunEvent, RunEventType, SessionTimelineEvent, SessionTimelineEventType, StreamEvent,
};
pub use message_name::{Decoded, MessageName};
pub use retry::{Action, Decision, Wait, decide};
pub use session::{
    SessionListEnvelope, SessionStatus, SessionStatusEnvelope, SessionSummary,
    SessionTimelineEnvelope, TimelineEntry,
};
pub use snapshot::{HASH_SCOPE, snapshot};
pub use solve::{Intent, SolveOptions, SolveRequest, SolveResponse};
pub use version::{Relation, Version, relation};

/// The implemented version of ALX. Clauses: ALX-VERSION-CONSTANT.
pub const ALX_PROTOCOL_VERSION: &str = "1.1";

/// The prefix of the hashed bytes of a Knowledge Block. Clauses: ALX-KB-EXPORT.
pub const KB_DOMAIN_PREFIX: &str = DOMAIN_TAGS.KB;

macro_rules! domain_tags {
    ($($name:ident)+) => {
        /// The domain tags: each separates the hashes of one kind of thing and one version of its
        /// rules. Clauses: ALX-ID-DOMAIN-TAGS.
        pub const DOMAIN_TAGS: DomainTags =
            DomainTags { $($name: concat!(stringify!($name), "_V1"),)+ };

        /// The names of the domain tags, spelled as the protocol exports them.
        #[expect(non_snake_case, reason = "the protocol exports DOMAIN_TAGS.KB")]
        #[expect(missing_docs, reason = "each name says which kind of thing it tags")]
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub struct DomainTags {
            $(pub $name: &'static str,)+
        }

        impl DomainTags {
            /// Every tag with its name.
            pub fn entries(&self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($name), self.$name)),+]
            }
        }
    };
}

domain_tags! {
    KB TASK TRANSITION CONSTRAINT TOOL VALIDATION RESOLVER STATE LEAF EMPTY_TREE
}
