//! A data folder that is not served, for many requests of one process: of an MCP server, or of the
//! worker of an attempt. The folder is opened for each call and closed again, so that several
//! agents and commands can share it. Its task trees stay open, because they are locked only while
//! something is changed. If a host serves the folder, that host is asked, and its answers are
//! passed on as they come.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_api::parameter::ParamSet as _;
use accord_api::{Json, Operation as _, Received};
use accord_contract::{Code, Failure, Wire as _};
use accord_host::{Api, Request, Response};
use accord_live_core::operations::ask_person::{
    AskPersonAnswer, AskPersonEnvelope, AskPersonRequest, AskState,
};
use accord_live_core::operations::tools::{Consume, ConsumeQuery, GguiPullEnvelope, Pull};
use accord_live_core::tools::{ConsumeRequest, PullRequest};
use axum::body::Body;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hyper::Method;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, oneshot};

use super::open::{Connection, IfMissing, running_host};
use super::target::{Target, TargetArgs};
use crate::{CliError, Result};

/// The maximum size of a response, which is held in memory.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// A data folder that is opened for one call at a time.
pub(crate) struct SharedFolder {
    target: TargetArgs,
    /// The folder, unless the target is a server.
    folder: Option<PathBuf>,
    if_missing: IfMissing,
    turn: Arc<Mutex<()>>,
    tasks: Tasks,
}

/// Where the task trees are.
#[derive(Clone, Debug)]
pub(crate) enum TaskPlace {
    Folder(PathBuf),
    /// A tree in a repository, and its project.
    Tree(PathBuf, String),
}

impl TaskPlace {
    fn open(&self) -> Result<Connection> {
        match self {
            Self::Folder(folder) => Connection::to_tasks(folder, true),
            Self::Tree(root, project) => Connection::to_tree(root, project),
        }
    }
}

/// The task trees.
struct Tasks {
    place: TaskPlace,
    /// A host in this process, from the first call on.
    open: Mutex<Option<Arc<OffRuntime>>>,
}

/// A connection that can be dropped by a thread of a runtime, which a runtime itself cannot.
struct OffRuntime(Option<Connection>);

impl Drop for OffRuntime {
    fn drop(&mut self) {
        let connection = self.0.take();
        drop(std::thread::spawn(move || drop(connection)).join());
    }
}

impl SharedFolder {
    pub(crate) fn new(target: TargetArgs, if_missing: IfMissing, place: TaskPlace) -> Result<Self> {
        let folder = match target.target()? {
            Target::Folder(folder) => Some(folder),
            Target::Server { .. } | Target::Attempt(_) => None,
        };
        let tasks = Tasks { place, open: Mutex::default() };
        Ok(Self { target, folder, if_missing, turn: Arc::default(), tasks })
    }

    /// The host that serves the folder now, if it has what a request asks for.
    async fn host(&self, is_of_tasks: bool) -> Result<Option<Arc<dyn Api>>, Failure> {
        let is_elsewhere = is_of_tasks && matches!(self.tasks.place, TaskPlace::Tree(..));
        match self.folder.as_ref().filter(|_| !is_elsewhere) {
            Some(folder) => running_host(folder).await,
            None => Ok(None),
        }
    }
}

impl Tasks {
    fn has(request: &Request) -> bool {
        let mut parts = request.uri().path().split('/').skip(1);
        parts.next() == Some("accord") && matches!(parts.nth(3), Some("tasks" | "aof"))
    }

    /// Several calls run at once: one that waits for events holds up no other.
    async fn call(&self, request: Request) -> Result<Response, Failure> {
        let mut open = self.open.lock().await;
        let connection = match &*open {
            Some(connection) => Arc::clone(connection),
            None => {
                let place = self.place.clone();
                let opened = tokio::task::spawn_blocking(move || place.open().map_err(as_failure));
                let opened = opened.await.unwrap_or_else(|_| Err(bug()))?;
                Arc::clone(open.insert(Arc::new(OffRuntime(Some(opened)))))
            }
        };
        drop(open);
        let (used, runtime) = (Arc::clone(&connection), Handle::current());
        // A call that is cancelled is carried out all the same, and not halfway.
        let call = tokio::task::spawn_blocking(move || match &used.0 {
            Some(used) => runtime.block_on(used.api.call(request)),
            None => Err(bug()),
        });
        let answer = call.await.unwrap_or_else(|_| Err(bug()));
        if answer.is_err() {
            // A host that is gone is looked for again by the next call.
            let mut open = self.open.lock().await;
            drop(open.take_if(|open| Arc::ptr_eq(open, &connection)));
        }
        answer
    }
}

