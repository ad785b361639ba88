//! The door of tasks: the routes and the MCP tools of AOF/1, and which folder holds the tasks of a
//! project.
//!
//! A route binds an operation of [`accord_tasks_core::operations`] to its service in
//! [`accord_tasks`]; a tool is made from the same operations. Nothing here opens the store.

#![expect(clippy::disallowed_methods, reason = "it opens the folders of task trees")]

mod http;
mod markdown;
mod tools;
mod trees;

use std::ops::Deref;
use std::sync::Arc;

use accord_base::ProjectId;
use accord_contract::Failure;
use accord_serving::{Serving, table};
use futures_util::future::BoxFuture;

pub use self::http::routes;
pub use self::tools::TOOLSET;
pub use self::trees::{PROJECTS, TaskTrees, links};

/// Checks that a project accepts changes. Returns whether it exists.
pub type CheckProject =
    Arc<dyn Fn(ProjectId) -> BoxFuture<'static, Result<bool, Failure>> + Send + Sync>;

/// The state of the handlers. A clone is the same.
#[derive(Clone)]
pub struct TasksDoor {
    serving: Serving,
    trees: TaskTrees,
    /// None on a host without the store of its folder: it knows no projects, and accepts all.
    check_project: Option<CheckProject>,
}

/// The context of a request.
type Context = accord_serving::Context<TasksDoor>;

/// A route of tasks.
pub type Route = table::Route<TasksDoor>;

impl TasksDoor {
    /// The door to some trees.
    pub fn new(serving: Serving, trees: TaskTrees, check_project: Option<CheckProject>) -> Self {
        Self { serving, trees, check_project }
    }

    fn trees(&self) -> &TaskTrees {
        &self.trees
    }

    /// Whether a scheduler makes tasks ready. Only a host with a store has one.
    fn has_scheduler(&self) -> bool {
        self.check_project.is_some()
    }

    /// Whether the project exists, as far as this host knows.
    async fn check_project(&self, project: &ProjectId) -> Result<bool, Failure> {
        match &self.check_project {
            Some(check) => check(project.clone()).await,
            None => Ok(true),
        }
    }
}

impl Deref for TasksDoor {
    type Target = Serving;

    fn deref(&self) -> &Serving {
        &self.serving
    }
}
