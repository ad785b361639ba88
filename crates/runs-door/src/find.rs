//! Which repository a request means, and what the host shows of its run.

use accord_api::operations::edges::{Edge, EdgeEntryKind, EdgeItem, EdgeSource};
use accord_base::{Caller, ProjectId};
use accord_contract::{Code, Failure, Object, Value};
use accord_runs_core::operations::joined::{JoinedRun, OfRun, RunControl, RunWaits};

use crate::{RunsDoor, here};

/// A repository, with what it sent.
pub(crate) struct Found {
    pub(crate) edge: Edge,
    pub(crate) items: Vec<EdgeItem>,
}

/// The runs of the repositories of a project.
pub(crate) async fn runs(
    door: &RunsDoor,
    caller: &Caller,
    project: &ProjectId,
) -> Result<Vec<JoinedRun>, Failure> {
    let mut runs = Vec::new();
    for edge in repositories(door.edges().edges(caller, project).await?) {
        // One that cannot be read is shown as it was.
        let here = here::shown(door, project, &edge).await.ok().flatten();
        let run = here.map(|run| JoinedRun { waits: None, control: None, next: None, ..run });
        runs.push(run.unwrap_or_else(|| shown(&edge)));
    }
    Ok(runs)
}

/// The repository that a request names, by the id of its edge or of its newest run. Open
/// repositories are asked for their runs only if nothing was sent that has the id.
pub(crate) async fn find(door: &RunsDoor, caller: &Caller, of: &OfRun) -> Result<Found, Failure> {
    let edges = repositories(door.edges().edges(caller, &of.project).await?);
    let is_named = |edge: &&Edge| {
        let run = edge.run.as_ref().and_then(|run| run.run_id.as_deref());
        edge.edge_id.as_str() == of.run || run == Some(of.run.as_str())
    };
    let mut found: Vec<&Edge> = edges.iter().filter(is_named).collect();
    if found.is_empty() {
        for edge in &edges {
            let here = here::shown(door, &of.project, edge).await.ok().flatten();
            let run = here.and_then(|here| here.run_id);
            found.extend((run.as_deref() == Some(of.run.as_str())).then_some(edge));
        }
    }
    if found.len() > 1 {
        // A repository that left and was joined again is two edges.
        found.retain(|edge| edge.left_at.is_none());
    }
    let edge = match found.as_slice() {
        [edge] => &edge.edge_id,
        [] => return Err(not_found(&of.run)),
        several => return Err(ambiguous(&of.run, several)),
    };
    let (edge, items) = door.edges().edge(caller, (&of.project, edge)).await?;
    Ok(Found { edge, items })
}

/// The edges that are governed repositories.
fn repositories(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.retain(|edge| edge.source == EdgeSource::Runs);
    edges
}

fn not_found(run: &str) -> Failure {
    let message = format!("no repository of the project is the edge {run:?} or has that run");
    Failure::new(Code::EdgeNotFound, message)
        .suggesting("list the runs: accord project runs, or the tool run_status without run")
}

fn ambiguous(run: &str, found: &[&Edge]) -> Failure {
    let ids: Vec<&str> = found.iter().map(|edge| edge.edge_id.as_str()).collect();
    let message = format!("several repositories have the run {run}: {}", ids.join(", "));
    Failure::new(Code::IdAmbiguous, message)
        .with("candidates", ids)
        .suggesting("name the edge instead of the run")
}

impl Found {
    /// The run, with what waits for a person: as it is now, or as it was sent.
    pub(crate) async fn shown(
        &self,
        door: &RunsDoor,
        project: &ProjectId,
    ) -> Result<JoinedRun, Failure> {
        let here = here::shown(door, project, &self.edge).await?;
        let run = here.unwrap_or_else(|| self.as_sent());
        Ok(JoinedRun { control: self.control(), ..run })
    }

    /// What can be decided about the state of the run that was sent.
    fn control(&self) -> Option<RunControl> {
        let mut items = self.items.iter();
        let item = items.find(|item| item.kind == EdgeEntryKind::State)?;
        let verbs = item.verbs.clone().filter(|_| self.edge.left_at.is_none());
        let decision = item.decision.clone();
        if verbs.is_none() && decision.is_none() {
            return None;
        }
        let (item, evidence) = (item.id.clone(), item.evidence.clone()?);
        let verbs = verbs.unwrap_or_default();
        Some(RunControl { item, evidence, verbs, decision, extra: Object::new() })
    }

    fn as_sent(&self) -> JoinedRun {
        let waits = self.items.iter().filter(|item| item.kind == EdgeEntryKind::Request);
        JoinedRun { waits: Some(waits.map(waiting).collect()), ..shown(&self.edge) }
    }
}

fn waiting(item: &EdgeItem) -> RunWaits {
    let title = item.document.as_ref().and_then(|it| it.get("title")).and_then(Value::as_str);
    RunWaits {
        id: item.id.clone(),
        type_name: item.type_name.clone(),
        title: title.map(str::to_owned),
        since: item.received_at.clone(),
        extra: Object::new(),
    }
}

/// The run of a repository, as the list shows it.
pub(crate) fn shown(edge: &Edge) -> JoinedRun {
    let run = edge.run.as_ref();
    let state = if edge.left_at.is_some() { "left" } else { "joined" };
    JoinedRun {
        edge_id: edge.edge_id.clone(),
        name: edge.name.clone(),
        here: false,
        as_of: edge.last_contact_at.clone(),
        left_at: edge.left_at.clone(),
        run_id: run.and_then(|run| run.run_id.clone()),
        phase: run.and_then(|run| run.phase.clone()),
        status: run.and_then(|run| run.status.clone()),
        turns: run.map(|run| run.turns.clone()).unwrap_or_default(),
        requests: edge.requests,
        waits: None,
        control: None,
        next: None,
        version: format!("{}-{state}", edge.position),
        extra: Object::new(),
    }
}
