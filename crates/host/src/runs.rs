//! What the door of governed runs shows: the repositories that are joined to the host's projects.

use accord_api::operations::edges::{Edge, EdgeItem};
use accord_base::{Caller, EdgeId, ProjectId};
use accord_memory::{Memory, ProjectCommits};
use accord_runs_door::{Answer, Commits, Edges};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

/// The edges in the store of a host.
pub(crate) struct HostEdges {
    pub(crate) memory: Memory,
}

impl Edges for HostEdges {
    fn edges(&self, caller: &Caller, project: &ProjectId) -> Answer<Vec<Edge>> {
        let (memory, caller, project) = (self.memory.clone(), caller.clone(), project.clone());
        async move { memory.edges(&caller, &project).await }.boxed()
    }

    fn edge(&self, caller: &Caller, at: (&ProjectId, &EdgeId)) -> Answer<(Edge, Vec<EdgeItem>)> {
        let (memory, caller) = (self.memory.clone(), caller.clone());
        let (project, edge) = (at.0.clone(), at.1.clone());
        async move { memory.edge_with_documents(&caller, (&project, &edge)).await }.boxed()
    }

    fn incarnation(&self) -> Answer<Option<String>> {
        let memory = self.memory.clone();
        async move { memory.incarnation().await }.boxed()
    }

    fn commits(&self, project: &ProjectId) -> Box<dyn Commits> {
        Box::new(OfProject(self.memory.project_commits(project)))
    }
}

struct OfProject(ProjectCommits);

impl Commits for OfProject {
    fn next(&mut self) -> BoxFuture<'_, ()> {
        self.0.next().boxed()
    }
}
