//! The doors of live sessions, by real sockets.

mod archived;
mod auth;
mod channel;
mod control;
mod fallbacks;
mod frames;
mod fuzz;
mod limits;
mod page_faults;
mod polls;
mod replay;
mod restart;
mod tokens;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use accord_base::Caller;
use accord_contract::Object;
use accord_host::http::Host;
use accord_host::serve::Server;
use accord_host::settings::{Settings, Sources};
use accord_live_core::session::NewFrame;
use accord_live_core::token::TokenKind;
use accord_live_core::{AppId, SessionId};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tungstenite::client::{ClientRequestBuilder, client_with_config};
use tungstenite::{Error, Message, WebSocket};

use crate::support::{PATIENCE, soon};
use crate::undeclared::watch_codes;

/// A server with the projects `shop` and `atlas`.
struct World {
    address: SocketAddr,
    host: Host,
    folder: TempDir,
    end: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

/// A client of the channel. Its calls block, and give up after a while.
struct Client(WebSocket<TcpStream>);

impl World {
    async fn open(settings: &[(&str, &str)]) -> Self {
        Self::open_in(tempfile::tempdir().unwrap(), settings).await
    }

    async fn open_in(folder: TempDir, settings: &[(&str, &str)]) -> Self {
        let host = Host::open(folder.path(), settings_of(folder.path(), settings)).unwrap();
        Self::serve(folder, host).await
    }

    /// A server over the in-memory store.
    async fn in_memory(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::in_memory(folder.path(), settings_of(folder.path(), settings)).unwrap();
        Self::serve(folder, host).await
    }

    async fn serve(folder: TempDir, host: Host) -> Self {
        watch_codes();
        for project in ["shop", "atlas"] {
            let document = json!({"project_id": project, "name": project}).to_string();
            let created = host.memory().create_project(&Caller::owner(), document.as_bytes()).await;
            created.unwrap();
        }
        let server = Server::bind(host.clone()).await.unwrap();
        let (end, ended) = oneshot::channel::<()>();
        let address = server.address();
        let running = tokio::spawn(server.run(async move { drop(ended.await) }));
        Self { address, host, folder, end, running }
    }

    /// Ends the server, waits for it, and gives its folder.
    async fn close(self) -> TempDir {
        drop(self.end);
        soon("the server to end", self.running).await.unwrap();
        self.folder
    }

    /// Begins a session of `shop` with the contract.
    async fn seed(&self, session: &str) {
        self.seed_in("shop", session).await;
    }

    async fn seed_in(&self, app: &str, session: &str) {
        let (app, session) = (app_id(app), session_id(session));
        self.host.live().seed(&app, &session, contract(), Default::default()).await.unwrap();
    }

    /// Sends a number on a channel. Returns its number in the stream.
    async fn emit(&self, session: &str, channel: &str, number: u64) -> u64 {
        let frame =
            NewFrame { channel: channel.to_owned(), payload: number.into(), complete: false };
        let (app, session) = (app_id("shop"), session_id(session));
        self.host.live().emit_as_platform(&app, &session, frame).await.unwrap()
    }

    /// A token for a session of `shop`.
    fn token(&self, session: &str) -> String {
        self.token_of(session, json!({}))
    }

    /// A token for a session of `shop`, with further claims.
    fn token_of(&self, session: &str, claims: Value) -> String {
        let (app, session) = (app_id("shop"), session_id(session));
        let Value::Object(claims) = claims else { panic!("no claims: {claims}") };
        let live = self.host.live();
        live.mint_token_with(TokenKind::Ws, &session, &app, claims).unwrap().text
    }

    fn client(&self) -> Client {
        self.client_with("/ws", &[])
    }

    fn client_with(&self, path: &str, headers: &[(&str, &str)]) -> Client {
        self.try_client(path, headers).unwrap_or_else(|status| panic!("refused with {status}"))
    }

    /// A client, or the status of the refusal.
    fn try_client(&self, path: &str, headers: &[(&str, &str)]) -> Result<Client, u16> {
        let uri = format!("ws://{}{path}", self.address).parse().unwrap();
        let mut request = ClientRequestBuilder::new(uri);
        for (name, value) in headers {
            request = request.with_header(*name, *value);
        }
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        match client_with_config(request, stream, None) {
            Ok((socket, _)) => Ok(Client(socket)),
            Err(tungstenite::HandshakeError::Failure(Error::Http(response))) => {
                Err(response.status().as_u16())
            }
            Err(error) => panic!("the handshake failed: {error}"),
        }
    }

    /// A client that is subscribed to a session of `shop`.
    fn subscribed(&self, session: &str) -> Client {
        let mut client = self.client();
        client.subscribe(session, json!({}));
        client
    }

    /// The whole answer to a request, on a connection of its own.
    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.raw(&request(&self.address.to_string(), path, headers))
    }

    fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        Answer::read(&String::from_utf8(text).unwrap())
    }
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.get(9..12).unwrap_or("0").parse().unwrap_or(0);
        Self { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    #[track_caller]
    fn has(&self, header: &str) {
        assert!(self.head.contains(header), "{header} is not in {self:?}");
    }
}

