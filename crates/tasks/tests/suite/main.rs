//! The tests of the services for tasks.

mod commits;
mod crashes;
mod polling;
mod support;
