//! Listening on the network and on the socket in the data folder.
//!
//! Invariants:
//! - A server without keys can be reached only from its own machine ([`rules`]).
//! - A client that makes no progress loses its connection. When there are too many connections, new
//!   clients are refused with a code.

mod accept;
mod activity;
mod attempt_socket;
mod connection;
mod peer_process;
mod refusals;
pub mod rules;
mod service;
mod socket;
mod stream;
pub mod tls;
mod url_file;

use std::net::SocketAddr;

use accord_contract::{Code, Failure};
use tokio::net::TcpListener;

pub use self::accept::{Acceptor, Authenticated, ConnectionPolicy, Listeners};
pub use self::attempt_socket::AttemptSocket;
pub(crate) use self::peer_process::check_server;
pub use self::peer_process::{NetworkPeer, this_process};
pub use self::service::{Service, ServiceLimits, ServiceServer};
pub use self::socket::{SOCKET, Socket};
pub use self::url_file::{UrlFile, url_of_host};

/// Listens on an address. Returns the address with the real port. Fails with `listen_failed`.
pub async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let failed = |error: std::io::Error| {
        let message = format!("cannot listen on {address}: {error}");
        Failure::new(Code::ServeListenFailed, message)
    };
    let tcp = TcpListener::bind(address).await.map_err(failed)?;
    let address = tcp.local_addr().map_err(failed)?;
    Ok((tcp, address))
}
