//! A worker whose tasks are on another machine: its folders, and its way to the hub.

use std::path::PathBuf;
use std::sync::Arc;

use accord_base::worker::AttemptSockets;
use accord_canon::sha256;
use accord_contract::{Code, Failure};
use accord_host::serve::AttemptSocket;
use accord_host::{Api, Request, Response};
use accord_process::{Cancel, user_state_folder};
use accord_tasks::worker::{RemoteFolder, RemoteRun, is_report};
use axum::body::{Body, to_bytes};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hyper::Method;
use parking_lot::Mutex;
use tokio::runtime::Runtime;

use super::place::{Place, PlaceArgs};
use super::remote_hub::RemoteHub;
use crate::host::{TargetArgs, serving_runtime};
use crate::render::clean;
use crate::{CliError, Result, print_note};

/// The largest message of an agent.
const MESSAGE: usize = 11 * 1024 * 1024;
/// The end of the path of messages.
const MESSAGES: &str = "/aof/messages";

/// Where the runs of a hub's project work on this machine.
pub(super) struct Remote {
    /// The folder with a folder for each run.
    pub(super) above: PathBuf,
    /// The folder of the run that is under way.
    pub(super) current: Arc<Mutex<Option<RemoteFolder>>>,
    /// Serves the sockets of agents.
    runtime: Runtime,
}

impl Remote {
    pub(super) fn of(url: &str, place: &Place) -> Result<Self> {
        let state = user_state_folder().ok_or_else(|| {
            let message = "there is no folder for the files of tasks of another machine";
            CliError::usage(message).help("set HOME or XDG_STATE_HOME")
        })?;
        let mut name = sha256(format!("{url}\n{}", place.project).as_bytes()).hex();
        name.truncate(16);
        let above = state.join("accord/remote").join(name);
        Ok(Self { above, current: Arc::default(), runtime: serving_runtime()? })
    }

    /// The sockets of agents. A report that goes through one comes after the outputs.
    pub(super) fn sockets(
        &self,
        args: &PlaceArgs,
        place: &Place,
        agent: &str,
        cancel: &Cancel,
    ) -> Result<AttemptSockets> {
        let (target, project) = (args.host.target.clone(), place.project.clone());
        let (agent, cancel) = (agent.to_owned(), cancel.clone());
        let current = Arc::clone(&self.current);
        let upload = move || {
            let folder = current.lock().clone();
            let Some(folder) = folder else { return Ok(()) };
            upload(&target, &project, &agent, &folder, cancel.clone())
        };
        let api = UploadsFirst { api: args.for_workers()?, upload: Arc::new(upload) };
        let (api, runtime): (Arc<dyn Api>, _) = (Arc::new(api), self.runtime.handle().clone());
        Ok(AttemptSockets::new(move |attempt| {
            AttemptSocket::open(Arc::clone(&api), attempt, &runtime)
        }))
    }
}

/// Uploads the outputs of a run, on a connection of its own. The worker keeps the run alive.
fn upload(
    target: &TargetArgs,
    project: &str,
    agent: &str,
    folder: &RemoteFolder,
    cancel: Cancel,
) -> Result<(), Failure> {
    let hub = RemoteHub::open(target, project, agent)?;
    let alive = std::time::Duration::MAX;
    RemoteRun::new(&hub, folder, alive, cancel, &note).upload()
}

/// Says something about a run.
pub(super) fn note(text: String) {
    print_note(clean(&text));
}

type Upload = dyn Fn() -> Result<(), Failure> + Send + Sync;

/// A hub that gets the outputs of a run before its report.
struct UploadsFirst {
    api: Arc<dyn Api>,
    upload: Arc<Upload>,
}

impl Api for UploadsFirst {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        if request.method() != Method::POST || !request.uri().path().ends_with(MESSAGES) {
            return self.api.call(request);
        }
        async move {
            let (parts, body) = request.into_parts();
            let bytes = to_bytes(body, MESSAGE).await.map_err(|error| {
                let message = format!("the message of the agent cannot be read: {error}");
                Failure::new(Code::AgenticPayloadTooLarge, message)
            })?;
            if is_report(&String::from_utf8_lossy(&bytes)) {
                let upload = Arc::clone(&self.upload);
                let uploaded = tokio::task::spawn_blocking(move || upload()).await;
                uploaded.unwrap_or_else(|_| {
                    let message = "the upload of the outputs was interrupted";
                    Err(Failure::new(Code::HostUnreachable, message))
                })?;
            }
            self.api.call(Request::from_parts(parts, Body::from(bytes))).await
        }
        .boxed()
    }
}
