//! The accept loop: takes connections within a limit, and serves each in a separate task.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use accord_contract::Protocol;
use axum::Router;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;

use super::connection::Connection;
use super::peer_process::{NetworkPeer, socket_owner};
use super::refusals;
use super::socket::Socket;
use crate::settings::Limits;
use crate::{Metrics, Peer, Permit, Permits};

/// How many refused connections are answered at once. Further ones are closed without an answer.
const REFUSALS_AT_ONCE: usize = 64;
/// When the system asks a silent peer whether it is still there, how often, and how many times.
const PROBE_AFTER: Duration = Duration::from_secs(60);
const PROBE_EVERY: Duration = Duration::from_secs(20);
const PROBES: u32 = 3;
/// How long to wait after a failed accept, which usually means that file descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub struct Listeners {
    pub tcp: TcpListener,
    pub tls: Option<TlsAcceptor>,
    /// The socket of the data folder, if the server has one.
    pub socket: Option<Socket>,
}

pub struct Acceptor {
    pub router: Arc<Router>,
    pub limits: Limits,
    pub metrics: Metrics,
    pub connections: Permits,
    /// The protocol of refusals of requests that reach no route.
    pub protocol: Protocol,
    pub policy: ConnectionPolicy,
}

/// How long connections live, and which of them make room for others.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectionPolicy {
    /// Whether a connection ends after one request.
    pub one_request: bool,
    /// How long a connection may live; `None` for as long as it makes progress.
    pub lifetime: Option<Duration>,
    /// Whether the oldest connection that has not authenticated is closed when there are too many.
    /// Otherwise the new one is refused.
    pub evict_unauthenticated: bool,
}

/// Whether a connection has authenticated. It is in the extensions of every request; a clone is
/// the same connection.
#[derive(Clone, Debug, Default)]
pub struct Authenticated(Arc<AtomicBool>);

impl Authenticated {
    /// From now on the connection is not closed to make room for another.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

struct Running<'a> {
    acceptor: &'a Acceptor,
    tls: Option<TlsAcceptor>,
    refusals: Permits,
    closing: watch::Receiver<bool>,
    /// Each connection has a clone. When the last is gone, so are the connections.
    alive: mpsc::Sender<()>,
    /// Connections that had not authenticated when they began, the oldest first. Empty unless the
    /// policy evicts.
    unauthenticated: VecDeque<(Authenticated, AbortHandle)>,
}

impl Acceptor {
    /// Serves connections until `end`. Then stops listening, calls `on_closing`, and gives running
    /// requests the shutdown timeout. Returns whether all ended in time.
    pub async fn run(
        self,
        listeners: Listeners,
        end: impl Future<Output = ()>,
        on_closing: impl FnOnce(),
    ) -> bool {
        let closing = watch::Sender::new(false);
        let (alive, mut ended) = mpsc::channel::<()>(1);
        let Listeners { tcp, tls, socket } = listeners;
        let mut running = Running {
            acceptor: &self,
            tls,
            refusals: Permits::new(REFUSALS_AT_ONCE),
            closing: closing.subscribe(),
            alive,
            unauthenticated: VecDeque::new(),
        };
        let mut end = std::pin::pin!(end);
        loop {
            tokio::select! {
                () = &mut end => break,
                accepted = tcp.accept() => match accepted {
                    Ok((stream, remote)) => running.serve_network(stream, remote).await,
                    Err(error) => pause(&error).await,
                },
                accepted = accept_local(socket.as_ref()) => match accepted {
                    Ok(stream) => running.serve_local(stream),
                    Err(error) => pause(&error).await,
                },
            }
        }
        running.evict_all();
        // Stops listening, and drops the sender of this loop: `ended` completes when the last
        // connection has dropped its own.
        drop((tcp, socket, running));
        on_closing();
        closing.send_replace(true);
        let timeout = self.limits.shutdown_timeout;
        tokio::time::timeout(timeout, ended.recv()).await.is_ok()
    }
}

