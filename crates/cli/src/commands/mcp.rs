//! `accord mcp`: an MCP server on standard input and output.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_api::parameter::ParamSet as _;
use accord_api::{Json, Operation as _, Received};
use accord_contract::{Code, Failure, Wire as _};
use accord_host::mcp::{self, CallContext, TOOLSETS, Toolbox};
use accord_host::settings::Settings;
use accord_host::{Api, Request, Response, log};
use accord_live_core::operations::tools::{Consume, ConsumeQuery, GguiPullEnvelope, Pull};
use accord_live_core::tools::{ConsumeRequest, PullRequest};
use axum::body::Body;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::runtime::Builder;
use tokio::sync::{Mutex, oneshot};

use crate::host::{ActorArg, Connection, IfMissing, ProjectArg, Target, TargetArgs, full_path};
use crate::render::clean;
use crate::{CliError, Exit, Result, print_note};

/// Serve the tools for agents over MCP, on standard input and output
///
/// An MCP client starts this command. It ends at the end of standard input. Messages for people go
/// to standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct McpArgs {
    /// These sets of tools or single tools: memory (default), relay, tasks, live, or for example
    /// memory_orient,memory_deposit
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Vec<String>,

    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    target: TargetArgs,
}

const EXAMPLE: &str = r#"Example, in the settings of an MCP client:
  {"mcpServers": {"accord": {"command": "accord", "args": ["mcp", "--project", "shop"]}}}"#;

/// The maximum size of a response, which is held in memory.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

impl McpArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let toolbox = match self.tools.as_slice() {
            // The first set is the default.
            [] => Toolbox::join(&TOOLSETS[..1])?,
            names => Toolbox::join(TOOLSETS)?.only(names.iter().map(|name| name.trim()))?,
        };
        let mut standing = CallContext {
            project: self.project.get(&self.target)?,
            actor: self.actor.named()?.map(|actor| actor.key().clone()),
            ..CallContext::default()
        };
        let mut quiet = Settings::default().log;
        quiet.level = "warn,rmcp=error".into();
        log::begin(&quiet)?;
        let has_memory = toolbox.names().any(|name| !is_of_tasks(name));
        let (api, only) = reach(self.target, has_memory, standing.project.is_none())?;
        standing.project = standing.project.or(only);
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(
            |error| CliError::new(Code::HttpFault, format!("cannot start threads: {error}")),
        )?;
        let served = runtime.block_on(mcp::serve_stdio(api, toolbox, standing));
        // A thread may still block on standard input.
        runtime.shutdown_background();
        served?;
        Ok(Exit::Yes)
    }
}

/// Connects to the host. A server is reached over persistent connections. A data folder is opened
/// for each call and closed again, so that several agents and commands can share it. Its task trees
/// stay open, because they are locked only while something is changed.
///
/// `asks`: the only project of the host is the default one. Without it, calls name a project.
fn reach(
    target: TargetArgs,
    has_memory: bool,
    asks: bool,
) -> Result<(Arc<dyn Api>, Option<String>)> {
    let only = |host: &Connection| asks.then(|| host.only_project().ok()).flatten();
    let folder = match target.target()? {
        Target::Server { url, .. } => {
            print_note(format!("accord: using the server {}", clean(&url)));
            let host = target.connect(IfMissing::Create)?;
            return Ok((Arc::clone(&host.api), only(&host)));
        }
        Target::Folder(folder) => folder,
    };
    let tasks = Tasks { folder, open: Arc::default() };
    if !has_memory {
        // The store is not opened, also not to check it.
        print_note(format!("accord: using the data folder {}", clean(&full_path(&tasks.folder))));
        let only = only(&Connection::to_tasks(&tasks.folder, true)?);
        return Ok((Arc::new(Folder { target, turn: Arc::default(), tasks }), only));
    }
    // Only a check, so that a wrong folder is reported at the start. The connection is closed at
    // once, because it locks the folder.
    let only = match target.connect(IfMissing::Create) {
        Ok(host) => {
            let new = if host.is_new { "new " } else { "" };
            print_note(format!("accord: using the {new}data folder {}", clean(&host.place)));
            only(&host)
        }
        // The lock may be released before the first call.
        Err(taken) if taken.code() == Some(Code::StoreLocked) => {
            print_note(format!("warning: {taken}"));
            None
        }
        Err(error) => return Err(error),
    };
    Ok((Arc::new(Folder { target, turn: Arc::default(), tasks }), only))
}