impl Client {
    fn send(&mut self, frame: &Value) {
        self.send_text(&frame.to_string());
    }

    fn send_text(&mut self, text: &str) {
        self.0.send(Message::text(text)).unwrap();
    }

    /// The next frame.
    #[track_caller]
    fn next(&mut self) -> Value {
        match self.read() {
            Ok(frame) => frame,
            Err(close) => panic!("closed with {close:?}"),
        }
    }

    /// The next frame, or the close frame.
    fn read(&mut self) -> Result<Value, (u16, String)> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Ok(serde_json::from_str(text.as_str()).unwrap()),
                Ok(Message::Close(frame)) => {
                    let close = frame.map(|frame| (frame.code.into(), frame.reason.to_string()));
                    // 1005: a close frame without a code.
                    return Err(close.unwrap_or((1005, String::new())));
                }
                Ok(_) => {}
                Err(error) => panic!("the connection is lost: {error}"),
            }
        }
    }

    /// The close frame, after the frames before it. The server then ends the connection.
    #[track_caller]
    fn closed(&mut self) -> (u16, String) {
        let close = loop {
            if let Err(close) = self.read() {
                break close;
            }
        };
        // Answers the close frame, and reads the end of the connection.
        loop {
            match self.0.read() {
                Ok(_) => {}
                Err(Error::ConnectionClosed | Error::AlreadyClosed) => return close,
                Err(Error::Io(_) | Error::Protocol(_)) => return close,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Sends a frame, and waits for the answer with its id.
    #[track_caller]
    fn ask(&mut self, kind: &str, payload: Value) -> Value {
        self.send(&json!({"type": kind, "payload": payload, "requestId": "asked"}));
        loop {
            let frame = self.next();
            if frame["requestId"] == "asked" {
                return frame;
            }
        }
    }

    /// Subscribes to a session of `shop`, with more members of the payload. Returns the answer.
    #[track_caller]
    fn subscribe(&mut self, session: &str, more: Value) -> Value {
        let answer = self.try_subscribe(session, more);
        assert_eq!(answer["type"], "ack", "{answer}");
        answer
    }

    #[track_caller]
    fn try_subscribe(&mut self, session: &str, more: Value) -> Value {
        let mut payload = json!({"sessionId": session, "appId": "shop"});
        for (name, value) in more.as_object().unwrap() {
            match value {
                Value::Null => drop(payload.as_object_mut().unwrap().shift_remove(name)),
                value => payload[name] = value.clone(),
            }
        }
        self.ask("subscribe", payload)
    }

    /// Sends an action with a text. Returns the answer.
    #[track_caller]
    fn act(&mut self, session: &str, text: &str) -> Value {
        self.ask("action", action(session, text))
    }

    /// The frames until everything that was sent before is answered.
    #[track_caller]
    fn barrier(&mut self) -> Vec<Value> {
        self.send(&json!({"type": "ping", "payload": {}, "requestId": "barrier"}));
        let mut frames = Vec::new();
        loop {
            let frame = self.next();
            if frame["requestId"] == "barrier" {
                assert_eq!(frame["type"], "pong");
                return frames;
            }
            frames.push(frame);
        }
    }

    /// The frames of the stream until one has this number.
    #[track_caller]
    fn until(&mut self, last: u64) -> Vec<u64> {
        let mut numbers = Vec::new();
        while numbers.last().is_none_or(|number| *number < last) {
            numbers.extend(number_of(&self.next()));
        }
        numbers
    }
}

/// The number of a frame of the stream.
fn number_of(frame: &Value) -> Option<u64> {
    (frame["type"] == "data").then(|| frame["payload"]["seq"].as_u64().unwrap())
}

/// The code of an error frame.
#[track_caller]
fn code(frame: &Value) -> &str {
    assert_eq!(frame["type"], "error", "{frame}");
    frame["payload"]["code"].as_str().unwrap()
}

/// The payload of an action with a text.
fn action(session: &str, text: &str) -> Value {
    json!({
        "sessionId": session,
        "type": "data:submit",
        "payload": {"action": "answer", "data": {"text": text}},
    })
}

/// A UI with an action, and a channel of each policy.
fn contract() -> Object {
    let document = json!({
        "componentCode": "",
        "actionSpec": {
            "answer": {"label": "Answer", "schema": {
                "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]
            }},
        },
        "streamSpec": {
            "log": {"schema": {"type": "integer"}, "replay": "all"},
            "state": {"schema": {"type": "integer"}, "replay": "latest"},
            "tick": {"schema": {"type": "integer"}},
        },
    });
    match document {
        Value::Object(members) => members,
        _ => unreachable!(),
    }
}

fn app_id(text: &str) -> AppId {
    AppId::new(text).unwrap()
}

fn session_id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
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

/// A GET request after which the connection ends.
fn request(host: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut text = format!("GET {path} HTTP/1.1\r\n");
    if !headers.iter().any(|(name, _)| *name == "Connection") {
        text.push_str("Connection: close\r\n");
    }
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text.push_str(&format!("Host: {host}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text
}
