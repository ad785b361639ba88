//! `ui://` resources: what a host reads to mount a session.
//! Invariant: a read that is refused and a read of a session that does not exist have the same
//! answer, byte for byte.

mod locator;
mod read;
mod slice;

pub use locator::{Locator, LocatorError, SHELL};
pub use read::{ReadCode, ReadFacts, Readable, Substrate, read};
pub use slice::{Code, ContextSlot, Delivery, Slice};
