//! Accord's own routes: keys, maintenance, removal of projects, information about the server.

mod about;
mod ids;
mod keys;
mod projects;
mod upkeep;

use super::table::Route;

/// Every route, file by file.
pub(super) fn all() -> Vec<Route> {
    let files: [fn() -> Vec<Route>; 5] =
        [keys::routes, ids::routes, projects::routes, upkeep::routes, about::routes];
    files.into_iter().flat_map(|routes| routes()).collect()
}