impl Running<'_> {
    async fn serve_network(&mut self, stream: TcpStream, remote: SocketAddr) {
        // Answers are written whole; Nagle's algorithm would only delay them.
        drop(stream.set_nodelay(true));
        drop(keep_alive(&stream));
        let Ok(local) = stream.local_addr() else { return };
        let tls = self.tls.clone();
        let Some(permit) = self.permit().await else {
            self.refuse(stream, tls);
            return;
        };
        let connection = self.connection(Peer::Network(NetworkPeer::new(local, remote)));
        let authenticated = connection.authenticated.clone();
        // The handshake is below `MonitoredStream`, which has the other timeouts.
        let handshake_timeout = self.acceptor.limits.header_timeout;
        let serve = async move {
            match tls {
                None => connection.serve(stream).await,
                Some(tls) => {
                    let handshake = tokio::time::timeout(handshake_timeout, tls.accept(stream));
                    match handshake.await {
                        Ok(Ok(stream)) => connection.serve(stream).await,
                        Ok(Err(error)) => tracing::debug!(%error, "the TLS handshake failed"),
                        Err(_) => tracing::debug!("the TLS handshake timed out"),
                    }
                }
            }
        };
        let lifetime = self.acceptor.policy.lifetime;
        let task = accord_system::spawn(async move {
            match lifetime {
                None => serve.await,
                Some(lifetime) => drop(tokio::time::timeout(lifetime, serve).await),
            }
            drop(permit);
        });
        if self.acceptor.policy.evict_unauthenticated {
            let handle = task.abort_handle();
            self.unauthenticated.push_back((authenticated, handle));
        }
    }

    /// Serves a connection through the socket of the data folder. Its file mode admits only the
    /// owner, so these connections do not count against the limit.
    fn serve_local(&self, stream: UnixStream) {
        let connection = self.connection(Peer::Trusted(socket_owner(&stream)));
        accord_system::spawn(async move { connection.serve(stream).await });
    }

    fn connection(&self, peer: Peer) -> Connection {
        let acceptor = self.acceptor;
        Connection {
            router: Arc::clone(&acceptor.router),
            limits: acceptor.limits.clone(),
            metrics: acceptor.metrics.clone(),
            protocol: acceptor.protocol,
            one_request: acceptor.policy.one_request,
            peer,
            authenticated: Authenticated::default(),
            closing: self.closing.clone(),
            _alive: self.alive.clone(),
        }
    }

    async fn permit(&mut self) -> Option<Permit> {
        if let Some(permit) = self.acceptor.connections.try_take() {
            return Some(permit);
        }
        self.unauthenticated
            .retain(|(authenticated, task)| !authenticated.is_set() && !task.is_finished());
        let (_, task) = self.unauthenticated.pop_front()?;
        task.abort();
        // The aborted task returns its permit when it is dropped, which does not take long.
        self.acceptor.connections.take().await
    }

    fn refuse(&self, stream: TcpStream, tls: Option<TlsAcceptor>) {
        let failure = refusals::too_many_connections(self.acceptor.connections.limit());
        self.acceptor.metrics.refused(failure.code);
        let protocol = self.acceptor.protocol;
        if let Some(permit) = self.refusals.try_take() {
            accord_system::spawn(async move {
                refusals::send(stream, tls, &failure, protocol).await;
                drop(permit);
            });
        }
    }

    fn evict_all(&mut self) {
        for (authenticated, task) in self.unauthenticated.drain(..) {
            if !authenticated.is_set() {
                task.abort();
            }
        }
    }
}

/// Lets the system notice a peer that has vanished. A live socket may be silent for hours and has
/// no pings of the server, so that nothing else would.
fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    let probes = TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_EVERY);
    SockRef::from(stream).set_tcp_keepalive(&probes.with_retries(PROBES))
}

async fn accept_local(socket: Option<&Socket>) -> io::Result<UnixStream> {
    match socket {
        Some(socket) => socket.accept().await,
        None => std::future::pending().await,
    }
}

pub(super) async fn pause(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_peer_that_vanishes_is_noticed_within_two_minutes() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (_client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (stream, _) = accepted.unwrap();
        keep_alive(&stream).unwrap();
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().unwrap());
        let (after, every) =
            (socket.tcp_keepalive_time().unwrap(), socket.tcp_keepalive_interval().unwrap());
        assert_eq!((after, every), (PROBE_AFTER, PROBE_EVERY));
        let probes = socket.tcp_keepalive_retries().unwrap();
        assert!(after + every * probes <= Duration::from_secs(120));
    }
}
