//! Repositories on the machine of the host that a person opened to it: they are read, and results
//! are staged in them, as the commands there do it.

use accord_api::operations::edges::{Edge, EdgeEntryKind, EdgeRunTurn};
use accord_base::ProjectId;
use accord_canon::sha256;
use accord_contract::{Code, Failure, Object, Timestamp, Value};
use accord_edge::{Edges as JoinFiles, Opened};
use accord_runs::answers::{CommandNames, next_answer, stage_again, stage_answer};
use accord_runs::operations::{ManualResult, Prompt, Query, RunChoice};
use accord_runs_core::next_step::must_object;
use accord_runs_core::operations::answers::{NextAnswer, RunStageAnswer};
use accord_runs_core::operations::joined::{JoinedRun, RunStageRequest, RunWaits};
use accord_runs_core::{RunId, TurnId};
use accord_system::spawn_blocking;

use crate::RunsDoor;
use crate::find;

/// Runs something on the repository of an edge, if it is open to this host.
pub(crate) async fn with<T: Send + 'static>(
    door: &RunsDoor,
    project: &ProjectId,
    edge: &Edge,
    run: impl FnOnce(&Opened) -> Result<T, Failure> + Send + 'static,
) -> Result<Option<T>, Failure> {
    if edge.left_at.is_some() {
        return Ok(None);
    }
    let Some(incarnation) = door.edges().incarnation().await? else { return Ok(None) };
    let (project, edge) = (project.clone(), edge.edge_id.clone());
    let done = spawn_blocking(move || {
        let Ok(files) = JoinFiles::of_user() else { return Ok(None) };
        let opened = files.opened(&edge, &project, &incarnation)?;
        opened.map(|opened| run(&opened)).transpose()
    });
    done.await.unwrap_or_else(|_| {
        let message = "the operation on the repository was interrupted";
        Err(Failure::new(Code::HttpFault, message))
    })
}

/// Its run as it is now.
pub(crate) async fn shown(
    door: &RunsDoor,
    project: &ProjectId,
    edge: &Edge,
) -> Result<Option<JoinedRun>, Failure> {
    let sent = edge.clone();
    with(door, project, edge, move |opened| show(opened, &sent)).await
}

/// The version of that run, without reading the run.
pub(crate) async fn version(
    door: &RunsDoor,
    project: &ProjectId,
    edge: &Edge,
) -> Result<Option<String>, Failure> {
    with(door, project, edge, |opened| Ok(version_of(opened))).await
}

fn version_of(opened: &Opened) -> String {
    format!("here-{}", sha256(opened.stamp().as_bytes()).hex())
}

fn show(opened: &Opened, edge: &Edge) -> Result<JoinedRun, Failure> {
    let overview = opened.runs()?.status()?;
    let state = overview.state.as_ref().map_err(Clone::clone)?;
    let turns = state.turns().map(|turn| EdgeRunTurn {
        turn_id: turn.id().to_string(),
        role: Some(turn.role().to_owned()),
        extra: Object::new(),
    });
    let mut waiting = opened.waiting()?;
    waiting.retain(|waiting| waiting.kind == EdgeEntryKind::Request);
    let waits = waiting.into_iter().map(|waiting| RunWaits {
        title: waiting.body.get("title").and_then(Value::as_str).map(str::to_owned),
        id: waiting.id,
        type_name: waiting.type_name,
        since: waiting.at,
        extra: Object::new(),
    });
    let waits: Vec<RunWaits> = waits.collect();
    let names = CommandNames::default();
    let next = overview.next.iter().map(|step| next_answer(step, &names)).collect();
    Ok(JoinedRun {
        here: true,
        as_of: Timestamp::emit(accord_system::now()),
        run_id: state.run_id().map(ToString::to_string),
        phase: Some(state.phase().to_owned()),
        status: Some(state.status().to_string()),
        turns: turns.collect(),
        requests: waits.len() as u64,
        waits: Some(waits),
        next: Some(next),
        version: version_of(opened),
        ..find::shown(edge)
    })
}

/// The accepted turns: of the run that is named, or of the repository.
pub(crate) fn history(
    opened: &Opened,
    run: Option<&str>,
    last: usize,
) -> Result<Vec<Object>, Failure> {
    let run = run.and_then(RunId::parse).map_or(RunChoice::All, RunChoice::Named);
    opened.runs()?.history(&Query { run, last: Some(last) })
}

pub(crate) fn prompt(opened: &Opened, turn: Option<&str>) -> Result<Prompt, Failure> {
    opened.runs()?.prompt(turn.map(turn_id).transpose()?.as_ref())
}

fn turn_id(text: &str) -> Result<TurnId, Failure> {
    TurnId::parse(text).ok_or_else(|| {
        Failure::new(Code::WireFieldValue, format!("{text:?} is not the id of a turn"))
    })
}

/// Stages a result, as `accord run stage` does.
pub(crate) fn stage(opened: &Opened, request: RunStageRequest) -> Result<RunStageAnswer, Failure> {
    let runs = opened.runs()?;
    let turn = request.turn_id.as_deref().map(turn_id).transpose();
    let manual = ManualResult {
        turn: turn.map_err(|failure| failure.at("/turn_id"))?,
        summary: request.summary,
        decisions: request.decisions.unwrap_or_default(),
        objections: request.objections.unwrap_or_default(),
        files: request.files.unwrap_or_default(),
        no_files: request.no_files == Some(true),
        verified: request.verified.unwrap_or_default(),
        next_role: request.next_role,
        next_phase: request.next_phase == Some(true),
        complete: request.complete == Some(true),
        needs_human: request.needs_human,
        members: request.members.unwrap_or_default(),
    };
    let staged = runs.stage_manual_result(&manual)?;
    let names = CommandNames::default();
    let next: Vec<NextAnswer> = match &staged.problem {
        None => runs.status()?.next.iter().map(|step| next_answer(step, &names)).collect(),
        Some(_) => {
            let turn = &staged.turn;
            let objects = must_object(&runs.config()?, turn.role());
            vec![stage_again(turn.id().as_str(), !manual.files.is_empty(), objects, &names)]
        }
    };
    Ok(stage_answer(&staged, next))
}
