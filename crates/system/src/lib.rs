//! The wall clock, random bytes, the memory allocator and the tasks of the programs.
//!
//! This is the only crate that reads the clock and random bytes. Pure crates get both as arguments;
//! their callers take them from here.
//!
//! Durations within one process are measured with [`std::time::Instant`], not with this clock: a
//! wall clock can jump.
//!
//! ```
//! let token = accord_system::random_hex::<16>();
//! assert_eq!(token.len(), 32);
//! assert!(accord_system::now().unix_seconds() > 1_700_000_000);
//! ```

#![expect(clippy::disallowed_methods, reason = "reading the wall clock is what this crate is for")]

mod allocator;
mod boot;
mod clock;
mod monotonic;
mod random;
mod step;
#[cfg(feature = "tasks")]
mod task;

pub use allocator::Allocator;
pub use boot::boot_id;
pub use clock::{now, uptime};
pub use monotonic::Clock;
pub use random::{random, random_hex};
pub use step::durable_step;
#[cfg(feature = "tasks")]
pub use task::{Blocking, spawn, spawn_blocking};
