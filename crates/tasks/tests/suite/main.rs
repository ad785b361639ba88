//! The tests of the services for tasks.

mod commits;
mod support;
