//! A worker that is a tool of an MCP server: it is called with the turn and answers with the
//! result.
//!
//! Only `initialize`, `tools/list` and `tools/call` are used. A ping of the server is answered, its
//! other requests are refused, and its notifications are ignored.

mod http;
mod stdio;

use std::time::{Duration, Instant};

use accord_contract::{Code, Object, Value};
use serde_json::json;

use super::job::{Job, WorkerEnd, WorkerSignal, shown};
use super::progress::Progress;
use super::result;
use accord_runs_core::Result;

const VERSION: &str = "2025-06-18";
/// The default tool.
const TOOL: &str = "agentxchain_turn";
/// How many pages of the list of tools are read.
const MOST_PAGES: usize = 100;
const MAX_MESSAGE: usize = super::remote_agent::MAX_ANSWER;
const WORDS_SHOWN: usize = 2_000;

enum NotDone {
    TimedOut,
    /// It did not answer the first request in time.
    NotStarted,
    Cancelled,
    Unreachable(String),
    /// It broke the protocol, or refused.
    Failed(String),
}

trait Transport {
    /// Sends a request and waits for its response.
    fn ask(&mut self, id: u64, request: &Value, deadline: Instant) -> Result<Object, NotDone>;

    fn notify(&mut self, notice: &Value, deadline: Instant) -> Result<(), NotDone>;

    /// Ends the session; errors are ignored.
    fn close(self: Box<Self>) {}
}

pub(super) fn run(job: &Job<'_>, signals: &mut dyn FnMut(WorkerSignal<'_>)) -> Result<WorkerEnd> {
    let mut progress = Progress::new(job);
    progress.asked();
    let ended = call(job, signals);
    progress.remove();
    ended.map_err(|error| {
        let turn = job.turn.id();
        match error {
            NotDone::TimedOut => job.timed_out(),
            NotDone::NotStarted => {
                let what = "did not answer initialize within";
                job.passed(Code::XchainWorkerNotStarted, what, &job.limits.startup)
            }
            NotDone::Cancelled => job.cancelled(),
            NotDone::Unreachable(why) => {
                let message = format!("the MCP server of {turn} cannot be reached: {why}");
                job.failure(Code::XchainWorkerNotStarted, message)
            }
            NotDone::Failed(why) => {
                let message = format!("the MCP server of {turn}: {why}");
                job.failure(Code::XchainWorkerFailed, message)
            }
        }
    })
}

fn call(job: &Job<'_>, signals: &mut dyn FnMut(WorkerSignal<'_>)) -> Result<WorkerEnd, NotDone> {
    let deadline = Instant::now() + job.limits.whole.min(Duration::from_secs(365 * 24 * 3600));
    let settings = &job.runtime.settings;
    let transport: Box<dyn Transport> =
        if settings.get("transport").and_then(Value::as_str) == Some("streamable_http") {
            Box::new(http::Address::new(job)?)
        } else {
            Box::new(stdio::Program::start(job, signals)?)
        };
    let tool = settings.get("tool_name").and_then(Value::as_str);
    let tool = tool.map(str::trim).filter(|name| !name.is_empty());
    let mut client = Client {
        transport,
        deadline,
        // A server that does not answer `initialize` has not started.
        greeting: deadline.min(Instant::now() + job.limits.startup.after),
        last_id: 0,
    };
    let answer = client.work(job, tool.unwrap_or(TOOL), signals);
    // Before the answer is judged, so that a program is ended in every case.
    client.transport.close();
    let answer = answer?;
    if answer.get("isError") == Some(&Value::Bool(true)) {
        return Err(NotDone::Failed(format!("the tool failed: {}", words(&answer))));
    }
    match result::in_tool_answer(&answer) {
        Some(document) => Ok(WorkerEnd::Answered(document)),
        // The tool knows `staging_path` and may have written the result itself.
        None if job.is_staged() => Ok(WorkerEnd::Written),
        None => Err(NotDone::Failed(format!(
            "the tool did not answer with a turn result: {}",
            words(&answer)
        ))),
    }
}

struct Client {
    transport: Box<dyn Transport>,
    deadline: Instant,
    greeting: Instant,
    last_id: u64,
}

