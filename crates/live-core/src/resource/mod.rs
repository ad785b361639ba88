//! `ui://` resources: what a host reads to mount a session.
//!
//! * [`Locator`]: the address, `ui://ggui/render/` with the session and, if they are named, the
//!   key of its blueprint and the epoch.
//! * [`Slice`]: the document `ai.ggui/render` that a host mounts.
//! * [`read`]: a mountable slice, or one typed error.
//!
//! Invariant: a read that is refused and a read of a session that does not exist have the same
//! answer, byte for byte.

mod locator;
mod read;
mod slice;

pub use locator::{Locator, LocatorError};
pub use read::{ReadCode, ReadFacts, Readable, Substrate, read};
pub use slice::{Code, Delivery, Slice};
