//! Accord's own routes: keys, maintenance, and information about the server.

mod about;
mod ids;
mod keys;
mod upkeep;

use super::table::Route;

/// Every route, file by file.
pub(super) fn all() -> Vec<Route> {
    let files: [fn() -> Vec<Route>; 4] = [keys::routes, ids::routes, upkeep::routes, about::routes];
    files.into_iter().flat_map(|routes| routes()).collect()
}
