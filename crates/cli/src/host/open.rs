//! Reaching whoever is asked.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_contract::codes::{Code, Failure};
use accord_host::Api;
use accord_host::client::{Client, ClientOptions};
use accord_host::http::{Host, local_api};
use accord_host::serve::SOCKET;
use accord_host::settings::Sources;
use tokio::runtime::{Builder, Runtime};

use super::answer::{self, Answer, Streamed};
use super::ask::Ask;
use super::target::Target;
use crate::error::CliError;
use crate::output::talk;

/// The file that tells a data folder from any other.
const DATABASE: &str = "accord.db";

/// How long a folder may be taken by another command before this one gives up.
const TAKEN: Duration = Duration::from_secs(5);

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(25);

/// Whether a data folder that is not there is made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Creating {
    /// It is.
    Yes,
    /// There must be one.
    No,
}

/// Whoever is asked, ready to be asked.
pub(crate) struct Connection {
    api: Arc<dyn Api>,
    runtime: Runtime,
}

impl Connection {
    pub(super) fn open(target: &Target, creating: Creating) -> Result<Self, CliError> {
        match target {
            Target::Server { url, key } => server(url, key.clone()),
            Target::Folder(folder) => Self::in_folder(folder, creating),
        }
    }

    /// Through the folder's socket where a host serves it; else a host in this process does.
    pub(crate) fn in_folder(folder: &Path, creating: Creating) -> Result<Self, CliError> {
        let runtime = runtime(Builder::new_multi_thread().worker_threads(2))?;
        let socket = folder.join(SOCKET);
        let until = Instant::now() + TAKEN;
        loop {
            if socket.exists() {
                let client = Client::socket(&socket)?;
                // A host that was killed leaves its socket behind, and nobody listens.
                if runtime.block_on(client.connect()).is_ok() {
                    let api: Arc<dyn Api> = Arc::new(client);
                    return Ok(Self { api, runtime });
                }
            }
            if creating == Creating::No && !holds_store(folder) {
                return Err(no_store(folder));
            }
            match open_here(&runtime, folder) {
                Ok(api) => return Ok(Self { api, runtime }),
                // Another command has the folder, and will be done soon; or a host begins to serve it.
                Err(taken) if taken.code == Code::StoreLocked && Instant::now() < until => {
                    std::thread::sleep(PAUSE);
                }
                Err(failure) => return Err(failure.into()),
            }
        }
    }

    /// The way to ask.
    pub(crate) fn api(&self) -> Arc<dyn Api> {
        Arc::clone(&self.api)
    }

    /// What the asking runs on.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Asks, and waits for the whole answer.
    pub(crate) fn ask(&self, ask: Ask) -> Result<Answer, CliError> {
        self.runtime.block_on(ask.put(self.api.as_ref()))
    }

    /// Asks for an answer that is read piece by piece.
    pub(crate) async fn stream(&self, ask: Ask) -> Result<Streamed, CliError> {
        answer::streamed(ask.call(self.api.as_ref()).await?).await
    }
}

/// Whether a folder is a data folder.
pub(crate) fn holds_store(folder: &Path) -> bool {
    folder.join(DATABASE).exists()
}

fn server(url: &str, key: Option<String>) -> Result<Connection, CliError> {
    let has_key = key.is_some();
    let client = Client::url(url, &ClientOptions::default().with_key(key))?;
    if has_key && client.is_unencrypted() {
        talk(
            "warning: the key goes over the network in the clear; use https:// if the host has it",
        );
    }
    Ok(Connection {
        api: Arc::new(client),
        runtime: runtime(Builder::new_current_thread())?,
    })
}

/// A host in this process, on a folder that nobody else has.
fn open_here(runtime: &Runtime, folder: &Path) -> Result<Arc<dyn Api>, Failure> {
    let _inside = runtime.enter();
    let settings = Sources::of_process(folder, None, Vec::new())
        .resolve()?
        .settings;
    Ok(local_api(&Host::open(folder, settings)?))
}

fn runtime(mut builder: impl std::borrow::BorrowMut<Builder>) -> Result<Runtime, CliError> {
    let built = builder.borrow_mut().enable_all().build();
    built.map_err(|error| {
        Failure::new(
            Code::HostUnreachable,
            format!("this process cannot wait for anything: {error}"),
        )
        .into()
    })
}

fn no_store(folder: &Path) -> CliError {
    CliError::new(
        Code::StoreMissing,
        format!("there is no memory in {}", folder.display()),
    )
    .help(
        "name a data folder with --data or ACCORD_DATA, or a server with --url or ACCORD_URL; \
         `accord serve` and the first deposit make a new folder",
    )
}