impl Client {
    fn work(
        &mut self,
        job: &Job<'_>,
        tool: &str,
        signals: &mut dyn FnMut(WorkerSignal<'_>),
    ) -> Result<Object, NotDone> {
        let hello = json!({
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "accord", "version": env!("CARGO_PKG_VERSION")},
        });
        let greeting = self.greeting;
        let greeted = self.ask("initialize", hello, greeting);
        greeted.map_err(|error| match error {
            NotDone::TimedOut if greeting < self.deadline => NotDone::NotStarted,
            other => other,
        })?;
        signals(WorkerSignal::FirstOutput { stream: "request" });
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.transport.notify(&notice, self.deadline)?;
        self.check_tool(tool)?;
        let call = json!({"name": tool, "arguments": arguments(job)});
        let deadline = self.deadline;
        self.ask("tools/call", call, deadline)
    }

    fn check_tool(&mut self, tool: &str) -> Result<(), NotDone> {
        let mut names: Vec<String> = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = match cursor.take() {
                None => json!({}),
                Some(cursor) => json!({"cursor": cursor}),
            };
            let deadline = self.deadline;
            let page = self.ask("tools/list", page, deadline)?;
            let tools = page.get("tools").and_then(Value::as_array);
            let found = tools.into_iter().flatten();
            names.extend(found.filter_map(|tool| Some(tool.get("name")?.as_str()?.to_owned())));
            if names.iter().any(|name| name == tool) {
                return Ok(());
            }
            cursor = page.get("nextCursor").filter(|next| next.is_string()).cloned();
            if cursor.is_none() {
                break;
            }
        }
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(NotDone::Failed(format!("it has no tool {tool}, only: {known}")))
    }

    fn ask(&mut self, method: &str, params: Value, deadline: Instant) -> Result<Object, NotDone> {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut answer = self.transport.ask(id, &request, deadline)?;
        if let Some(error) = answer.get("error") {
            let message = error.get("message").and_then(Value::as_str);
            let message = message.unwrap_or("an error without a message");
            return Err(NotDone::Failed(format!("{method} was refused: {}", cut(message))));
        }
        match answer.remove("result") {
            Some(Value::Object(result)) => Ok(result),
            _ => Err(NotDone::Failed(format!("the response to {method} has no result"))),
        }
    }
}

fn arguments(job: &Job<'_>) -> Object {
    let mut arguments = job.envelope();
    let bundle = job.bundle();
    let paths = [
        ("project_root", shown(job.root)),
        ("assignment_path", shown(&bundle.join("ASSIGNMENT.json"))),
        ("prompt_path", shown(&bundle.join("PROMPT.md"))),
        ("context_path", shown(&bundle.join("CONTEXT.md"))),
        ("staging_path", shown(&job.staging())),
    ];
    for (name, path) in paths {
        arguments.insert(name.to_owned(), path);
    }
    arguments
}

enum ServerMessage {
    Response(Object),
    /// A request of the server; this is the reply to it.
    Request(Value),
    /// A notification, or a response that is not expected.
    Notification,
}

/// Reads a message of a server while the response to `id` is pending.
fn read_message(id: u64, text: &[u8]) -> Result<ServerMessage, NotDone> {
    let message = accord_canon::read(text).map_err(|error| {
        NotDone::Failed(format!("it wrote something that is not JSON: {error}"))
    })?;
    let Value::Object(message) = message else {
        return Err(NotDone::Failed("it wrote JSON that is not a message".to_owned()));
    };
    let method = message.get("method").and_then(Value::as_str);
    Ok(match (method, message.get("id")) {
        (None, Some(answered)) if *answered == id => ServerMessage::Response(message),
        (Some("ping"), Some(asked)) => {
            ServerMessage::Request(json!({"jsonrpc": "2.0", "id": asked, "result": {}}))
        }
        (Some(other), Some(asked)) => ServerMessage::Request(json!({
            "jsonrpc": "2.0",
            "id": asked,
            "error": {"code": -32601, "message": format!("{other} is not supported")},
        })),
        _ => ServerMessage::Notification,
    })
}

/// The text of a server, shortened for a message.
fn words(answer: &Object) -> String {
    let texts: Vec<&str> = result::texts(answer).map(str::trim).collect();
    match texts.join(" ") {
        none if none.is_empty() => "no text".to_owned(),
        text => cut(&text),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(WORDS_SHOWN).collect()
}
