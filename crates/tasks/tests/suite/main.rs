//! The tests of the services for tasks.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at real files and stop at the first surprise"
)]

mod commits;
mod crashes;
mod polling;
mod support;
