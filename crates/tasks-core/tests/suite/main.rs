//! The tests of the rules about tasks.

mod board;
mod files;
mod ids;
mod messages;
mod routing;
mod support;
mod yaml;
