//! The door to the network, by raw bytes: what comes in, what is refused, how it ends.

mod auth;
mod guard;
mod limits;
mod live_page;
mod pages;
mod people;
mod settings;
mod shutdown;
mod slow;
mod socket;
mod tls;
mod two_hosts;
mod upkeep;

use std::net::SocketAddr;
use std::path::Path;

use accord_contract::Failure;
use accord_host::http::Host;
use accord_host::serve::Server;
use accord_host::settings::{Settings, Sources};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::support::PATIENCE;
use crate::undeclared::watch_codes;

/// A server on a port of its own.
struct Door {
    address: SocketAddr,
    host: Host,
    folder: TempDir,
    end: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Door {
    async fn open(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::open(folder.path(), settings_of(folder.path(), settings)).unwrap();
        Self::serve(folder, host).await.unwrap()
    }

    async fn serve(folder: TempDir, host: Host) -> Result<Self, Failure> {
        watch_codes();
        let server = Server::bind(host.clone()).await?;
        let (end, ended) = oneshot::channel::<()>();
        let address = server.address();
        let running = tokio::spawn(server.run(async move {
            let _ = ended.await;
        }));
        Ok(Self { address, host, folder, end, running })
    }

    /// Ends the server, waits for it, and gives its folder.
    async fn close(self) -> TempDir {
        drop(self.end);
        timeout(PATIENCE, self.running).await.unwrap().unwrap();
        self.folder
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// One request on a connection of its own.
    async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let request = request(&self.address.to_string(), method, path, headers, body);
        self.send(request.as_bytes()).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "").await
    }

    /// As a client with a key.
    async fn get_with(&self, path: &str, key: &str) -> Answer {
        let bearer = format!("Bearer {key}");
        self.ask("GET", path, &[("Authorization", &bearer)], "").await
    }

    /// Bytes on a connection of their own, and everything that comes back.
    async fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect().await;
        stream.write_all(bytes).await.unwrap();
        Answer::read(&mut stream).await
    }
}

impl Answer {
    /// Everything until the connection ends.
    async fn read(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Self {
        let mut bytes = Vec::new();
        timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.get(9..12).unwrap_or("0").parse().unwrap_or(0);
        Self { status, head: head.to_lowercase(), body: body.into() }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// A refusal: the one error body, with this code, and an id that the header has too.
    #[track_caller]
    fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.json();
        let found = (self.status, body["error"]["code"].as_str());
        assert_eq!(found, (status, Some(code)), "{self:?}");
        assert_eq!((&body["ok"], &body["code"]), (&false.into(), &code.into()));
        assert_eq!(body["protocol"]["protocol_version"], "1.1");
        let id = body["correlationId"].as_str().unwrap();
        assert!(self.head.contains(&format!("x-correlation-id: {id}")), "{self:?}");
        assert!(self.head.contains("content-type: application/json"));
        body
    }
}

fn settings_of(folder: &Path, settings: &[(&str, &str)]) -> Settings {
    let own = [("listen", "127.0.0.1:0")];
    let flags = own.iter().chain(settings);
    let sources = Sources {
        folder: folder.to_owned(),
        flags: flags.map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        ..Sources::default()
    };
    sources.resolve().unwrap().settings
}

/// A request after which the connection ends.
fn request(host: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text.push_str(&format!("Host: {host}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        let length = body.len();
        text.push_str(&format!("Content-Type: application/json\r\nContent-Length: {length}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(body);
    text
}
