//! Reading tasks: lists, the board, one task, its briefing, the events of the tree.

use std::time::Duration;

use accord_api::body::{AnswerBody as _, OneOf};
use accord_api::parameter::Params;
use accord_api::{Call, Envelope, Json, Need};
use accord_base::{By, Door, tokens};
use accord_contract::{Failure, Wire as _};
use accord_tasks::Tree;
use accord_tasks_core::briefing::Audience;
use accord_tasks_core::operations::{
    Formatted, ListAnswer, ListQuery, ListTasks, ReadFormat, ShowTask, TaskBoard,
    TaskBoardEnvelope, TaskBriefing, TaskEvents, TaskEventsEnvelope, TaskListEnvelope,
    TaskShowEnvelope,
};
use axum::extract::RawPathParams;

use super::operation::{Scene, bind};
use super::requests::in_tree;
use crate::{Context, Route, markdown as text};
use accord_serving::Reply;
use accord_serving::operation::respond;
use accord_serving::query::{InProject, Query};

/// The budget of Markdown, unless the request says otherwise.
const DEFAULT_TOKENS: usize = 4_000;

/// How often the log is read while a request waits for its next event.
const PAUSE: Duration = Duration::from_millis(200);

pub(super) fn routes() -> Vec<Route> {
    vec![
        bind(list).route(),
        bind(board).route(),
        bind(|scene, call: &Call<ShowTask>| {
            let answer = scene.tree()?.show(&call.path.task, &call.query, scene.by)?;
            Ok(Json(TaskShowEnvelope::wrap(answer, scene.correlation)))
        })
        .tagged(|answer| Some(&answer.0.result.evidence))
        .route(),
        bind(|scene, call: &Call<TaskBriefing>| {
            let answer = scene.tree()?.briefing(&call.path.task, scene.by)?;
            let (asked, most) = (&call.query, budget(call.query.max_tokens));
            Ok(match asked.format {
                Some(ReadFormat::Markdown) => {
                    let most = most.unwrap_or(DEFAULT_TOKENS);
                    OneOf::Other(answer.text(audience(asked.door), None, most).into())
                }
                _ => in_json(answer, scene),
            })
        })
        .route(),
        Route::serving::<TaskEvents, _>(events),
    ]
}

fn budget(tokens: Option<u32>) -> Option<usize> {
    tokens.map(|most| usize::try_from(most).unwrap_or(usize::MAX))
}

fn in_json<E: Envelope>(answer: E::Result, scene: &Scene<'_>) -> Formatted<E> {
    OneOf::One(Json(E::wrap(answer, scene.correlation)))
}

fn list(scene: &Scene<'_>, call: &Call<ListTasks>) -> Result<Formatted<TaskListEnvelope>, Failure> {
    let (tree, most) = (scene.tree()?, budget(call.query.max_tokens));
    Ok(match call.query.format {
        Some(ReadFormat::Markdown) => {
            let most = Some(most.unwrap_or(DEFAULT_TOKENS));
            OneOf::Other(fitting(&tree, &call.query, most, text::list, scene.by)?.1.into())
        }
        _ => in_json(fitting(&tree, &call.query, most, json_size, scene.by)?.0, scene),
    })
}

/// A page that fits into a budget. If a first one does not, another of fewer tasks has the cursor.
fn fitting(
    tree: &Tree,
    asked: &ListQuery,
    budget: Option<usize>,
    size: fn(&ListAnswer, usize) -> (String, usize),
    by: &By,
) -> Result<(ListAnswer, String), Failure> {
    let mut answer = tree.list(asked, by)?;
    let Some(budget) = budget else { return Ok((answer, String::new())) };
    let mut asked = asked.clone();
    loop {
        let (text, shown) = size(&answer, budget);
        if shown == answer.tasks.len() || shown == 0 && answer.tasks.len() <= 1 {
            return Ok((answer, text));
        }
        asked.limit = Some(u32::try_from(shown).unwrap_or(u32::MAX).max(1));
        answer = tree.list(&asked, by)?;
    }
}

/// How many tasks of a JSON document fit.
fn json_size(answer: &ListAnswer, budget: usize) -> (String, usize) {
    let whole = tokens(&answer.encode().to_string());
    if whole <= budget {
        return (String::new(), answer.tasks.len());
    }
    let items = answer.tasks.iter().map(|task| tokens(&task.encode().to_string()) + 1);
    let items: Vec<usize> = items.collect();
    let frame = whole.saturating_sub(items.iter().sum());
    let mut used = frame;
    let fit = items.iter().take_while(|item| {
        used += **item;
        used <= budget
    });
    // One less than all, so that a page that is too large gets smaller.
    (String::new(), fit.count().min(answer.tasks.len().saturating_sub(1)))
}

fn board(at: &Scene<'_>, call: &Call<TaskBoard>) -> Result<Formatted<TaskBoardEnvelope>, Failure> {
    let mut answer = at.tree()?.board(&call.query, at.by)?;
    let most = budget(call.query.max_tokens);
    if call.query.format == Some(ReadFormat::Markdown) {
        return Ok(OneOf::Other(text::board(&answer, most.unwrap_or(DEFAULT_TOKENS)).into()));
    }
    while most.is_some_and(|most| tokens(&answer.encode().to_string()) > most) {
        // The longest column loses a quarter of its tasks.
        let longest = answer.columns.iter_mut().max_by_key(|column| column.tasks.len());
        let Some(column) = longest.filter(|column| !column.tasks.is_empty()) else { break };
        let dropped = column.tasks.len().div_ceil(4);
        column.tasks.truncate(column.tasks.len() - dropped);
        column.hidden += dropped as u64;
    }
    Ok(in_json(answer, at))
}

/// Who reads what comes through a door.
pub(super) fn audience(door: Option<Door>) -> Audience<'static> {
    match door {
        Some(Door::Mcp) => Audience::Tools,
        _ => Audience::Http,
    }
}

async fn events(
    Context { host, caller, correlation }: Context,
    InProject(project): InProject,
    path: RawPathParams,
    query: Query,
) -> Reply {
    caller.access().may(Need::Read.verb(), &project)?;
    let path = Params::new(&path)?;
    let asked = Call::<TaskEvents>::decode(&path, &query.params()?, b"")?.query;
    let wait = Duration::from_secs(asked.wait_seconds.unwrap_or(0).into());
    let deadline = tokio::time::Instant::now() + wait;
    let closed = host.streams().closed();
    tokio::pin!(closed);
    loop {
        let asked = asked.clone();
        let answer = in_tree(&host, &project, move |tree| tree.events(&asked)).await?;
        let is_last = !answer.events.is_empty() || tokio::time::Instant::now() >= deadline;
        let is_last = is_last
            || tokio::select! {
                () = tokio::time::sleep(PAUSE) => false,
                // A host that shuts down keeps no client waiting.
                _ = &mut closed => true,
            };
        if is_last {
            let envelope = TaskEventsEnvelope::wrap(answer, correlation.as_str());
            return Ok(respond(200, Json(envelope).encode()));
        }
    }
}
