//! What an edge sends to its hub, and what the hub applies. Pure: the edge and the hub read and
//! write what is decided here.
//!
//! * [`Outbox`]: which entries are new, which are sent next, which may be forgotten.
//! * [`intake`]: which entries of a request the hub applies.
//! * [`evidence`]: what of a change leaves the machine, within limits and without credentials.
//! * [`decision`]: what a hub may decide, and how far a decision can go.
//! * [`inbox`]: what waits at an edge, for a person at the hub.
//! * [`run_after`], [`run_of_state`]: what a governed repository says about its run.
//! * [`output`]: what agents print while they work, in pieces.
//! * [`Hidden`]: the names that no text has.
//!
//! Invariants:
//! - the numbers of an outbox have no gaps and are never used again;
//! - what has an id at its source is in the outbox once;
//! - the hub applies each number once and in order, whatever is sent again, and whichever of the
//!   two is restored or killed; a gap is applied only if the edge names it.

pub mod decision;
pub mod evidence;
pub mod inbox;
mod intake;
mod outbox;
pub mod output;
mod pattern;
mod plain;
mod record;
mod redact;
mod run;

pub use intake::{Intake, check_numbers, intake};
pub use outbox::{Batch, Found, Outbox, Waiting, digest};
pub use pattern::Patterns;
pub use plain::Hidden;
pub use record::EdgeRecord;
pub use redact::redact;
pub use run::{run_after, run_of_state};
