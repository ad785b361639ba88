//! Live sessions over Accord's own routes: what `accord live` uses.
//!
//! The channel and its fallbacks are ggui's. These routes are for people and tools with a key or
//! the socket of the data folder. They answer in ALX envelopes, as `result`.

mod answer;
mod ask;
mod read;
mod watch;

use accord_base::ProjectId;
use accord_contract::{Code, Failure};
use accord_live_core::AppId;

use crate::Route;
use accord_serving::operation::{serve, serve_response};

pub fn routes() -> Vec<Route> {
    vec![
        serve(read::sessions),
        serve(read::asks),
        serve(read::answers),
        serve(read::show),
        serve(read::events),
        serve(answer::answer),
        serve_response(ask::ask),
        serve_response(watch::watch),
    ]
}

/// The app of a project: they have the same id.
fn app_of(project: &ProjectId) -> Result<AppId, Failure> {
    AppId::new(project.as_str())
        .map_err(|error| Failure::new(Code::GguiAppMismatch, error.to_string()))
}
