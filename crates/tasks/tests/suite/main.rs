//! The tests of the services for tasks.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at real files and stop at the first surprise"
)]

mod adopting;
mod attacks;
mod clock;
mod commits;
mod crashes;
mod edits;
mod kills;
mod linting;
mod memory;
mod polling;
mod processes;
mod reading;
mod sharing;
mod support;
mod watching;
