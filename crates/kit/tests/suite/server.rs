//! A small HTTP server that answers as a test says, one request a connection.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    /// By name in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Request {
    /// Method and target.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }

    /// The body as a document.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// What to answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Leaves the connection open after the body, for streams that do not end.
    hang: bool,
    /// Closes the connection instead.
    broken_off: bool,
}

impl Answer {
    pub(crate) fn json(status: u16, body: Value) -> Self {
        Self::text(status, &body.to_string()).header("content-type", "application/json")
    }

    pub(crate) fn text(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
            hang: false,
            broken_off: false,
        }
    }

    /// No answer at all: the connection is closed once the request has come.
    pub(crate) fn broken_off() -> Self {
        Self { broken_off: true, ..Self::text(200, "") }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn that_never_ends(mut self) -> Self {
        self.hang = true;
        self
    }
}

/// Listens on a port of its own until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), answer)
    }

    /// At an address that is free.
    pub(crate) fn at(
        address: SocketAddr,
        answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let shared =
            Shared { answer: Arc::new(answer), seen: Arc::clone(&seen), stop: Arc::clone(&stop) };
        let listener = thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.stop.load(Ordering::SeqCst) {
                    return;
                }
                let shared = shared.clone();
                // A client that goes away ends its exchange alone.
                thread::spawn(move || stream.map(|stream| exchange(&stream, &shared)));
            }
        });
        Self { address, seen, stop, listener: Some(listener) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was asked, in the order of arrival.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// Method and target of everything that was asked.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.seen().iter().map(Request::line).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

#[derive(Clone)]
struct Shared {
    answer: Arc<dyn Fn(&Request) -> Answer + Send + Sync>,
    seen: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
}

fn exchange(stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Ok(());
    };
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map(|text| text.parse().unwrap());
    let length: usize = length.unwrap_or(0);
    // A body that is announced and too large is not asked for.
    let wanted = length <= LARGEST || !headers.contains_key("expect");
    let mut body = vec![0; if wanted { length } else { 0 }];
    if wanted && headers.contains_key("expect") {
        write!(&*stream, "HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    reader.read_exact(&mut body)?;
    let request =
        Request { method, target, headers, body: String::from_utf8_lossy(&body).into_owned() };
    shared.seen.lock().unwrap().push(request.clone());
    let answer = match wanted {
        true => (shared.answer)(&request),
        false => Answer::text(413, "too large"),
    };
    if answer.broken_off {
        return Ok(());
    }
    write(stream, &answer)?;
    while answer.hang && !shared.stop.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(10));
    }
    // Bytes that nobody read would make the system reset the connection, and the
    // answer be lost with it.
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_millis(500)))?;
    let _ = std::io::copy(&mut reader, &mut std::io::sink());
    Ok(())
}

fn write(mut stream: &TcpStream, answer: &Answer) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {} Answer\r\nconnection: close\r\n", answer.status)?;
    for (name, value) in &answer.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    if !answer.hang {
        write!(stream, "content-length: {}\r\n", answer.body.len())?;
    }
    stream.write_all(b"\r\n")?;
    stream.write_all(&answer.body)?;
    stream.flush()
}

const LARGEST: usize = 2 * 1024 * 1024;
