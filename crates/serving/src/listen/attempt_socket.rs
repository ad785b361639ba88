//! The socket of one attempt: a worker reaches Accord through it, and through nothing else.
//!
//! Invariants:
//! - what comes through it is the worker's, whatever its headers say ([`crate::attempt`]);
//! - its folder belongs to this attempt alone, and only its user can open it. The folder is removed
//!   when the attempt ends, or by the next attempt if its process was killed.

use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use accord_base::worker::{self, Attempt};
use accord_client::InactivityTimeout;
use accord_contract::{Code, Failure, Protocol};
use axum::Router;
use axum::response::IntoResponse as _;
use hyper::header::{AUTHORIZATION, CONNECTION, HOST, UPGRADE};
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use super::accept::{Authenticated, pause};
use super::connection::Connection;
use super::peer_process::socket_owner;
use super::socket::MAX_PATH;
use crate::attempt;
use crate::exchange::TERMINAL;
use crate::settings::Settings;
use crate::streams::Streams;
use crate::{Api, Correlation, Metrics, Peer, Permits, Request, Response, errors};

/// The most connections of a worker at once. Further ones wait.
const CONNECTIONS: usize = 64;
/// How long a request may wait for the first byte of its answer. The worker has limits of its own.
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// The names of a folder, before six letters and digits, and of the socket in it.
const PREFIX: &str = "accord-";
const SOCKET: &str = "s";
/// Error bodies of requests that the host did not answer.
const PROTOCOL: Protocol = errors::WITHOUT_ROUTE;

/// The listening socket of an attempt.
pub struct AttemptSocket {
    path: PathBuf,
    /// Ends the server: no new connections, and no new requests.
    closing: watch::Sender<bool>,
    _folder: TempDir,
    /// Held on the folder, so that no other process removes it.
    _lock: File,
}

impl AttemptSocket {
    /// Serves what `api` has to the worker of an attempt, on a runtime.
    pub fn open(api: Arc<dyn Api>, attempt: &Attempt, runtime: &Handle) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            let message = format!("no socket for the worker: {error}");
            Failure::new(Code::ServeSocketFailed, message)
        };
        let folder = private_folder().map_err(failed)?;
        remove_left(folder.path());
        let lock = File::open(folder.path()).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let path = folder.path().join(SOCKET);
        let _inside = runtime.enter();
        let listener = UnixListener::bind(&path).map_err(failed)?;
        let (closing, router) = (watch::Sender::new(false), router(api, attempt));
        accord_system::spawn(serve(listener, router, closing.subscribe()));
        Ok(Self { path, closing, _folder: folder, _lock: lock })
    }
}

impl worker::AttemptSocket for AttemptSocket {
    fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for AttemptSocket {
    fn drop(&mut self) {
        self.closing.send_replace(true);
    }
}

/// A folder that only this user can open, with a path that is short enough for a socket in it.
fn private_folder() -> std::io::Result<TempDir> {
    let private = || Permissions::from_mode(0o700);
    let make = |parent: &Path| {
        tempfile::Builder::new().prefix(PREFIX).permissions(private()).tempdir_in(parent)
    };
    let folder = make(&std::env::temp_dir())?;
    if folder.path().as_os_str().as_bytes().len() + 2 <= MAX_PATH {
        return Ok(folder);
    }
    make(Path::new("/tmp"))
}

/// Removes the folders of attempts whose processes were killed, beside the folder of this one. A
/// folder whose socket exists is locked while its attempt runs.
fn remove_left(own: &Path) {
    let (Some(parent), Ok(made)) = (own.parent(), own.metadata()) else { return };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        let random = name.strip_prefix(PREFIX).unwrap_or_default();
        let is_named = random.len() == 6 && random.bytes().all(|it| it.is_ascii_alphanumeric());
        let path = entry.path();
        let is_own = |found: fs::Metadata| found.is_dir() && found.uid() == made.uid();
        if !is_named || path == own || !path.symlink_metadata().is_ok_and(is_own) {
            continue;
        }
        let Ok(folder) = File::open(&path) else { continue };
        let socket = path.join(SOCKET);
        let is_left = folder.try_lock().is_ok();
        if is_left && socket.symlink_metadata().is_ok_and(|it| it.file_type().is_socket()) {
            // What else is in the folder belongs to somebody, and stays with it.
            let _ = fs::remove_file(socket).and_then(|()| fs::remove_dir(path));
        }
    }
}

async fn serve(listener: UnixListener, router: Router, closing: watch::Receiver<bool>) {
    let (router, limits) = (Arc::new(router), Settings::default().limits);
    let permits = Permits::new(CONNECTIONS);
    let metrics = Metrics::new(Streams::new(0), permits.clone(), Vec::new());
    let (alive, _ended) = mpsc::channel(1);
    let mut ended = closing.clone();
    loop {
        let accepted = async { (permits.take().await, listener.accept().await) };
        let (permit, accepted) = tokio::select! {
            () = async { drop(ended.wait_for(|closing| *closing).await) } => return,
            accepted = accepted => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                pause(&error).await;
                continue;
            }
        };
        let connection = Connection {
            router: Arc::clone(&router),
            limits: limits.clone(),
            metrics: metrics.clone(),
            protocol: PROTOCOL,
            one_request: false,
            peer: Peer::Trusted(socket_owner(&stream)),
            authenticated: Authenticated::default(),
            closing: closing.clone(),
            _alive: alive.clone(),
        };
        accord_system::spawn(async move {
            connection.serve(stream).await;
            drop(permit);
        });
    }
}

fn router(api: Arc<dyn Api>, attempt: &Attempt) -> Router {
    let attempt = Arc::new(attempt.clone());
    Router::new()
        .fallback(move |request: Request| pass_on(Arc::clone(&api), request, Arc::clone(&attempt)))
}

/// Passes a request on as that of the worker, and the answer back.
async fn pass_on(api: Arc<dyn Api>, request: Request, attempt: Arc<Attempt>) -> Response {
    let correlation = Correlation::of(request.headers());
    let (mut parts, body) = request.into_parts();
    // Who is at the other end of this connection does not matter: it is the worker.
    parts.extensions.clear();
    parts.extensions.insert(InactivityTimeout(LONGEST_WAIT));
    for name in [HOST, CONNECTION, UPGRADE, AUTHORIZATION] {
        parts.headers.remove(name);
    }
    parts.headers.remove(TERMINAL);
    attempt::set(&mut parts.headers, &attempt);
    match api.call(Request::from_parts(parts, body)).await {
        Ok(mut answer) => {
            answer.headers_mut().remove(CONNECTION);
            answer
        }
        Err(failure) => errors::response(&failure, PROTOCOL, &correlation).into_response(),
    }
}
