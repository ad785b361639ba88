//! Reading tasks: lists, the board, one task, its briefing, the events of the tree.

use std::time::Duration;

use accord_base::{Need, tokens};
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{TextForm, Wire as _};
use accord_contract::wire_enum;
use accord_memory_core::query::{CURSOR, Flag, MAX_TOKENS, Number, Params, Text, Word};
use accord_tasks::Tree;
use accord_tasks::answers::{BoardAnswer, ListAnswer};
use accord_tasks::requests::{BoardRequest, EventsRequest, ListRequest, ShowRequest};
use accord_tasks_core::briefing::{Audience, LEAST_TOKENS};
use accord_tasks_core::task::Priority;
use accord_tasks_core::{By, Door, Status};
use hyper::StatusCode;

use super::TASKS;
use super::answers::{Formatted, TaskEventsEnvelope, respond};
use super::ask::{in_tree, wrong};
use super::changes::verb;
use super::operation::Operation;
use crate::http::routes::{InProject, Query};
use crate::http::table::{Content, Route};
use crate::http::{Context, Reply};
use crate::tasks::markdown as text;

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
const DEFAULT_TOKENS: usize = 4_000;

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
    let list = Operation::new(
        Need::Read,
        |asked| Ok((list_request(asked.params)?, Form::read(asked.params)?)),
        |tree, _, (asked, form), by| list(tree, asked, *form, by),
    )
    .get(
        "tasks",
        TASKS,
        "Lists tasks: open ones first, the most urgent before others, then the oldest.",
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
    .refuses(&[Code::AgenticInvalidCursor]);
    let board = Operation::new(
        Need::Read,
        |asked| Ok((board_request(asked.params)?, Form::read(asked.params)?)),
        |tree, _, (asked, form), by| board(tree, asked, *form, by),
    )
    .get(
        "task_board",
        "/accord/v1/projects/{project_id}/tasks/board",
        "Shows the tasks by status, with the first ones of each.",
    )
    .query(STATUS, "Only tasks with this status.")
    .query(COLUMN, "The most tasks of a column.")
    .query(BUDGET, "The most tokens. What does not fit is counted as hidden.");
    vec![
        lists(list),
        lists(board),
        Operation::new(
            Need::Read,
            |asked| {
                let mut request = ShowRequest::default();
                request.without_body = Some(WITHOUT_BODY.read(asked.params)?);
                Ok(request)
            },
            |tree, target, asked, by| tree.show(&target.task, asked, by),
        )
        .get(
            "task",
            "/accord/v1/projects/{project_id}/tasks/{task_id}",
            "Shows one task, its outputs, and the evidence that a person decides about.",
        )
        .query(WITHOUT_BODY, "Leaves the body out."),
        Operation::new(
            Need::Read,
            |asked| Ok((Form::read(asked.params)?, audience(AUDIENCE.read(asked.params)?))),
            |tree, target, (form, audience), by| {
                let answer = tree.briefing(&target.task, by)?;
                Ok(match form.format {
                    ReadFormat::Json => Formatted::Json(answer),
                    ReadFormat::Markdown => {
                        Formatted::Markdown(answer.text(*audience, None, form.most_text()))
                    }
                })
            },
        )
        .get(
            "task_briefing",
            verb!("briefing"),
            "What an agent needs before it works on a task: instructions, why it was sent back, \
             the handoff, what the tasks before it left, the work log, where to write and how to \
             report.",
        )
        .query(FORMAT, ABOUT_FORMAT)
        .query(BUDGET, "The most tokens of the Markdown. What does not fit is counted.")
        .query(AUDIENCE, "Who reads it: `mcp` for a client of the tools."),
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

/// In which format, and within which budget of tokens.
#[derive(Clone, Copy)]
struct Form {
    format: ReadFormat,
    budget: Option<usize>,
}

impl Form {
    fn read(params: &Params<'_>) -> Result<Self, Failure> {
        let budget = BUDGET.read(params)?.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        Ok(Self { format: FORMAT.read(params)?.unwrap_or(ReadFormat::Json), budget })
    }

    /// The most tokens of Markdown.
    fn most_text(self) -> usize {
        self.budget.unwrap_or(DEFAULT_TOKENS)
    }
}

fn list(
    tree: &Tree,
    asked: &ListRequest,
    form: Form,
    by: &By,
) -> Result<Formatted<ListAnswer>, Failure> {
    Ok(match form.format {
        ReadFormat::Json => Formatted::Json(fitting(tree, asked, form.budget, json_size, by)?.0),
        ReadFormat::Markdown => {
            let most = Some(form.most_text());
            Formatted::Markdown(fitting(tree, asked, most, text::list, by)?.1)
        }
    })
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
    asked: &ListRequest,
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
        asked.limit = Some((shown as u64).max(1));
        answer = tree.list(&asked, by)?;
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

fn board_request(params: &Params<'_>) -> Result<BoardRequest, Failure> {
    let named = |parameter: Text| parameter.read(params).map(|text| text.map(str::to_owned));
    let mut asked = BoardRequest::default();
    asked.team = named(TEAM)?;
    asked.agent = named(AGENT)?;
    asked.status = STATUS.read(params)?;
    asked.priority = PRIORITY.read(params)?;
    asked.limit = Some(COLUMN.read_or_default(params)?.into());
    Ok(asked)
}

fn board(
    tree: &Tree,
    asked: &BoardRequest,
    form: Form,
    by: &By,
) -> Result<Formatted<BoardAnswer>, Failure> {
    let mut answer = tree.board(asked, by)?;
    if form.format == ReadFormat::Markdown {
        return Ok(Formatted::Markdown(text::board(&answer, form.most_text())));
    }
    while form.budget.is_some_and(|most| tokens(&answer.encode().to_string()) > most) {
        // The longest column loses a quarter of its tasks.
        let longest = answer.columns.iter_mut().max_by_key(|column| column.tasks.len());
        let Some(column) = longest.filter(|column| !column.tasks.is_empty()) else { break };
        let dropped = column.tasks.len().div_ceil(4);
        column.tasks.truncate(column.tasks.len() - dropped);
        column.hidden += dropped as u64;
    }
    Ok(Formatted::Json(answer))
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
    query: Query,
) -> Reply {
    caller.access().may(Need::Read.verb(), &project)?;
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
