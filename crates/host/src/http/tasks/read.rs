//! Reading tasks: lists, the board, one task, its briefing, the events of the tree.

use std::time::Duration;

use accord_base::{Caller, tokens};
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{TextForm, Wire as _};
use accord_contract::wire_enum;
use accord_memory_core::query::{CURSOR, Flag, MAX_TOKENS, Number, Params, Text, Word};
use accord_tasks::Tree;
use accord_tasks::answers::ListAnswer;
use accord_tasks::requests::{BoardRequest, EventsRequest, ListRequest, ShowRequest};
use accord_tasks_core::briefing::{Audience, LEAST_TOKENS};
use accord_tasks_core::task::Priority;
use accord_tasks_core::{Door, Status};
use axum::Extension;
use axum::extract::State;
use hyper::StatusCode;

use super::answers::{
    TaskBoardEnvelope, TaskBriefingEnvelope, TaskEventsEnvelope, TaskListEnvelope,
    TaskShowEnvelope, respond,
};
use super::ask::{InTask, in_tree, wrong};
use super::changes::verb;
use super::{OF_TASK, TASKS};
use crate::http::reply::{MARKDOWN, markdown};
use crate::http::routes::{InProject, Query};
use crate::http::table::{Content, Route};
use crate::http::{Correlation, Host, Reply};
use crate::tasks::{Needs, markdown as text, service};

wire_enum! {
    /// The formats of what is read about tasks.
    pub enum ReadFormat("TaskReadFormat", closed) {
        /// A JSON document.
        Json = "json",
        /// Markdown, for agents.
        Markdown = "markdown",
    }
}

const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();
const STATUSES: TextForm = TextForm::ANY
    .pattern(concat!(
        "^(backlog|ready|in-progress|blocked|review|done|cancelled|deadletter)",
        "(,(backlog|ready|in-progress|blocked|review|done|cancelled|deadletter))*$",
    ))
    .example("ready,blocked");

const STATUS_LIST: Text = Text::new("status", STATUSES);
const STATUS: Word<Status> = Word::new("status");
const ALL: Flag = Flag::new("all");
const AGENT: Text = Text::new("agent", NAME);
const ROLE: Text = Text::new("role", NAME);
const TEAM: Text = Text::new("team", NAME);
const PRIORITY: Word<Priority> = Word::new("priority");
const TAG: Text = Text::new("tag", NAME);
const PARENT: Text = Text::new("parent", NAME);
const TEXT: Text = Text::new("text", NAME);
const LIMIT: Number = Number::new("limit", 1, 500).or(50);
const COLUMN: Number = Number::new("limit", 1, 500).or(10);
const BUDGET: Number = Number::new("max_tokens", LEAST, MAX_TOKENS);
const FORMAT: Word<ReadFormat> = Word::new("format").or(ReadFormat::Json);
const WITHOUT_BODY: Flag = Flag::new("without_body");
const AUDIENCE: Word<Door> = Word::new("door");
const AFTER: Text = Text::new("after", TextForm::ANY.pattern("^[0-9]{1,15}$").example("42"));
const OF_TASK_ID: Text = Text::new("task_id", TextForm::ANY.chars(1, 64));
const EVENTS: Number = Number::new("limit", 1, 1_000).or(100);
const WAIT: Number = Number::new("wait_seconds", 0, 30).or(0);

/// The smallest budget of Markdown. The frames of all texts fit into it.
pub(super) const LEAST: u32 = LEAST_TOKENS;

/// The budget of Markdown, unless the request says otherwise.
const DEFAULT_TOKENS: u32 = 4_000;

/// How often the log is read while a request waits for its next event.
const PAUSE: Duration = Duration::from_millis(200);

const ABOUT_FORMAT: &str = "`markdown` is shorter, for agents; its budget is 4000 tokens unless \
    `max_tokens` says otherwise.";

