//! The tests of the services for tasks.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at real files and stop at the first surprise"
)]

mod adopting;
mod attacks;
mod commits;
mod crashes;
mod edits;
mod linting;
mod polling;
mod reading;
mod support;
mod watching;
