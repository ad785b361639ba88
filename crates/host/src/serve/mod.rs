//! Serving: listening on the network and on the socket in the data folder.
//!
//! Invariants:
//! - A server without keys can be reached only from its own machine.
//! - A client that makes no progress loses its connection. When there are too many connections, new
//!   clients are refused with a code.
//! - On shutdown running requests may finish, within a limit. Then the store is closed.

mod control;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use accord_contract::Failure;
use accord_memory::Retention;
use accord_serving::listen::{Acceptor, ConnectionPolicy, Listeners, Socket, UrlFile};
use accord_serving::listen::{listen, rules, tls};

use crate::http::{Host, errors};
use crate::settings::Settings;
use crate::tasks::scheduler;

pub use self::control::{CONTROL_PROJECT, ControlServer, IsAuthorized};
pub use accord_serving::listen::{
    AttemptSocket, Authenticated, SOCKET, Service, ServiceLimits, ServiceServer, this_process,
    url_of_host,
};

/// The signal that ends a process which writes past its limit on the size of files. If a process
/// handles it, the write fails instead, and the client gets the code for a full disk.
pub const FILE_TOO_LARGE: i32 = rustix::process::Signal::XFSZ.as_raw();

/// A host's server that listens and has not begun to answer.
pub struct Server {
    host: Host,
    listeners: Listeners,
    url_file: UrlFile,
    address: SocketAddr,
}

impl Server {
    /// Listens where the host's settings say.
    pub async fn bind(host: Host) -> Result<Self, Failure> {
        // Before anything listens, so that not even one connection breaks the rule.
        rules::check(host.settings(), host.keys().required().await?)?;
        let tls = tls::acceptor(host.settings())?;
        host.live().open_secret().await?;
        let (tcp, address) = listen(host.settings().listen).await?;
        let socket = Socket::bind(host.folder())?;
        let url = url(address, tls.is_some());
        host.set_url(&public_url(host.settings(), address, &url));
        let url_file = UrlFile::write(host.folder(), &url);
        let listeners = Listeners { tcp, tls, socket: Some(socket) };
        Ok(Self { host, listeners, url_file, address })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens, as a URL.
    pub fn url(&self) -> String {
        url(self.address, self.listeners.tls.is_some())
    }

    /// Answers until `end`, then lets running requests finish, and closes the store that the host
    /// opened.
    pub async fn run(self, end: impl Future<Output = ()>) {
        let host = self.host;
        if matches!(host.keys().required().await, Ok(false)) {
            tracing::warn!(
                "there are no keys: everybody on this machine can read and write; \
                 `accord key create` makes the first key"
            );
        }
        accord_system::spawn(retain(host.clone()));
        accord_system::spawn(embed(host.clone()));
        accord_system::spawn(crate::flows::live::keep_answers(host.clone()));
        accord_system::spawn(crate::flows::edges::keep_edges(host.clone()));
        accord_system::spawn(crate::notify::tell_people(host.clone()));
        accord_system::spawn(accord_live_door::sweep(host.live_door()));
        if host.settings().tasks.schedule && host.has_store() {
            scheduler::start(&host);
        }
        let acceptor = Acceptor {
            router: host.router(),
            limits: host.settings().limits.clone(),
            metrics: host.metrics().clone(),
            connections: host.connections().clone(),
            protocol: errors::WITHOUT_ROUTE,
            policy: ConnectionPolicy::default(),
        };
        let on_closing = || {
            tracing::info!("closing");
            drop(self.url_file);
            // Event streams do not end on their own and would use up the shutdown timeout.
            host.streams().close();
        };
        let limit = host.settings().limits.shutdown_timeout;
        if !acceptor.run(self.listeners, end, on_closing).await {
            tracing::warn!("some requests did not end in time and were cut off");
        }
        if tokio::time::timeout(limit, host.streams().finished()).await.is_err() {
            tracing::warn!("some sessions were not ended in time");
        }
        if !host.owns_engine() {
            return;
        }
        // A cut-off request may still hold the host. The store is closed regardless.
        let engine = Arc::clone(host.engine());
        let closed = accord_system::spawn_blocking(move || engine.close()).await;
        if !matches!(closed, Ok(Ok(()))) {
            tracing::error!("the store was not closed in order; acknowledged writes are kept");
        }
    }
}

/// The address for browsers: under the first name of the server, if it has one and others than
/// this machine reach it, else its own. A proxy has the port of its scheme.
fn public_url(settings: &Settings, address: SocketAddr, own: &str) -> String {
    let scheme = own.split("://").next().unwrap_or_default();
    match settings.allowed_hosts.first() {
        Some(name) if settings.behind_proxy => format!("https://{name}"),
        Some(name) if !address.ip().is_loopback() => {
            format!("{scheme}://{name}:{}", address.port())
        }
        _ => own.to_owned(),
    }
}

fn url(address: SocketAddr, is_tls: bool) -> String {
    let scheme = if is_tls { "https" } else { "http" };
    format!("{scheme}://{address}")
}

/// Makes vectors of packages until the host closes.
async fn embed(host: Host) {
    let closed = host.streams().closed();
    host.memory().embed_packages(closed).await;
}

/// Applies the retention settings until the host closes.
async fn retain(host: Host) {
    let days = |days: u32| (days > 0).then_some(days);
    let settings = &host.settings().retention;
    let (events_days, blobs_days) = (days(settings.events_days), days(settings.blobs_days));
    let retention = Retention { events_days, blobs_days };
    let closed = host.streams().closed();
    host.memory().retain_daily(retention, closed).await;
}
