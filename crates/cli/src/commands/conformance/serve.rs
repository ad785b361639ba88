//! `accord conformance serve`: Accord as an implementation that is judged over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use accord_adapters::agentxchain::workspaces;
use accord_contract::{Code, Protocol};
use accord_host::serve::{ServiceLimits, ServiceServer};
use accord_host::settings::listen_address;
use accord_process::limit_file_size;

use super::super::serve::runtime;
use super::super::signals::Signals;
use super::service::FixtureService;
use super::token::Token;
use crate::error::CliError;
use crate::exit::Exit;
use crate::interrupt::stop_programs;
use crate::output::Output;

/// Answer fixtures over HTTP (http-fixture-v1) to clients with the token
///
/// Prints `accord: listening on http://ADDRESS` on standard output when it is ready. A fixture can
/// contain commands, which run on this machine: keep the token secret. Each fixture has its own
/// folder, which is removed afterwards. SIGTERM, SIGHUP or Ctrl-C ends it after the running
/// requests; a second signal ends it at once.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Where to listen, an IP address and a port; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8788", value_parser = address)]
    listen: SocketAddr,

    /// The token that every request must send (Authorization: Bearer TOKEN); prefer
    /// ACCORD_CONFORMANCE_TOKEN, which the process list does not show
    #[arg(long, value_parser = Token::parse)]
    token: Option<Token>,

    /// Listen on an address that others can reach: a proxy in front does TLS
    #[arg(long)]
    behind_proxy: bool,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    listen_address(text).map_err(|why| format!("it {why}"))
}

/// The largest file that a fixture or its hooks may write: far more than the largest fixture needs,
/// and too little to fill the disk by accident.
const LARGEST_FILE: u64 = 64 * 1024 * 1024;

const LIMITS: ServiceLimits = ServiceLimits {
    connections: 64,
    // The whole exchange, including the wait for fixtures of others.
    lifetime: Duration::from_secs(120),
    protocol: Protocol::Xchain,
};

impl ServeArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let local = self.listen.ip().to_canonical().is_loopback();
        if !local && !self.behind_proxy {
            let message = format!(
                "{} can be reached by others, and the token would go there in the clear",
                self.listen
            );
            return Err(CliError::new(Code::ServeTlsNeeded, message)
                .help("listen on 127.0.0.1, or say --behind-proxy where a proxy does TLS"));
        }
        let token = match &self.token {
            Some(token) => token.clone(),
            None => Token::of_environment("--token")?,
        };
        // Before any fixture runs: child processes inherit the limit.
        limit_file_size(LARGEST_FILE);
        let runtime = runtime()?;
        runtime.block_on(self.serve(token))?;
        // What did not end in time must neither keep the process nor outlive it.
        stop_programs(workspaces);
        // A blocked thread cannot be stopped. Its programs are gone, so there is nothing to wait
        // for.
        runtime.shutdown_timeout(Duration::ZERO);
        Ok(Exit::Yes)
    }

    async fn serve(self, token: Token) -> Result<(), CliError> {
        // Before readiness is printed: a supervisor may send a signal as soon as it reads that.
        let signals = Signals::listen()?;
        let service = Arc::new(FixtureService::new(token)?);
        let server = ServiceServer::bind(self.listen, service, LIMITS).await?;
        let mut output = Output::stdout();
        output.line(format!("accord: listening on http://{}", server.address()))?;
        output.finish()?;
        server.run(signals.end()).await;
        Ok(())
    }
}
