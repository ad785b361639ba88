//! A worker whose tasks are on another machine: its folders, and its way to the hub.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use accord_base::worker::AttemptSockets;
use accord_canon::sha256;
use accord_contract::{Code, Failure};
use accord_host::serve::AttemptSocket;
use accord_host::{Api, Request, Response};
use accord_process::{Cancel, user_state_folder};
use accord_tasks::worker::{RemoteFolder, RemoteRun, is_away, is_report};
use axum::body::{Body, Bytes, to_bytes};
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
/// The first and the longest pause before a message is sent again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));
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
        let ends = cancel.clone();
        let upload =
            move |folder: &RemoteFolder| upload(&target, &project, &agent, folder, cancel.clone());
        let api = args.for_workers()?;
        let api = UploadsFirst { api, current, cancel: ends, upload: Arc::new(upload) };
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
    let alive = Duration::MAX;
    RemoteRun::new(&hub, folder, alive, cancel, &note).upload()
}

/// Says something about a run.
pub(super) fn note(text: String) {
    print_note(clean(&text));
}

type Upload = dyn Fn(&RemoteFolder) -> Result<(), Failure> + Send + Sync;

/// A hub that gets the outputs of a run before its report. A report that the hub does not answer
/// is kept for the end of the run.
struct UploadsFirst {
    api: Arc<dyn Api>,
    current: Arc<Mutex<Option<RemoteFolder>>>,
    cancel: Cancel,
    upload: Arc<Upload>,
}

impl UploadsFirst {
    /// Sends the report of a run until the hub answers, or the lease may be over.
    async fn report(
        &self,
        folder: &RemoteFolder,
        (parts, body): (hyper::http::request::Parts, Bytes),
    ) -> Result<Response, Failure> {
        let (upload, uploaded) = (Arc::clone(&self.upload), folder.clone());
        let uploaded = tokio::task::spawn_blocking(move || upload(&uploaded)).await;
        uploaded.unwrap_or_else(|_| {
            let message = "the upload of the outputs was interrupted";
            Err(Failure::new(Code::HostUnreachable, message))
        })?;
        let mut pause = PAUSES.0;
        loop {
            let request = Request::from_parts(parts.clone(), Body::from(body.clone()));
            let answer = self.api.call(request).await;
            let why = match &answer {
                Ok(response) if is_of_proxy(response) => "a proxy answered instead of the host",
                Err(failure) if is_away(failure.code) => failure.message.as_str(),
                _ => return answer,
            };
            if self.cancel.is_cancelled() || folder.may_be_lost() {
                let message = format!("the report could not be sent: {why}");
                let help = "end your work: the report is kept, and is sent when you end";
                return Err(Failure::new(Code::HostUnreachable, message).suggesting(help));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}

/// Whether a proxy before the host answered, or a host that ends.
fn is_of_proxy(response: &Response) -> bool {
    (502..=504).contains(&response.status().as_u16())
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
            let text = String::from_utf8_lossy(&bytes);
            let folder = self.current.lock().clone().filter(|_| is_report(&text));
            let Some(folder) = folder else {
                return self.api.call(Request::from_parts(parts, Body::from(bytes))).await;
            };
            // The agent may not wait for the answer.
            folder.keep_report(&text)?;
            let answer = self.report(&folder, (parts, bytes)).await;
            let is_unanswered = answer.as_ref().is_err_and(|failure| is_away(failure.code));
            if !is_unanswered {
                folder.drop_report();
            }
            answer
        }
        .boxed()
    }
}