fn is_of_tasks(name: &str) -> bool {
    let set = TOOLSETS.iter().find(|set| set.name == "tasks");
    set.is_some_and(|set| set.tools.iter().any(|tool| tool.name == name))
}

/// A data folder that is opened for one call at a time.
struct Folder {
    target: TargetArgs,
    turn: Arc<Mutex<()>>,
    tasks: Tasks,
}

/// The task trees of a data folder.
struct Tasks {
    folder: PathBuf,
    /// The host of the folder, or one in this process, from the first call on.
    open: Arc<Mutex<Option<Connection>>>,
}

impl Tasks {
    fn has(request: &Request) -> bool {
        let mut parts = request.uri().path().split('/').skip(1);
        parts.next() == Some("accord") && matches!(parts.nth(3), Some("tasks" | "aof"))
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        let (folder, open) = (self.folder.clone(), Arc::clone(&self.open));
        async move {
            let mut open = open.lock_owned().await;
            let call = tokio::task::spawn_blocking(move || {
                let connection = match open.take() {
                    Some(connection) => connection,
                    None => Connection::to_tasks(&folder, true).map_err(as_failure)?,
                };
                let answer = connection.runtime.block_on(whole(&connection, request));
                // A host that is gone is looked for again by the next call.
                if answer.is_ok() {
                    *open = Some(connection);
                }
                answer
            });
            call.await.unwrap_or_else(|_| Err(bug()))
        }
        .boxed()
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        // A runtime cannot be dropped by a thread of another one.
        if let Ok(mut open) = self.open.try_lock()
            && let Some(connection) = open.take()
        {
            drop(std::thread::spawn(move || drop(connection)).join());
        }
    }
}

impl Api for Folder {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        if Tasks::has(&request) {
            return self.tasks.call(request);
        }
        if Wait::is_at(request.uri().path()) {
            return self.wait(request).boxed();
        }
        self.call_once(request).map(|answered| Ok(answered?.0)).boxed()
    }
}

/// A request that waits for events of a live session.
enum Wait {
    Consume(ConsumeRequest),
    Pull(PullRequest),
}

impl Wait {
    fn is_at(path: &str) -> bool {
        path == Consume::PATH || path == Pull::PATH
    }

    /// The request, unless a host refuses it.
    fn read(path: &str, body: &[u8]) -> Option<Self> {
        let document = serde_json::from_slice(body).ok()?;
        match path == Consume::PATH {
            true => ConsumeRequest::from_document(document).ok().map(Self::Consume),
            false => PullRequest::from_document(document).ok().map(Self::Pull),
        }
    }

    fn seconds(&self) -> Option<u64> {
        match self {
            Self::Consume(request) => request.timeout,
            Self::Pull(request) => request.wait,
        }
    }

    /// The body of the same request with another wait.
    fn body(&mut self, seconds: u64) -> Body {
        let document = match self {
            Self::Consume(request) => {
                request.timeout = Some(seconds);
                request.encode()
            }
            Self::Pull(request) => {
                request.wait = Some(seconds);
                request.encode()
            }
        };
        Body::from(document.to_string())
    }

    /// What a call has in its query that goes on with the wait of an earlier one.
    fn goes_on(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Consume(_) => ConsumeQuery { goes_on: true, ..ConsumeQuery::default() }.write(),
            Self::Pull(_) => Vec::new(),
        }
    }
}

/// Whether an answer has events, which both tools call so.
fn has_events(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).into_owned();
    let read = Received { media_type: None, text }.read::<Json<GguiPullEnvelope>>();
    read.is_ok_and(|read| read.answer.0.result.events.is_some_and(|events| !events.is_empty()))
}

