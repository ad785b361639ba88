//! Serving: listening on the network and on the socket in the data folder, until told to end.
//!
//! Invariants:
//! - nobody but those on this machine can reach a server that has no keys;
//! - no client can hold a connection without making progress, and none can take all of them without the
//!   others being told;
//! - when the server is told to end, what runs is finished within a limit, then the store is closed.

mod activity;
mod connection;
mod note;
mod refuse;
mod rules;
mod socket;
mod tls;
mod watched;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use accord_base::Caller;
use accord_contract::codes::{Code, Failure};
use accord_memory::Retention;
use axum::Router;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;

use self::connection::Visit;
use self::note::Note;
use self::socket::Socket;
use crate::http::{Entrance, Host};

pub use self::note::url_of_host;
pub use self::socket::SOCKET;

/// The signal that ends a process which writes past its limit on the size of files, unless somebody listens to it:
/// then the write fails, and whoever asked for it is told that there is no room.
pub const FILE_TOO_LARGE: i32 = rustix::process::Signal::XFSZ.as_raw();

/// How many connections too many are told so at once; further ones are closed without a word.
const TOLD_AT_ONCE: usize = 64;

/// How long to wait when the machine has no more connections to give.
const BREATH: Duration = Duration::from_millis(50);

/// A server that listens and has not begun to answer.
pub struct Server {
    host: Host,
    router: Arc<Router>,
    tcp: TcpListener,
    tls: Option<TlsAcceptor>,
    socket: Socket,
    note: Note,
    address: SocketAddr,
}

impl Server {
    /// Listens where the host's settings say.
    ///
    /// # Errors
    /// When the rules forbid it, or the address or the socket cannot be had.
    pub async fn bind(host: Host) -> Result<Self, Failure> {
        rules::check(host.settings(), host.keys().required())?;
        let tls = tls::acceptor(host.settings())?;
        let listen = host.settings().listen;
        let failed = |error: std::io::Error| {
            let message = format!("cannot listen on {listen}: {error}");
            Failure::new(Code::ServeListenFailed, message)
        };
        let tcp = TcpListener::bind(listen).await.map_err(failed)?;
        let address = tcp.local_addr().map_err(failed)?;
        let socket = Socket::bind(host.folder())?;
        let note = Note::write(host.folder(), &url(address, tls.is_some()));
        Ok(Self {
            router: host.router(),
            host,
            tcp,
            tls,
            socket,
            note,
            address,
        })
    }

    /// Where it listens, with the real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens, as clients write it.
    pub fn url(&self) -> String {
        url(self.address, self.tls.is_some())
    }

    /// Answers until `end`, then finishes what runs, within the limit of the settings.
    pub async fn run(self, end: impl Future<Output = ()>) {
        if !self.host.keys().required() {
            tracing::warn!(
                "there are no keys: everybody on this machine may read and write; \
                 `accord key create` makes the first key"
            );
        }
        tokio::spawn(retain(self.host.clone()));
        let closing = watch::Sender::new(false);
        // Whoever visits holds a sender; when the last is gone, so are the visitors.
        let (visitor, mut visitors) = mpsc::channel::<()>(1);
        let door = Door {
            host: self.host.clone(),
            router: self.router,
            tls: self.tls,
            told: Arc::default(),
            closing: closing.subscribe(),
            visitor,
        };
        let mut end = std::pin::pin!(end);
        loop {
            tokio::select! {
                () = &mut end => break,
                accepted = self.tcp.accept() => match accepted {
                    Ok((stream, _)) => door.network(stream),
                    Err(error) => pause(&error).await,
                },
                accepted = self.socket.accept() => match accepted {
                    Ok(stream) => door.owner(stream),
                    Err(error) => pause(&error).await,
                },
            }
        }
        tracing::info!("closing");
        drop((self.tcp, self.socket, self.note, door));
        self.host.streams().close();
        closing.send_replace(true);
        let limit = self.host.settings().limits.shutdown_timeout;
        let gone = tokio::time::timeout(limit, visitors.recv());
        if gone.await.is_err() {
            tracing::warn!("some requests did not end in time and are cut off");
        }
        // Somebody may still hold the host for a moment; the store is closed all the same.
        let engine = Arc::clone(self.host.engine());
        let finished = tokio::task::spawn_blocking(move || engine.close()).await;
        if !matches!(finished, Ok(Ok(()))) {
            tracing::error!("the store did not close in order; what was acknowledged is kept");
        }
    }
}

fn url(address: SocketAddr, is_tls: bool) -> String {
    let scheme = if is_tls { "https" } else { "http" };
    format!("{scheme}://{address}")
}

/// What every connection is let in with.
struct Door {
    host: Host,
    router: Arc<Router>,
    tls: Option<TlsAcceptor>,
    told: Arc<AtomicUsize>,
    closing: watch::Receiver<bool>,
    visitor: mpsc::Sender<()>,
}

impl Door {
    /// Lets in a connection from the network, if there is room for it.
    fn network(&self, stream: TcpStream) {
        // Answers are written whole; waiting for more to send would only delay them.
        drop(stream.set_nodelay(true));
        let Ok(local) = stream.local_addr() else {
            return;
        };
        let limits = &self.host.settings().limits;
        let patience = limits.header_timeout;
        let open = Arc::clone(self.host.metrics().connections());
        let tls = self.tls.clone();
        let Some(place) = Place::take(&open, limits.connections) else {
            let failure = refuse::too_many(limits.connections);
            self.host.metrics().refused(failure.code);
            if let Some(place) = Place::take(&self.told, TOLD_AT_ONCE) {
                tokio::spawn(async move {
                    refuse::tell(stream, tls, &failure).await;
                    drop(place);
                });
            }
            return;
        };
        let visit = self.visit(Entrance::Network(local));
        tokio::spawn(async move {
            match tls {
                None => visit.serve(stream).await,
                Some(tls) => match tokio::time::timeout(patience, tls.accept(stream)).await {
                    Ok(Ok(stream)) => visit.serve(stream).await,
                    Ok(Err(error)) => tracing::debug!(%error, "no TLS came about"),
                    Err(_) => tracing::debug!("no TLS came about in time"),
                },
            }
            drop(place);
        });
    }

    /// Lets in a connection through the socket.
    fn owner(&self, stream: UnixStream) {
        let visit = self.visit(Entrance::Known(Caller::owner()));
        tokio::spawn(async move { visit.serve(stream).await });
    }

    fn visit(&self, entrance: Entrance) -> Visit {
        Visit {
            host: self.host.clone(),
            router: Arc::clone(&self.router),
            entrance,
            closing: self.closing.clone(),
            _visitor: self.visitor.clone(),
        }
    }
}

/// One of so many places; dropped, it is free again.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(taken: &Arc<AtomicUsize>, limit: usize) -> Option<Self> {
        let more = |count: usize| (count < limit).then_some(count + 1);
        let found = taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        found.ok().map(|_| Self(Arc::clone(taken)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Forgets what the settings say, until the host closes.
async fn retain(host: Host) {
    let days = |days: u32| (days > 0).then_some(days);
    let settings = &host.settings().retention;
    let retention = Retention {
        events_days: days(settings.events_days),
        blobs_days: days(settings.blobs_days),
    };
    let closed = host.streams().closed();
    host.memory().retain_daily(retention, closed).await;
}

/// A connection that could not be accepted is its client's loss; a machine without descriptors needs time.
async fn pause(error: &std::io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(BREATH).await;
}
