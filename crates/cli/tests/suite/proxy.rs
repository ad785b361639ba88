//! A proxy before a host, which a test cuts.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::memory::bare;
use crate::server::Server;

/// A proxy between clients and a host.
pub(crate) struct Proxy {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    to: Mutex<String>,
    is_cut: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
    /// How many bytes of clients it passed on.
    sent: AtomicU64,
    /// After how many of them it is cut; 0 for never.
    cut_after: AtomicU64,
    /// The connection on which a request has this text is closed before the answer.
    lose: Mutex<Option<Lost>>,
    /// What clients sent, without the bodies that follow in further pieces.
    seen: Mutex<Vec<String>>,
}

/// An answer that does not arrive.
struct Lost {
    /// What is in the request.
    mark: String,
    /// Whether the network is cut with it.
    cuts: bool,
}

impl Proxy {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let shared = Arc::<Shared>::default();
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let address = own.to.lock().expect("no panic").clone();
                let Ok(host) = TcpStream::connect(address) else { continue };
                if own.is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                let lost = Arc::<Mutex<Option<Lost>>>::default();
                for (from, to, is_sent) in [(&client, &host, true), (&host, &client, false)] {
                    let from = from.try_clone().expect("a socket");
                    let to = to.try_clone().expect("a socket");
                    let kept = from.try_clone().expect("a socket");
                    own.open.lock().expect("no panic").push(kept);
                    let (own, lost) = (Arc::clone(&own), Arc::clone(&lost));
                    std::thread::spawn(move || own.pump((from, to), is_sent, &lost));
                }
            }
        });
        Self { url, shared }
    }

    pub(crate) fn cut(&self) {
        self.shared.cut();
    }

    /// Cuts by itself once clients have sent so many bytes more.
    pub(crate) fn cut_after(&self, bytes: u64) {
        self.shared.cut_after.store(self.sent() + bytes, Ordering::SeqCst);
    }

    /// Closes the connection of the next request with a text when the host has answered it, and
    /// passes nothing of the answer on.
    pub(crate) fn lose_answer(&self, mark: &str) {
        self.lose(mark, false);
    }

    /// The same, and cuts the network.
    pub(crate) fn cut_at_answer(&self, mark: &str) {
        self.lose(mark, true);
    }

    fn lose(&self, mark: &str, cuts: bool) {
        let lost = Lost { mark: mark.to_owned(), cuts };
        *self.shared.lose.lock().expect("no panic") = Some(lost);
    }

    /// How many requests have a text in their first line.
    pub(crate) fn asked(&self, mark: &str) -> usize {
        let seen = self.shared.seen.lock().expect("no panic");
        seen.iter().filter(|line| line.contains(mark)).count()
    }

    /// Whether an answer that was to be lost is still to come.
    pub(crate) fn loses(&self) -> bool {
        self.shared.lose.lock().expect("no panic").is_some()
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.shared.is_cut.load(Ordering::SeqCst)
    }

    /// How many bytes of clients it passed on.
    pub(crate) fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }

    pub(crate) fn mend(&self, address: &str) {
        address.clone_into(&mut self.shared.to.lock().expect("no panic"));
        self.shared.cut_after.store(0, Ordering::SeqCst);
        self.shared.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Shared {
    fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        for socket in self.open.lock().expect("no panic").drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    fn pump(
        &self,
        (mut from, mut to): (TcpStream, TcpStream),
        is_sent: bool,
        lost: &Mutex<Option<Lost>>,
    ) {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            if is_sent {
                self.mark(&buffer[..read], lost);
            } else if let Some(lost) = lost.lock().expect("no panic").take() {
                if lost.cuts {
                    self.cut();
                }
                break;
            }
            if to.write_all(&buffer[..read]).is_err() {
                break;
            }
            if is_sent {
                let sent = self.sent.fetch_add(read as u64, Ordering::SeqCst) + read as u64;
                let most = self.cut_after.load(Ordering::SeqCst);
                if most > 0 && sent >= most {
                    self.cut();
                }
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    }

    /// Notes whether the answer to a request of this connection is to be lost.
    fn mark(&self, request: &[u8], lost: &Mutex<Option<Lost>>) {
        let mut next = self.lose.lock().expect("no panic");
        let text = String::from_utf8_lossy(request);
        let first = text.lines().next().unwrap_or_default();
        if first.ends_with("HTTP/1.1") {
            self.seen.lock().expect("no panic").push(first.to_owned());
        }
        if next.as_ref().is_some_and(|it| text.contains(&it.mark)) {
            *lost.lock().expect("no panic") = next.take();
        }
    }
}

/// Serves a data folder that answers to the name of a proxy, too, with variables in the environment
/// of its process.
pub(crate) fn serve_behind(proxy: &Proxy, data: &Path, variables: &[(&str, &str)]) -> Server {
    std::fs::create_dir_all(data).expect("a folder");
    let name = proxy.url.rsplit('/').next().expect("an address");
    std::fs::write(data.join("accord.toml"), format!("allowed_hosts = [\"{name}\"]\n"))
        .expect("a file");
    let data = data.to_str().expect("text");
    let mut serve = bare(&["serve", "--listen", "127.0.0.1:0", "--data", data]);
    serve.envs(variables.iter().copied()).stderr(Stdio::piped());
    Server::begin(&mut serve)
}
