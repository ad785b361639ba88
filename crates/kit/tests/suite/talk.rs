//! A small protocol `talk` over a channel, and a server for it that does what frames ask for.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use accord_kit::driver::{ChannelServer, ControlOptions, HttpOptions};
use accord_kit::report::CaseReport;
use accord_kit::{Corpus, Protocol, RunReport};
use serde_json::{Value, json};
use tungstenite::handshake::server::{Request, Response};
use tungstenite::protocol::CloseFrame;
use tungstenite::{Message, WebSocket};

use crate::support::{patient, put, run};

/// A server that listens on a port of its own until it is dropped.
pub(crate) struct Talker {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl Talker {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (shared, stopped) = (Arc::clone(&seen), Arc::clone(&stop));
        let listener = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let seen = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &seen));
            }
        });
        Self { address, seen, stop, listener: Some(listener) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The heads of requests and the texts of frames, in their order.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Talker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
        if let Some(listener) = self.listener.take() {
            listener.join().unwrap();
        }
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<String>>) {
    let mut head = vec![0; 8192];
    // Looked at without being read: the handshake of a socket reads it again.
    let length = stream.peek(&mut head).unwrap_or(0);
    let head = String::from_utf8_lossy(&head[..length]).into_owned();
    if head.to_ascii_lowercase().contains("upgrade: websocket") {
        seen.lock().unwrap().push(head.clone());
        talk(stream, seen);
        return;
    }
    let (head, body) = read_request(&mut stream);
    let target = head.split(' ').nth(1).unwrap_or_default();
    if let Some((media_type, text)) = crate::browse::file(target) {
        let length = text.len();
        let _ = write!(
            stream,
            "HTTP/1.1 200 X\r\nconnection: close\r\ncontent-type: {media_type}\r\n\
             content-length: {length}\r\n\r\n{text}"
        );
        return;
    }
    let (status, headers, answer) = answer(&head, &body);
    seen.lock().unwrap().push(format!("{head}{body}"));
    let text = answer.to_string();
    let length = text.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-type: application/json\r\n\
         {headers}content-length: {length}\r\n\r\n{text}"
    );
}

