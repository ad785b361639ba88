//! `accord conformance serve`: Accord as an implementation that is judged over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use accord_adapters::agentxchain::workspaces;
use accord_contract::Protocol;
use accord_host::serve::{ServiceLimits, ServiceServer};
use accord_process::limit_file_size;

use super::super::serve::{address, must_be_loopback, runtime};
use super::super::signals::Signals;
use super::service::FixtureService;
use super::token::Token;
use crate::interrupt::stop_programs;
use crate::{Exit, Result, print_line};

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
    pub(crate) fn run(self) -> Result<Exit> {
        if !self.behind_proxy {
            let help = "listen on 127.0.0.1, or say --behind-proxy where a proxy does TLS";
            must_be_loopback(self.listen, help)?;
        }
        let token = Token::required(self.token.clone(), "--token")?;
        // Before any fixture runs: child processes inherit the limit.
        limit_file_size(LARGEST_FILE);
        let runtime = runtime()?;
        runtime.block_on(self.serve(token))?;
        // What did not end in time must neither keep the process nor outlive it.
        stop_programs(workspaces);
        // A blocked thread cannot be stopped. Its programs are gone, so nothing is waited for.
        runtime.shutdown_timeout(Duration::ZERO);
        Ok(Exit::Yes)
    }

    async fn serve(self, token: Token) -> Result<()> {
        // Before readiness is printed: a supervisor may send a signal as soon as it reads that.
        let signals = Signals::listen()?;
        let service = Arc::new(FixtureService::new(token)?);
        let server = ServiceServer::bind(self.listen, service, LIMITS).await?;
        print_line(format!("accord: listening on http://{}", server.address()))?;
        server.run(signals.end()).await;
        Ok(())
    }
}
