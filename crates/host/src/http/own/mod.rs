//! Accord's own routes: keys, maintenance, removal of projects, linked task trees, information
//! about the server.

mod about;
mod ids;
mod keys;
mod projects;
mod task_trees;
mod upkeep;

use super::table::Route;

/// Every route, file by file.
pub(super) fn all() -> Vec<Route> {
    let files: [fn() -> Vec<Route>; 6] = [
        keys::routes,
        ids::routes,
        projects::routes,
        task_trees::routes,
        upkeep::routes,
        about::routes,
    ];
    files.into_iter().flat_map(|routes| routes()).collect()
}