fn read_request(stream: &mut TcpStream) -> (String, String) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let wanted = head.to_ascii_lowercase();
            let wanted = wanted.split("content-length: ").nth(1);
            let wanted = wanted.and_then(|rest| rest.lines().next()?.trim().parse().ok());
            if body.len() >= wanted.unwrap_or(0) {
                return (format!("{head}\r\n\r\n"), body.to_owned());
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return (text, String::new()),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// The conformance control and the tools.
fn answer(head: &str, body: &str) -> (u16, &'static str, Value) {
    let target = head.split(' ').nth(1).unwrap_or_default();
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let is_control = target == "/setup" || target.starts_with("/session-field?");
    if is_control && !head.contains("authorization: Bearer control-token") {
        return (401, "", json!({"message": "no token"}));
    }
    match target {
        "/setup" if body["kind"] == "fine" => (200, "", json!({"token": "t-1"})),
        "/setup" => (400, "", json!({"message": "no such kind"})),
        _ if target.starts_with("/session-field?") => (200, "", json!({"value": {"a": 1}})),
        "/mcp" => tool(head, &body),
        "/thing" => (200, "", json!({"thing": 7})),
        _ => (404, "", json!({})),
    }
}

fn tool(head: &str, body: &Value) -> (u16, &'static str, Value) {
    let reply = |result: Value| json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
    match body["method"].as_str() {
        Some("initialize") => (200, "mcp-session-id: m-1\r\n", reply(json!({}))),
        Some("notifications/initialized") => (202, "", Value::Null),
        // Everything else needs the session.
        _ if !head.to_ascii_lowercase().contains("mcp-session-id: m-1") => (400, "", json!({})),
        Some("tools/list") => (200, "", reply(json!({"tools": [{"name": "strict"}]}))),
        Some("tools/call") => match body["params"]["name"].as_str() {
            Some("echo") => {
                let output = body["params"]["arguments"].clone();
                (200, "", reply(json!({"structuredContent": output, "content": []})))
            }
            Some("failing") => {
                let content = json!([{"type": "text", "text": "NO_FUEL: the tank is empty"}]);
                (200, "", reply(json!({"isError": true, "content": content})))
            }
            _ => {
                let error = json!({"code": -32602, "message": "bad parameters"});
                (200, "", json!({"jsonrpc": "2.0", "id": body["id"], "error": error}))
            }
        },
        _ => (404, "", json!({})),
    }
}

fn talk(stream: TcpStream, seen: &Mutex<Vec<String>>) {
    #[expect(clippy::result_large_err, reason = "the callback's type is that of the library")]
    let check = |request: &Request, response: Response| match request.uri().query() {
        Some("door=shut") => {
            let refusal = tungstenite::http::Response::builder().status(401).body(None);
            Err(refusal.unwrap())
        }
        _ => Ok(response),
    };
    let Ok(mut socket) = tungstenite::accept_hdr(stream, check) else { return };
    let mut waiting: Vec<Value> = Vec::new();
    while let Ok(message) = socket.read() {
        let text = match message {
            Message::Text(text) => text.to_string(),
            Message::Binary(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            _ => continue,
        };
        seen.lock().unwrap().push(text.clone());
        let frame: Value = serde_json::from_str(&text).unwrap_or_default();
        if !react(&mut socket, &frame, &mut waiting) {
            return;
        }
    }
}

/// Does what a frame asks for. Whether the conversation goes on.
fn react(socket: &mut WebSocket<TcpStream>, frame: &Value, waiting: &mut Vec<Value>) -> bool {
    let mut send = |value: &Value| socket.send(Message::text(value.to_string())).is_ok();
    match frame["type"].as_str() {
        Some("ping") => {
            send(&json!({"type": "pong", "requestId": frame["requestId"]}))
                && waiting.drain(..).all(|frame| send(&frame))
        }
        // Answered at once, as often as asked for.
        Some("say") => (0..frame["times"].as_u64().unwrap_or(1))
            .all(|n| send(&json!({"type": "said", "n": n + 1, "what": frame["what"]}))),
        // Answered after the next ping.
        Some("later") => {
            waiting.push(json!({"type": "said", "what": frame["what"]}));
            true
        }
        Some("leave") => {
            let code = frame["code"].as_u64().map(|code| CloseFrame {
                code: u16::try_from(code).unwrap().into(),
                reason: "as asked".into(),
            });
            let _ = socket.close(code);
            let _ = socket.flush();
            // Until the client has answered the close.
            while socket.read().is_ok() {}
            false
        }
        Some("vanish") => false,
        Some("hang-up") => {
            // The close of the client; its answer would be sent by the next read.
            let _ = socket.read();
            false
        }
        Some("silence") => {
            // Answers nothing any more, until the client goes away.
            while socket.read().is_ok() {}
            false
        }
        _ => send(&json!("what?")),
    }
}

fn clauses() -> Value {
    json!({"protocol": "talk", "version": "1.0", "levels": ["channel"], "clauses": [
        {"id": "TALK-1", "strength": "must", "text": "text", "source": "chapter 1"}]})
}

pub(crate) fn channel() -> Value {
    json!({
        "path": "/talk", "mcp": "/mcp",
        "barrier": {"send": {"type": "ping", "requestId": "${barrier}"},
            "until": {"type": "pong", "requestId": "${barrier}"}},
        "routes": {"thing": {"summary": "A thing.", "defined_by": "protocol", "method": "GET",
            "path": "/thing"}},
        "codes": {}, "templates": {},
    })
}

/// A sound case with these moves.
pub(crate) fn case(moves: Value) -> Value {
    json!({"id": "talk/area/case", "protocol": "talk", "level": "channel", "strength": "must",
        "clauses": ["TALK-1"], "title": "The server does what it must.", "moves": moves})
}

pub(crate) fn corpus(case: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "talk/clauses.json", &clauses().to_string());
    put(folder.path(), "talk/channel.json", &channel().to_string());
    put(folder.path(), "talk/area/case.json", &case.to_string());
    folder
}

pub(crate) fn protocol(case: &Value) -> Protocol {
    let folder = corpus(case);
    Corpus::from_dir(folder.path()).unwrap().protocol("talk").unwrap().clone()
}

/// Judges one case, with a control and a key.
pub(crate) fn judge(server: &Talker, moves: Value) -> CaseReport {
    judge_with(server, moves, true, Some("key"))
}

pub(crate) fn judge_with(
    server: &Talker,
    moves: Value,
    has_control: bool,
    token: Option<&str>,
) -> CaseReport {
    let mut report = report(server, moves, has_control, token);
    report.cases.remove(0)
}

pub(crate) fn report(
    server: &Talker,
    moves: Value,
    has_control: bool,
    token: Option<&str>,
) -> RunReport {
    let mut options = HttpOptions::new(server.url());
    options.token = token.map(str::to_owned);
    let mut control = ControlOptions::new(server.url());
    control.token = Some("control-token".to_owned());
    let control = has_control.then_some(&control);
    let adapter = ChannelServer::new(options, control).unwrap();
    run(&protocol(&case(moves)), &adapter, &patient())
}
