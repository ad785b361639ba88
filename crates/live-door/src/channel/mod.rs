//! The doors of live sessions: the channel (`/ws`) and, for clients that cannot open it, routes
//! over the same data.
//!
//! These routes have the bodies of ggui. Their handlers check Origin and credentials themselves
//! (`access`), because a token in the query is a credential there.

mod access;
mod code;
mod events;
mod fallback;
mod frame_edges;
mod health;
mod polls;
mod socket;
mod state;
mod stream;
mod upgrade;
mod web_socket;

use accord_live_core::operations::channel::{self, OpenChannel};
use accord_live_core::refuse;

pub(crate) use self::fallback::of_session;
pub(crate) use self::stream::event;
use crate::Route;
use accord_serving::Reply;

/// The path of a route beside the channel that names no session.
pub const WITHOUT_SESSION: &str = "/api/sessions//{route}";

/// Clauses: GGUI-HTTP-AUTH.
pub async fn without_session() -> Reply {
    Err(refuse::invalid_message("the path names no session").into())
}

pub fn routes() -> Vec<Route> {
    let open = Route::serving::<OpenChannel, _>(upgrade::open).admits_itself(false);
    let others = [
        Route::serving::<channel::ReadState, _>(state::state),
        Route::serving::<channel::ReadLedger, _>(events::events),
        Route::serving::<channel::Follow, _>(stream::follow),
        Route::serving::<channel::ReadCode, _>(code::code),
        Route::serving::<channel::IsAlive, _>(health::alive),
        Route::serving::<channel::ReadHealth, _>(health::health),
        Route::serving::<channel::CheckCredentials, _>(health::auth_check),
    ];
    let others = others.into_iter().map(|route| route.admits_itself(true));
    std::iter::once(open).chain(others).collect()
}
