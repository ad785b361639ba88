//! `accord serve`: a host that others can reach.

use std::path::Path;

use accord_contract::codes::{Code, Failure};
use accord_host::http::Host;
use accord_host::log;
use accord_host::serve::{SOCKET, Server, url_of_host};
use tokio::runtime::{Builder, Runtime};

use super::config::SettingArgs;
use super::signals::Signals;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// Serve a data folder over HTTP
///
/// Prints `accord: listening on http://ADDRESS` on standard output when it is ready; everything
/// else goes to standard error. SIGTERM, SIGHUP or Ctrl-C ends it after the running requests; a
/// second signal ends it at once.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    settings: SettingArgs,
}

/// How many threads may wait for the disk; more work waits for them.
const WAITING_THREADS: usize = 32;

impl ServeArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let settings = self.settings.resolve()?.settings;
        log::begin(&settings.log)?;
        accord_process::supervise();
        let runtime = runtime()?;
        let folder = self.settings.folder()?;
        let host = Host::open(&folder, settings).map_err(|failure| taken(failure, &folder))?;
        let limit = host.settings().limits.shutdown_timeout;
        runtime.block_on(serve(host))?;
        // What did not end in time must not keep the process.
        runtime.shutdown_timeout(limit);
        Ok(Exit::Yes)
    }
}

/// Says how to reach a host that already serves the folder.
fn taken(failure: Failure, folder: &Path) -> CliError {
    let is_served = failure.code == Code::StoreLocked && folder.join(SOCKET).exists();
    let error = CliError::from(failure);
    if !is_served {
        return error;
    }
    let others = match url_of_host(folder) {
        Some(url) => format!("others by {url}"),
        None => "others by the URL that it printed".to_owned(),
    };
    error.help(format!(
        "a host serves this folder already: commands with `--data {}` talk to it through its \
         socket, {others}; stop that process to serve the folder again",
        folder.display()
    ))
}

async fn serve(host: Host) -> Result<(), CliError> {
    // Before readiness is printed: a supervisor may send a signal as soon as it reads that.
    let signals = Signals::listen()?;
    let server = Server::bind(host).await?;
    let mut output = Output::stdout();
    output.line(format!("accord: listening on {}", server.url()))?;
    output.finish()?;
    server.run(signals.end()).await;
    Ok(())
}

/// The threads of a server.
pub(super) fn runtime() -> Result<Runtime, CliError> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    Builder::new_multi_thread()
        .worker_threads(cores.clamp(2, 8))
        .max_blocking_threads(WAITING_THREADS)
        .thread_name("accord")
        .enable_all()
        .build()
        .map_err(|error| CliError::new(Code::HttpFault, format!("cannot start threads: {error}")))
}
