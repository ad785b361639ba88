//! A stand-in for the model APIs of coding agents, on the loopback interface.
//!
//! It answers with the calls of a script and keeps what it was asked, so that a test sees what
//! reached the model: the prompt, and the answers of the tools.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

use super::{anthropic, chat, google, openai};

/// The server. It stops when this is dropped.
pub(crate) struct ModelApi {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    root: PathBuf,
    asked: Mutex<Vec<Value>>,
    stopped: AtomicBool,
}

impl ModelApi {
    /// Starts it for the agents of a repository.
    pub(crate) fn start(root: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (asked, stopped) = (Mutex::default(), AtomicBool::new(false));
        let shared = Arc::new(Shared { root, asked, stopped });
        let served = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if served.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let served = Arc::clone(&served);
                // A client that goes away does not concern the server.
                std::thread::spawn(move || drop(served.answer(&stream.expect("a connection"))));
            }
        });
        Self { address, shared, thread: Some(thread) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, as one text.
    pub(crate) fn asked(&self) -> String {
        let asked = self.shared.asked.lock().expect("the list");
        asked.iter().map(|request| format!("{request}\n")).collect()
    }
}

impl Drop for ModelApi {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The listener wakes up and sees that it is over.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn answer(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_owned());
        }
        let length = lines.iter().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        let target = lines.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
        let path = target.split('?').next().unwrap_or_default();
        let number = {
            let mut asked = self.asked.lock().expect("the list");
            asked.push(request.clone());
            asked.len()
        };
        // Without a stream, Gemini CLI asks for texts of its own only.
        let is_gemini = path.ends_with(":streamGenerateContent");
        let events = match path {
            "/v1/messages" => anthropic::answer(&request, &self.root, number),
            "/v1/responses" => openai::answer(&request, number),
            "/v1/chat/completions" => chat::answer(&request, &self.root, number),
            _ if is_gemini => vec![google::answer(&request, &self.root)],
            _ => {
                return stream.write_all(
                    b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
                );
            }
        };
        let events = events.iter().map(|event| match event["type"].as_str() {
            Some(name) => format!("event: {name}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        });
        let body: String = events.collect();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())
    }
}
