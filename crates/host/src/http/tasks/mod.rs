//! The routes of tasks, a file each for what belongs together.
//!
//! A route is an entry that names an operation of [`accord_tasks`]. `operation` has the one handler
//! that serves them; it answers with the answer of the operation in an ALX envelope, as `result`.
//! The operations decide everything else.

mod answers;
mod ask;
mod changes;
mod messages;
mod operation;
mod read;
mod tree;
mod work;

use accord_contract::codes::{Code, Protocol};

use super::table::Route;

pub(super) use self::ask::{ABOUT_ACTOR, ABOUT_DOOR, ACTOR, DOOR, Who};

/// The tasks of a project.
pub(super) const TASKS: &str = "/accord/v1/projects/{project_id}/tasks";

/// Every route, file by file.
pub(super) fn routes() -> Vec<Route> {
    let files =
        [changes::routes(), read::routes(), work::routes(), tree::routes(), messages::routes()];
    let routes = files.into_iter().flatten();
    routes.map(|route| route.of(Protocol::Aof).refuses(COMMON)).collect()
}

/// The failure codes of every route of tasks. A read can settle what others changed.
const COMMON: &[Code] = &[
    Code::AofTaskTreeUnavailable,
    Code::AofTaskChangeUnconfirmed,
    Code::AofProjectManifestInvalid,
];

/// The additional failure codes of routes that change something.
const OF_CHANGES: &[Code] = &[
    Code::AgenticUnauthorized,
    Code::AofPersonRequired,
    Code::XchainNotForWorkers,
    Code::AgenticProjectNotFound,
    Code::AgenticProjectArchived,
];

/// The failure codes of routes about one task.
const OF_TASK: &[Code] = &[
    Code::AofNoTaskTree,
    Code::AofTaskNotFound,
    Code::AofAmbiguousTaskId,
    Code::AofTaskFileInvalid,
];
