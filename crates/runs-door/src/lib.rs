//! The door of governed runs: the routes and the MCP tools of AgentXchain on a host.
//!
//! A repository stays where it is, and is the record of its runs. A route answers from what the
//! repository sent to the host ([`Edges`]), which says as of when. What it does not have is refused
//! with `run_elsewhere`. A repository that a person opened to the host is read itself.
//!
//! No route and no tool here decides anything that waits for a person.

mod elsewhere;
mod find;
mod here;
mod http;
mod tools;

use std::ops::Deref;
use std::sync::Arc;

use accord_api::operations::edges::{Edge, EdgeItem};
use accord_base::{Caller, EdgeId, ProjectId};
use accord_contract::Failure;
use accord_serving::{Serving, table};
use futures_util::future::BoxFuture;

pub use self::http::routes;
pub use self::tools::TOOLSET;

/// What a host has of the repositories that are joined to it.
pub trait Edges: Send + Sync {
    /// The edges of a project, for a caller who may read it.
    fn edges(&self, caller: &Caller, project: &ProjectId) -> Answer<Vec<Edge>>;

    /// An edge, with its requests and results as it sent them.
    fn edge(&self, caller: &Caller, at: (&ProjectId, &EdgeId)) -> Answer<(Edge, Vec<EdgeItem>)>;

    /// The incarnation of the store of the host, if an edge ever asked for it.
    fn incarnation(&self) -> Answer<Option<String>>;

    /// The commits to a project from now on.
    fn commits(&self, project: &ProjectId) -> Box<dyn Commits>;
}

/// Commits to a project.
pub trait Commits: Send {
    /// Waits for the next one.
    fn next(&mut self) -> BoxFuture<'_, ()>;
}

/// What the host answers.
pub type Answer<T> = BoxFuture<'static, Result<T, Failure>>;

/// The state of the handlers. A clone is the same.
#[derive(Clone)]
pub struct RunsDoor {
    serving: Serving,
    edges: Arc<dyn Edges>,
}

/// The context of a request.
type Context = accord_serving::Context<RunsDoor>;

/// A route of governed runs.
pub type Route = table::Route<RunsDoor>;

impl RunsDoor {
    /// The door to the runs of some repositories.
    pub fn new(serving: Serving, edges: Arc<dyn Edges>) -> Self {
        Self { serving, edges }
    }

    fn edges(&self) -> &dyn Edges {
        self.edges.as_ref()
    }
}

impl Deref for RunsDoor {
    type Target = Serving;

    fn deref(&self) -> &Serving {
        &self.serving
    }
}
