//! The routes of tasks, a file each for what belongs together.
//!
//! A route binds an operation of [`accord_tasks_core::operations`] to its service in
//! [`accord_tasks`]. `operation` has the one way that requests take.

mod changes;
mod messages;
mod operation;
mod outputs;
mod read;
mod requests;
mod tree;
mod work;

use crate::Route;

/// Every route, file by file.
pub fn routes() -> Vec<Route> {
    let files = [
        changes::routes(),
        read::routes(),
        outputs::routes(),
        work::routes(),
        tree::routes(),
        messages::routes(),
    ];
    files.into_iter().flatten().collect()
}
