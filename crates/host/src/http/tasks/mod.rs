//! The routes of tasks, a file each for what belongs together.
//!
//! A route binds an operation of [`accord_tasks_core::operations`] to its service in
//! [`accord_tasks`]. `operation` has the one way that requests take.

mod ask;
mod changes;
mod messages;
mod operation;
mod read;
mod tree;
mod work;

use super::Route;

pub(super) use self::ask::{ABOUT_ACTOR, ABOUT_DOOR, ACTOR, DOOR, Who};

/// Every route, file by file.
pub(super) fn routes() -> Vec<Route> {
    let files =
        [changes::routes(), read::routes(), work::routes(), tree::routes(), messages::routes()];
    files.into_iter().flatten().collect()
}
