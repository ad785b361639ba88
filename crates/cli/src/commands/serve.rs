//! `accord serve`: a host that others can reach.

use std::net::SocketAddr;
use std::path::Path;

use accord_contract::{Code, Failure};
use accord_host::http::Host;
use accord_host::log;
use accord_host::serve::{CONTROL_PROJECT, ControlServer, SOCKET, Server, url_of_host};
use accord_host::settings::listen_address;
use futures_util::FutureExt as _;
use hyper::header::HeaderValue;
use tokio::runtime::{Builder, Runtime};

use super::config::SettingArgs;
use super::conformance::Token;
use super::launch::use_launcher;
use super::signals::Signals;
use crate::{CliError, Exit, Output, Result};

/// Serve a data folder over HTTP
///
/// Prints `accord: listening on http://ADDRESS` on standard output when it is ready; everything
/// else goes to standard error. SIGTERM, SIGHUP or Ctrl-C ends it after the running requests; a
/// second signal ends it at once.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    settings: SettingArgs,

    /// Also offer conformance control v1 for live sessions on this address; its URL is the second
    /// line of standard output
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    conformance_control: Option<SocketAddr>,

    /// The token that every request to the control must send (Authorization: Bearer TOKEN); prefer
    /// ACCORD_CONFORMANCE_TOKEN, which the process list does not show
    #[arg(
        long, value_name = "TOKEN", requires = "conformance_control", value_parser = Token::parse
    )]
    conformance_token: Option<Token>,

    /// Serve live sessions with a seeded fault, to test the kit
    #[cfg(feature = "faults")]
    #[arg(long, value_name = "NAME", hide = true)]
    fault: Option<String>,
}

/// The conformance control to offer: where, and its token.
type ControlArgs = Option<(SocketAddr, Token)>;

/// How many threads may wait for the disk; more work waits for them.
const WAITING_THREADS: usize = 32;

impl ServeArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let mut settings = self.settings.resolve()?.settings;
        #[cfg(feature = "faults")]
        let _active = self.fault()?.map(accord_contract::faults::Fault::everywhere);
        let control = self.control()?;
        if control.is_some() {
            settings.live.default_project.get_or_insert_with(|| CONTROL_PROJECT.to_owned());
        }
        log::begin(&settings.log)?;
        accord_process::supervise();
        use_launcher(&settings.workers);
        accord_process::raise_open_file_limit();
        let runtime = runtime()?;
        let folder = self.settings.folder()?;
        let host = Host::open(&folder, settings).map_err(|failure| taken(failure, &folder))?;
        // Workers that are started elsewhere must not see it.
        if let Err(error) = accord_process::note_data_folder(&folder) {
            tracing::warn!("workers of other commands may see the data folder: {error}");
        }
        let limit = host.settings().limits.shutdown_timeout;
        runtime.block_on(serve(host, control))?;
        // What did not end in time must not keep the process.
        runtime.shutdown_timeout(limit);
        Ok(Exit::Yes)
    }

    #[cfg(feature = "faults")]
    fn fault(&self) -> Result<Option<accord_contract::faults::Fault>> {
        let Some(name) = &self.fault else { return Ok(None) };
        let mut faults = accord_live_core::faults::ALL.iter().chain(accord_live::faults::ALL);
        let found = faults.find(|fault| fault.name == name).copied();
        let unknown = || CliError::usage(format!("no fault is called {name:?}"));
        found.map(Some).ok_or_else(unknown)
    }

    fn control(&self) -> Result<ControlArgs> {
        let Some(address) = self.conformance_control else { return Ok(None) };
        must_be_loopback(address, "listen on 127.0.0.1")?;
        let token = Token::required(self.conformance_token.clone(), "--conformance-token")?;
        Ok(Some((address, token)))
    }
}

pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    listen_address(text).map_err(|why| format!("it {why}"))
}

/// Refuses an address at which a token would cross a network.
pub(super) fn must_be_loopback(address: SocketAddr, help: &str) -> Result<()> {
    if address.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    let message =
        format!("{address} can be reached by others, and the token would go there in the clear");
    Err(CliError::new(Code::ServeTlsNeeded, message).help(help))
}

/// Says how to reach a host that already serves the folder.
fn taken(failure: Failure, folder: &Path) -> CliError {
    if failure.code != Code::StoreLocked || !folder.join(SOCKET).exists() {
        return failure.into();
    }
    let others = match url_of_host(folder) {
        Some(url) => format!("others by {url}"),
        None => "others by the URL that it printed".to_owned(),
    };
    CliError::from(failure).help(format!(
        "a host serves this folder already: commands with `--data {}` talk to it through its \
         socket, {others}; stop that process to serve the folder again",
        folder.display()
    ))
}

async fn serve(host: Host, control: ControlArgs) -> Result<()> {
    // Before readiness is printed: a supervisor may send a signal as soon as it reads that.
    let signals = Signals::listen()?;
    let server = Server::bind(host.clone()).await?;
    let control = match control {
        Some((address, token)) => {
            let is_authorized = Box::new(move |header: Option<&HeaderValue>| token.matches(header));
            Some(ControlServer::bind(host, address, is_authorized).await?)
        }
        None => {
            drop(host);
            None
        }
    };
    let mut output = Output::stdout();
    output.line(format!("accord: listening on {}", server.url()))?;
    if let Some(control) = &control {
        output.line(format!("accord: conformance control on http://{}", control.address()))?;
    }
    output.finish()?;
    let end = signals.end().shared();
    match control {
        None => server.run(end).await,
        Some(control) => drop(tokio::join!(server.run(end.clone()), control.run(end))),
    }
    Ok(())
}

/// The threads of a server.
pub(super) fn runtime() -> Result<Runtime> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    Builder::new_multi_thread()
        .worker_threads(cores.clamp(2, 8))
        .max_blocking_threads(WAITING_THREADS)
        .thread_name("accord")
        .enable_all()
        .build()
        .map_err(|error| CliError::new(Code::HttpFault, format!("cannot start threads: {error}")))
}