pub(super) fn routes() -> Vec<Route> {
    let lists = |route: Route| {
        route
            .query(AGENT, "Only tasks that this agent has, or that are routed to it.")
            .query(TEAM, "Only tasks that are routed to this team.")
            .query(PRIORITY, "Only tasks with this priority.")
            .query(FORMAT, ABOUT_FORMAT)
    };
    let list = Route::get(
        "tasks",
        TASKS,
        "Lists tasks: open ones first, the most urgent before others, then the oldest.",
        list,
    )
    .query(STATUS_LIST, "Only tasks with these statuses. Default: all but done and cancelled.")
    .query(ALL, "Also finished tasks.")
    .query(ROLE, "Only tasks that are routed to this role.")
    .query(TAG, "Only tasks with this tag.")
    .query(PARENT, "Only the parts of this task.")
    .query(TEXT, "Only tasks whose titles contain this text, in any case.")
    .query(LIMIT, "The most tasks.")
    .query(CURSOR, "`next_cursor` of the previous page.")
    .query(BUDGET, "The most tokens of the page, which has at least one task.")
    .answers(200, "The tasks.", Content::json::<TaskListEnvelope>())
    .answers(200, "The tasks.", Content::Text(MARKDOWN))
    .refuses(&[Code::AofNoTaskTree, Code::AgenticInvalidCursor]);
    let board = Route::get(
        "task_board",
        "/accord/v1/projects/{project_id}/tasks/board",
        "Shows the tasks by status, with the first ones of each.",
        board,
    )
    .query(STATUS, "Only tasks with this status.")
    .query(COLUMN, "The most tasks of a column.")
    .query(BUDGET, "The most tokens. What does not fit is counted as hidden.")
    .answers(200, "The board.", Content::json::<TaskBoardEnvelope>())
    .answers(200, "The board.", Content::Text(MARKDOWN))
    .refuses(&[Code::AofNoTaskTree]);
    vec![
        lists(list),
        lists(board),
        Route::get(
            "task",
            "/accord/v1/projects/{project_id}/tasks/{task_id}",
            "Shows one task, its outputs, and the evidence that a person decides about.",
            show,
        )
        .query(WITHOUT_BODY, "Leaves the body out.")
        .answers(200, "The task.", Content::json::<TaskShowEnvelope>())
        .refuses(OF_TASK),
        Route::get(
            "task_briefing",
            verb!("briefing"),
            "What an agent needs before it works on a task: instructions, why it was sent back, \
             the handoff, what the tasks before it left, the work log, where to write and how to \
             report.",
            briefing,
        )
        .query(FORMAT, ABOUT_FORMAT)
        .query(BUDGET, "The most tokens of the Markdown. What does not fit is counted.")
        .query(AUDIENCE, "Who reads it: `mcp` for a client of the tools.")
        .answers(200, "The briefing.", Content::json::<TaskBriefingEnvelope>())
        .answers(200, "The briefing.", Content::Text(MARKDOWN))
        .refuses(OF_TASK),
        Route::get(
            "task_events",
            "/accord/v1/projects/{project_id}/tasks/events",
            "Reads the events of the tree after a number, in their order.",
            events,
        )
        .query(AFTER, "The number after which events are read. Default: from the first event.")
        .query(OF_TASK_ID, "Only events of this task.")
        .query(EVENTS, "The most events.")
        .query(WAIT, "How long the request waits for an event if there is none yet.")
        .answers(200, "The events.", Content::json::<TaskEventsEnvelope>())
        .refuses(&[Code::AofNoTaskTree]),
    ]
}

