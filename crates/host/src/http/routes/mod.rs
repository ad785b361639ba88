//! The routes of the protocol: a file each for what belongs together, with the handlers that turn
//! requests into calls of [`Memory`](accord_memory::Memory) and its answers into responses.

mod answer;
mod ask;
mod blobs;
mod briefing;
mod bundles;
mod events;
mod export;
mod facts;
mod import;
mod lifecycle;
mod packages;
mod progress;
mod projects;
mod questions;
mod sessions;
mod verify;

use super::table::Route;

pub use self::answer::{NEW_PROJECT, SUPERSEDED_BY};
pub(crate) use self::ask::{InProject, PathId, Query, check_query};

/// Every route, file by file.
///
/// Clauses: AGENTIC-R-110.
pub(super) fn all() -> Vec<Route> {
    [
        packages::routes(),
        questions::routes(),
        lifecycle::routes(),
        facts::routes(),
        projects::routes(),
        sessions::routes(),
        bundles::routes(),
        export::routes(),
        import::routes(),
        events::routes(),
        blobs::routes(),
        verify::routes(),
    ]
    .concat()
}