/// The pause between two looks for an answer, in a folder that nobody serves.
const PAUSE: Duration = Duration::from_millis(500);

impl Folder {
    /// Sends a request. Returns whether another process serves the folder, too.
    async fn call_once(&self, request: Request) -> Result<(Response, bool), Failure> {
        let target = self.target.clone();
        // One call at a time: a second one in this process would find the folder locked by the
        // first.
        let turn = Arc::clone(&self.turn).lock_owned().await;
        // A call about live sessions that is cancelled takes no events. Others are not cancelled
        // halfway.
        let is_live = request.uri().path().starts_with("/accord/v1/live/");
        let (caller, gone) = oneshot::channel::<Infallible>();
        // Opening blocks on files and locks.
        let call = tokio::task::spawn_blocking(move || {
            let connection = target.connect(IfMissing::Create).map_err(as_failure)?;
            let is_served = connection.is_served;
            let turn = (!is_served).then_some(turn);
            let answer = connection.runtime.block_on(async {
                tokio::select! {
                    answer = whole(&connection, request) => answer,
                    _ = gone, if is_live => Err(bug()),
                }
            });
            drop((connection, turn));
            Ok((answer?, is_served))
        });
        let answered = call.await.unwrap_or_else(|_| Err(bug()));
        drop(caller);
        answered
    }

    /// Waits for events. In a folder that nobody serves, it looks again and again: a wait would
    /// keep the folder locked, and nobody could answer.
    async fn wait(&self, request: Request) -> Result<Response, Failure> {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, LARGEST_ANSWER).await.map_err(|_| bug())?;
        let wait = Wait::read(parts.uri.path(), &body);
        let waiting = wait.and_then(|wait| Some((wait.seconds()?, wait)));
        // What the host refuses, it refuses.
        let Some((seconds, mut wait)) = waiting else {
            return Ok(self.call_once(Request::from_parts(parts, body.into())).await?.0);
        };
        let until = Instant::now() + Duration::from_secs(seconds);
        let request = |wait: &mut Wait, seconds: u64, goes_on: bool| {
            let mut request = Request::from_parts(parts.clone(), wait.body(seconds));
            let mut target = parts.uri.to_string();
            for (name, value) in wait.goes_on().iter().filter(|_| goes_on) {
                target.push(if target.contains('?') { '&' } else { '?' });
                target.push_str(&format!("{name}={value}"));
            }
            *request.uri_mut() = target.parse().map_err(|_| bug())?;
            Ok::<_, Failure>(request)
        };
        let (mut answer, is_served) = self.call_once(request(&mut wait, 0, false)?).await?;
        loop {
            let (head, body) = answer.into_parts();
            let body = axum::body::to_bytes(body, LARGEST_ANSWER).await.map_err(|_| bug())?;
            let left = until.saturating_duration_since(Instant::now());
            if !head.status.is_success() || left.is_zero() || has_events(&body) {
                return Ok(Response::from_parts(head, Body::from(body)));
            }
            if is_served {
                // The server waits, and nothing is locked.
                let seconds = left.as_secs_f64().ceil() as u64;
                return Ok(self.call_once(request(&mut wait, seconds, true)?).await?.0);
            }
            tokio::time::sleep(left.min(PAUSE)).await;
            answer = self.call_once(request(&mut wait, 0, true)?).await?.0;
        }
    }
}

fn bug() -> Failure {
    Failure::new(Code::HttpFault, "the call failed because of a bug in this program")
}

/// Reads the whole response, so that the connection can be closed.
async fn whole(connection: &Connection, request: Request) -> Result<Response, Failure> {
    let (parts, body) = connection.api.call(request).await?.into_parts();
    let body = axum::body::to_bytes(body, LARGEST_ANSWER).await.map_err(|_| {
        Failure::new(Code::HostProtocol, "the response of the host was cut off, or is too large")
    })?;
    Ok(Response::from_parts(parts, Body::from(body)))
}

fn as_failure(error: CliError) -> Failure {
    Failure::new(error.code().unwrap_or(Code::HostUnreachable), error.to_string())
}