async fn list(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    caller.access().may(Needs::Read.verb(), &project)?;
    let params = query.params()?;
    let asked = list_request(&params)?;
    let (budget, format) = (BUDGET.read(&params)?, format(&params)?);
    let read = move |tree: &Tree| match format {
        ReadFormat::Json => {
            fitting(tree, asked, budget, json_size).map(|(answer, _)| Shown::Json(answer))
        }
        ReadFormat::Markdown => {
            let most = budget.unwrap_or(DEFAULT_TOKENS);
            let (_, text) = fitting(tree, asked, Some(most), markdown_size)?;
            Ok(Shown::Markdown(text))
        }
    };
    match in_tree(&host, &project, read).await? {
        Shown::Json(answer) => Ok(respond(StatusCode::OK, &correlation, answer)),
        Shown::Markdown(text) => Ok(markdown(text)),
    }
}

/// A list in one of its formats.
enum Shown {
    Json(ListAnswer),
    Markdown(String),
}

fn list_request(params: &Params<'_>) -> Result<ListRequest, Failure> {
    let text = |parameter: Text| parameter.read(params).map(|text| text.map(str::to_owned));
    let statuses = STATUS_LIST.read(params)?;
    let statuses: Option<Option<Vec<Status>>> =
        statuses.map(|list| list.split(',').map(Status::parse).collect());
    if statuses == Some(None) {
        return Err(wrong("/status", "must be statuses of tasks, with commas between them"));
    }
    let mut asked = ListRequest::default();
    asked.status = statuses.flatten();
    asked.all = Some(ALL.read(params)?);
    asked.agent = text(AGENT)?;
    asked.role = text(ROLE)?;
    asked.team = text(TEAM)?;
    asked.priority = PRIORITY.read(params)?;
    asked.tag = text(TAG)?;
    asked.parent = text(PARENT)?;
    asked.text = text(TEXT)?;
    asked.limit = Some(LIMIT.read_or_default(params)?.into());
    asked.cursor = params.text(CURSOR.name()).map(str::to_owned);
    Ok(asked)
}

/// A page that fits into a budget: how many tasks fit is found with a first page, and a second one
/// of that many tasks has the right cursor.
fn fitting(
    tree: &Tree,
    mut asked: ListRequest,
    budget: Option<u32>,
    size: fn(&ListAnswer, usize) -> (String, usize),
) -> Result<(ListAnswer, String), Failure> {
    let by = service(Door::Http);
    let mut answer = tree.list(&asked, &by)?;
    let Some(budget) = budget else { return Ok((answer, String::new())) };
    let budget = usize::try_from(budget).unwrap_or(usize::MAX);
    loop {
        let (text, shown) = size(&answer, budget);
        if shown == answer.tasks.len() || shown == 0 && answer.tasks.len() <= 1 {
            return Ok((answer, text));
        }
        let limit = Some((shown as u64).max(1));
        asked.limit = limit;
        answer = tree.list(&asked, &by)?;
    }
}

/// How many tasks of a JSON document fit.
fn json_size(answer: &ListAnswer, budget: usize) -> (String, usize) {
    let whole = tokens(&answer.encode().to_string());
    if whole <= budget {
        return (String::new(), answer.tasks.len());
    }
    let items: Vec<usize> =
        answer.tasks.iter().map(|task| tokens(&task.encode().to_string()) + 1).collect();
    let frame = whole.saturating_sub(items.iter().sum());
    let mut left = budget.saturating_sub(frame);
    let fit = items.iter().take_while(|item| match left.checked_sub(**item) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    });
    // One less than all, so that a page that is too large gets smaller.
    (String::new(), fit.count().min(answer.tasks.len().saturating_sub(1)))
}

fn markdown_size(answer: &ListAnswer, budget: usize) -> (String, usize) {
    text::list(answer, budget)
}