impl Api for SharedFolder {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        async move {
            let is_of_tasks = Tasks::has(&request);
            if let Some(host) = self.host(is_of_tasks).await? {
                // The host may be gone before the next call, which then looks again.
                return host.call(request).await;
            }
            match request.uri().path() {
                _ if is_of_tasks => self.tasks.call(request).await,
                _ if Wait::is_in(&request) => self.wait(request).await,
                _ => Ok(self.call_once(request).await?.0),
            }
        }
        .boxed()
    }
}

/// A request that waits for events of a live session.
enum Wait {
    Consume(ConsumeRequest),
    Pull(PullRequest),
    Ask(AskPersonRequest),
}

/// The path of a question to a person, after its project.
const ASKS: &str = "/live/asks";

impl Wait {
    fn is_in(request: &Request) -> bool {
        let path = request.uri().path();
        let is_question = request.method() == Method::POST && path.ends_with(ASKS);
        path == Consume::PATH || path == Pull::PATH || is_question
    }

    /// The request, unless a host refuses it.
    fn read(path: &str, body: &[u8]) -> Option<Self> {
        let document = serde_json::from_slice(body).ok()?;
        match path {
            Consume::PATH => ConsumeRequest::from_document(document).ok().map(Self::Consume),
            Pull::PATH => PullRequest::from_document(document).ok().map(Self::Pull),
            _ => AskPersonRequest::from_document(document).ok().map(Self::Ask),
        }
    }

    fn seconds(&self) -> Option<u64> {
        match self {
            Self::Consume(request) => request.timeout,
            Self::Pull(request) => request.wait,
            Self::Ask(request) => request.wait_seconds,
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
            Self::Ask(request) => {
                request.wait_seconds = Some(seconds);
                request.encode()
            }
        };
        Body::from(document.to_string())
    }

    /// What a call has in its query that goes on with the wait of an earlier one.
    fn goes_on(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Consume(_) => ConsumeQuery { goes_on: true, ..ConsumeQuery::default() }.write(),
            Self::Pull(_) | Self::Ask(_) => Vec::new(),
        }
    }

    /// Whether an answer has what the request waits for. The next look goes on with a question that
    /// has none yet.
    fn is_over(&mut self, body: &[u8]) -> bool {
        let text = String::from_utf8_lossy(body).into_owned();
        let received = Received { media_type: None, text };
        if let Self::Ask(request) = self {
            let Ok(read) = received.read::<Json<AskPersonEnvelope>>() else { return false };
            let AskPersonAnswer { state, since, .. } = read.answer.0.result;
            request.since = Some(since);
            return state != AskState::Waiting;
        }
        // Both tools call them so.
        let read = received.read::<Json<GguiPullEnvelope>>();
        read.is_ok_and(|read| read.answer.0.result.events.is_some_and(|it| !it.is_empty()))
    }
}

/// How long one call may keep the folder locked. A stream of events would keep it for ever.
const LONGEST: Duration = Duration::from_secs(60);

/// The pause between two looks for an answer, in a folder that nobody serves.
const PAUSE: Duration = Duration::from_millis(500);

impl SharedFolder {
    /// Sends a request. Returns whether another process serves the folder, too.
    async fn call_once(&self, request: Request) -> Result<(Response, bool), Failure> {
        let (target, if_missing) = (self.target.clone(), self.if_missing);
        // The folder that was found at the start: the work tree may be gone since.
        let folder = self.folder.clone();
        // One call at a time: a second one in this process would find the folder locked by the
        // first.
        let turn = Arc::clone(&self.turn).lock_owned().await;
        // A call about live sessions that is cancelled takes no events. Others are not cancelled
        // halfway.
        let is_live = request.uri().path().starts_with("/accord/v1/live/") || Wait::is_in(&request);
        let (caller, gone) = oneshot::channel::<Infallible>();
        // Opening blocks on files and locks.
        let call = tokio::task::spawn_blocking(move || {
            let connection = match folder {
                Some(folder) => Connection::in_folder(&folder, if_missing),
                None => target.connect(if_missing),
            };
            let connection = connection.map_err(as_failure)?;
            let is_served = connection.is_served;
            let turn = (!is_served).then_some(turn);
            let answer = connection.runtime.block_on(async {
                tokio::select! {
                    answer = whole(&connection, request) => answer,
                    () = tokio::time::sleep(LONGEST), if !is_served => Err(too_long()),
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
            if !head.status.is_success() || left.is_zero() || wait.is_over(&body) {
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

fn too_long() -> Failure {
    let message = "the answer did not end, and nobody serves the data folder";
    Failure::new(Code::HostTimeout, message)
        .suggesting("a stream of events needs a host: `accord serve`")
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
    error.into_failure()
}
