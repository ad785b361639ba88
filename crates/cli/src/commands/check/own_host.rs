//! A temporary host to test, on a local port with a temporary data folder.

use std::net::SocketAddr;
use std::path::Path;

use accord_api::operations::keys::{CreateKey, KeyEnvelope, KeyRequest};
use accord_api::{Call, Json, NoParams};
use accord_base::Verb;
use accord_contract::{Code, Failure, Field};
use accord_host::http::{Host, local_api};
use accord_host::serve::{CONTROL_PROJECT, ControlServer, Server};
use accord_host::settings::Sources;
use accord_kit::driver::{ControlOptions, HttpOptions};
use futures_util::FutureExt as _;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::super::conformance::Token;
use crate::host::{HostRequest, project_id};
use crate::{CliError, Result};

/// A temporary host, stopped when this is dropped.
pub(super) struct OwnHost {
    url: String,
    /// The key of the run, with the scope `admin`.
    token: String,
    /// A key without access to the data of the run.
    second_token: String,
    /// The URL of the conformance control, if the host has one. Its token is that of the run.
    control: Option<String>,
    runtime: Runtime,
    serving: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    folder: TempDir,
}

impl OwnHost {
    /// Starts a host, with the conformance control if the cases need it.
    pub(super) fn start(has_control: bool) -> Result<Self> {
        let failed = |error: std::io::Error| {
            Failure::new(Code::KitHarness, format!("cannot start a temporary host: {error}"))
        };
        let folder = tempfile::Builder::new().prefix("accord-check-").tempdir().map_err(failed)?;
        let runtime = Builder::new_multi_thread().enable_all().build().map_err(failed)?;
        let opened = runtime.block_on(open(folder.path(), has_control))?;
        let Opened { server, control, token, second_token } = opened;
        let (url, address) = (server.url(), control.as_ref().map(ControlServer::address));
        let (end, ended) = oneshot::channel();
        // Resolves when the sender is used or dropped.
        let ended = ended.map(drop).shared();
        let served = runtime.spawn(async move {
            match control {
                None => server.run(ended).await,
                Some(control) => drop(tokio::join!(server.run(ended.clone()), control.run(ended))),
            }
        });
        let control = address.map(|address| format!("http://{address}"));
        let serving = Some((end, served));
        Ok(Self { url, token, second_token, control, runtime, serving, folder })
    }

    /// The conformance control of the host, if it has one.
    pub(super) fn control(&self) -> Option<ControlOptions> {
        let mut control = ControlOptions::new(self.control.as_ref()?);
        control.token = Some(self.token.clone());
        Some(control)
    }

    pub(super) fn options(&self) -> HttpOptions {
        let mut options = HttpOptions::new(&self.url);
        options.token = Some(self.token.clone());
        options.second_token = Some(self.second_token.clone());
        options.thrown_away = true;
        options
    }

    /// The folder to remove if a signal ends the process.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for OwnHost {
    fn drop(&mut self) {
        if let Some((end, served)) = self.serving.take() {
            // The host closes its store before `folder` is dropped and removed.
            let _ = end.send(());
            let _ = self.runtime.block_on(served);
        }
    }
}

/// A host that listens and has not begun to answer.
struct Opened {
    server: Server,
    control: Option<ControlServer>,
    token: String,
    second_token: String,
}

/// Opens the host, and creates its two keys.
async fn open(folder: &Path, has_control: bool) -> Result<Opened> {
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    // The environment may have settings for another host; they are not used here.
    let sources = Sources {
        folder: folder.to_owned(),
        flags: vec![
            setting("listen", "127.0.0.1:0"),
            // A case waits until an idle socket is closed.
            setting("limits.live_pending_timeout", "10s"),
        ],
        ..Sources::default()
    };
    let host = Host::open(folder, sources.resolve()?.settings)?;
    // The only project of a key is the app of a subscriber that names none.
    let token = key(&host, "the run", has_control.then_some(CONTROL_PROJECT)).await?;
    // It has every verb, so a refusal can only be about the project.
    let second_token = key(&host, "elsewhere", Some("elsewhere")).await?;
    let control = if has_control {
        let expected = Token::parse(&token).map_err(|why| CliError::new(Code::KitHarness, why))?;
        let is_authorized = Box::new(move |header: Option<&_>| expected.matches(header));
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        Some(ControlServer::bind(host.clone(), address, is_authorized).await?)
    } else {
        None
    };
    Ok(Opened { server: Server::bind(host).await?, control, token, second_token })
}

async fn key(host: &Host, label: &str, project: Option<&str>) -> Result<String> {
    let project = project.map(project_id).transpose()?;
    let asked = KeyRequest {
        label: label.to_owned(),
        verbs: vec![Verb::Admin],
        projects: project.map(|project| vec![project]).into(),
        actor: Field::Absent,
        act_as: None,
        expires_at: Field::Absent,
    };
    let call = Call::<CreateKey>::new(NoParams, NoParams, Json(asked));
    let answer = HostRequest::from(call.encode()).send(local_api(host).as_ref()).await?;
    let Json(created) = answer.read::<Json<KeyEnvelope>>()?.answer;
    created.secret.ok_or_else(|| CliError::new(Code::KitHarness, "the host created no key"))
}
