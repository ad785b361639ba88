//! The doors of live sessions: the channel (`/ws`) and, for clients that cannot open it, routes
//! over the same data.
//!
//! These routes have the bodies of ggui. Their handlers check Origin and credentials themselves
//! (`access`), because a token in the query is a credential there.

mod access;
mod code;
mod events;
mod fallback;
mod health;
mod polls;
mod socket;
mod state;
mod stream;
mod upgrade;
mod web_socket;

use super::table::Route;

pub(super) fn routes() -> Vec<Route> {
    let mut routes =
        vec![upgrade::route(), state::route(), events::route(), stream::route(), code::route()];
    routes.extend(health::routes());
    routes
}
