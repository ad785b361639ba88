//! Live sessions over Accord's own routes: what `accord live` uses.
//!
//! The channel and its fallbacks are ggui's. These routes are for people and tools with a key or
//! the socket of the data folder. They answer in ALX envelopes, as `result`.

mod answer;
mod envelopes;
mod read;
mod watch;

use accord_base::ProjectId;
use accord_contract::codes::{Code, Failure};
use accord_live_core::AppId;

use crate::http::Route;

/// The live sessions of a project.
const SESSIONS: &str = "/accord/v1/projects/{project_id}/live/sessions";

/// A path below one session.
macro_rules! session {
    () => {
        "/accord/v1/projects/{project_id}/live/sessions/{live_session_id}"
    };
    ($below:literal) => {
        concat!("/accord/v1/projects/{project_id}/live/sessions/{live_session_id}/", $below)
    };
}
use session;

/// Every route, file by file.
pub(in crate::http) fn routes() -> Vec<Route> {
    let files = [read::routes(), answer::routes(), watch::routes()];
    files.into_iter().flatten().collect()
}

/// The app of a project: they have the same id.
///
/// # Errors
/// `APP_MISMATCH` when the id of the project is none of an app.
fn app_of(project: &ProjectId) -> Result<AppId, Failure> {
    AppId::new(project.as_str())
        .map_err(|error| Failure::new(Code::GguiAppMismatch, error.to_string()))
}
