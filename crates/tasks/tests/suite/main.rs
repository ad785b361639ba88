//! The tests of the services for tasks.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at real files and stop at the first surprise"
)]

mod adopting;
mod attacks;
mod checks;
mod claims;
mod clock;
mod commits;
mod copies;
mod crashes;
mod decisions;
mod edits;
mod full_disk;
mod guide;
mod kills;
mod leading;
mod linting;
mod lists;
mod memory;
mod messages;
mod notifying;
mod obstacles;
mod older_trees;
mod polling;
mod processes;
mod reading;
mod removed;
mod review;
mod run_ends;
mod schemas;
mod settings;
mod sharing;
mod support;
mod uploads;
mod verbs;
mod watching;
mod workers;
