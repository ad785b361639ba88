//! A temporary host to test, on a local port with a temporary data folder.

use std::path::Path;

use accord_contract::codes::{Code, Failure};
use accord_host::http::{Host, local_api};
use accord_host::serve::Server;
use accord_host::settings::Sources;
use accord_kit::driver::HttpOptions;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::error::CliError;
use crate::host::HostRequest;

/// A temporary host, stopped when this is dropped.
pub(super) struct OwnHost {
    url: String,
    /// The key of the run, with the scope `admin`.
    token: String,
    /// A key without access to the data of the run.
    second_token: String,
    runtime: Runtime,
    serving: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    folder: TempDir,
}

impl OwnHost {
    pub(super) fn start() -> Result<Self, CliError> {
        let failed = |error: std::io::Error| {
            let message = format!("cannot start a temporary host: {error}");
            Failure::new(Code::KitHarness, message)
        };
        let folder = tempfile::Builder::new().prefix("accord-check-").tempdir();
        let folder = folder.map_err(failed)?;
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.enable_all().build().map_err(failed)?;
        let (server, token, second_token) = runtime.block_on(open(folder.path()))?;
        let url = server.url();
        let (end, ended) = oneshot::channel();
        let served = runtime.spawn(server.run(async {
            // Resolves when the sender is used or dropped.
            let _ = ended.await;
        }));
        Ok(Self { url, token, second_token, runtime, serving: Some((end, served)), folder })
    }

    /// The options for the kit.
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

/// Opens the host, and creates its two keys.
async fn open(folder: &Path) -> Result<(Server, String, String), CliError> {
    // The environment may have settings for another host; they are not used here.
    let sources = Sources {
        folder: folder.to_owned(),
        flags: vec![("listen".to_owned(), "127.0.0.1:0".to_owned())],
        ..Sources::default()
    };
    let host = Host::open(folder, sources.resolve()?.settings)?;
    let token = key(&host, &serde_json::json!({"label": "the run", "verbs": ["admin"]})).await?;
    let elsewhere =
        // It has every verb, so a refusal can only be about the project.
        serde_json::json!({"label": "elsewhere", "verbs": ["admin"], "projects": ["elsewhere"]});
    let second_token = key(&host, &elsewhere).await?;
    Ok((Server::bind(host).await?, token, second_token))
}

async fn key(host: &Host, asked: &accord_contract::wire::Value) -> Result<String, CliError> {
    let request = HostRequest::post(&["accord", "v1", "keys"], asked);
    let answer = request.send(local_api(host).as_ref()).await?.value()?;
    let secret = answer["secret"].as_str().map(str::to_owned);
    secret.ok_or_else(|| CliError::new(Code::KitHarness, "the host created no key"))
}
