//! The tests of the rules about tasks.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod board;
mod briefings;
mod files;
mod ids;
mod messages;
mod plans;
mod retries;
mod routing;
mod support;
mod verbs;
mod yaml;