async fn board(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    caller.access().may(Needs::Read.verb(), &project)?;
    let params = query.params()?;
    let named = |parameter: Text| parameter.read(&params).map(|text| text.map(str::to_owned));
    let mut asked = BoardRequest::default();
    asked.team = named(TEAM)?;
    asked.agent = named(AGENT)?;
    asked.status = STATUS.read(&params)?;
    asked.priority = PRIORITY.read(&params)?;
    asked.limit = Some(COLUMN.read_or_default(&params)?.into());
    let (budget, format) = (BUDGET.read(&params)?, format(&params)?);
    let mut answer =
        in_tree(&host, &project, move |tree| tree.board(&asked, &service(Door::Http))).await?;
    if format == ReadFormat::Markdown {
        let most = budget.unwrap_or(DEFAULT_TOKENS) as usize;
        return Ok(markdown(text::board(&answer, most)));
    }
    let Some(budget) = budget else { return Ok(respond(StatusCode::OK, &correlation, answer)) };
    while tokens(&answer.encode().to_string()) > budget as usize {
        // The longest column loses its last task.
        let longest = answer.columns.iter_mut().max_by_key(|column| column.tasks.len());
        let Some(column) = longest.filter(|column| !column.tasks.is_empty()) else { break };
        let dropped = column.tasks.len().div_ceil(4);
        column.tasks.truncate(column.tasks.len() - dropped);
        column.hidden += dropped as u64;
    }
    Ok(respond(StatusCode::OK, &correlation, answer))
}

async fn show(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    at: InTask,
    query: Query,
) -> Reply {
    caller.access().may(Needs::Read.verb(), &at.project)?;
    let mut asked = ShowRequest::default();
    asked.without_body = Some(WITHOUT_BODY.read(&query.params()?)?);
    let show = move |tree: &Tree| tree.show(&at.task, &asked, &service(Door::Http));
    let answer = in_tree(&host, &at.project, show).await?;
    Ok(respond(StatusCode::OK, &correlation, answer))
}

async fn briefing(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    at: InTask,
    query: Query,
) -> Reply {
    caller.access().may(Needs::Read.verb(), &at.project)?;
    let params = query.params()?;
    let (budget, format) = (BUDGET.read(&params)?, format(&params)?);
    let audience = audience(AUDIENCE.read(&params)?);
    let answer =
        in_tree(&host, &at.project, move |tree| tree.briefing(&at.task, &service(Door::Http)))
            .await?;
    if format == ReadFormat::Json {
        return Ok(respond(StatusCode::OK, &correlation, answer));
    }
    let most = budget.unwrap_or(DEFAULT_TOKENS) as usize;
    Ok(markdown(answer.text(audience, None, most)))
}

/// Who reads what comes through a door.
pub(super) fn audience(door: Option<Door>) -> Audience {
    match door {
        Some(Door::Mcp) => Audience::Tools,
        _ => Audience::Command,
    }
}

async fn events(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    caller.access().may(Needs::Read.verb(), &project)?;
    let params = query.params()?;
    let after = AFTER.read(&params)?.map(str::parse).transpose();
    let after: Option<u64> = after.map_err(|_| wrong("/after", "must be a number"))?;
    let mut asked = EventsRequest::default();
    asked.after = after;
    asked.task_id = OF_TASK_ID.read(&params)?.map(str::to_owned);
    asked.limit = Some(EVENTS.read_or_default(&params)?.into());
    let wait = Duration::from_secs(WAIT.read_or_default(&params)?.into());
    let deadline = tokio::time::Instant::now() + wait;
    let closed = host.streams().closed();
    tokio::pin!(closed);
    loop {
        let asked = asked.clone();
        let answer = in_tree(&host, &project, move |tree| tree.events(&asked)).await?;
        if !answer.events.is_empty() || tokio::time::Instant::now() >= deadline {
            return Ok(respond(StatusCode::OK, &correlation, answer));
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            // A host that shuts down keeps no client waiting.
            _ = &mut closed => return Ok(respond(StatusCode::OK, &correlation, answer)),
        }
    }
}

fn format(params: &Params<'_>) -> Result<ReadFormat, Failure> {
    Ok(FORMAT.read(params)?.unwrap_or(ReadFormat::Json))
}
