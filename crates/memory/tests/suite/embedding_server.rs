//! A server with the embeddings route that does what a test says. It knows a few words.
//!
//! The file is also part of the tests of the command, so that it uses the standard library alone.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The bound of every wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// Words that mean alike.
const MEANINGS: [&[&str]; 5] = [
    &["car", "automobile", "vehicle"],
    &["ship", "vessel", "boat"],
    &["cat", "feline"],
    &["slow", "latency", "sluggish"],
    &["remove", "delete", "erase"],
];

/// What the server does.
#[derive(Clone, Debug, Default)]
pub(crate) enum Mood {
    /// It answers.
    #[default]
    Well,
    /// It answers with a status, more headers, and a body.
    Answers(u16, &'static str, String),
    /// It accepts requests and never answers.
    Hangs,
    /// It never answers a request with more than one text.
    HangsWithSeveral,
    /// It refuses texts of more bytes with a status.
    RefusesLonger(usize, u16),
    /// It never answers texts that contain a word.
    HangsWith(&'static str),
    /// It fails with texts that contain a word.
    FailsWith(&'static str),
    /// Its vectors have this many more values.
    Longer(usize),
}

/// What a request had.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: Value,
}

/// The server. It stops when this is dropped.
pub(crate) struct EmbeddingServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    mood: Mutex<Mood>,
    asked: Mutex<Vec<Asked>>,
    changed: Condvar,
    stopped: AtomicBool,
}

impl EmbeddingServer {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut server = Self { address, shared: Arc::default(), thread: None };
        server.serve(listener);
        server
    }

    /// The setting `embeddings.url`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn set(&self, mood: Mood) {
        *self.shared.mood.lock().unwrap() = mood;
        self.shared.changed.notify_all();
    }

    /// Refuses connections until it is started again.
    pub(crate) fn stop(&mut self) {
        {
            // Under the lock, so that a request that hangs does not miss it.
            let _mood = self.shared.mood.lock().unwrap();
            self.shared.stopped.store(true, Ordering::SeqCst);
            self.shared.changed.notify_all();
        }
        // The listener wakes up and sees that it is over.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub(crate) fn start_again(&mut self) {
        self.shared.stopped.store(false, Ordering::SeqCst);
        self.serve(TcpListener::bind(self.address).unwrap());
    }

    /// The requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// Waits until there were so many requests.
    pub(crate) fn wait_for_requests(&self, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        let mut asked = self.shared.asked.lock().unwrap();
        while asked.len() < count {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited {PATIENCE:?} for {count} requests");
            asked = self.shared.changed.wait_timeout(asked, left).unwrap().0;
        }
    }

    fn serve(&mut self, listener: TcpListener) {
        let shared = Arc::clone(&self.shared);
        self.thread = Some(std::thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                // A client that goes away is none of the server's business.
                std::thread::spawn(move || drop(answer(&shared, &stream.unwrap())));
            }
        }));
    }
}

impl Drop for EmbeddingServer {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stop();
        }
    }
}

fn answer(shared: &Shared, mut stream: &TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let header = |name: &str| {
        let found = lines.iter().filter_map(|line| line.split_once(": "));
        let mut found = found.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.to_owned())
    };
    let length = header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let Some(first) = lines.first() else {
        return Ok(());
    };
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let asked = Asked {
        path: first.split(' ').nth(1).unwrap_or_default().to_owned(),
        authorization: header("authorization"),
        body: body.clone(),
    };
    let mood = shared.mood.lock().unwrap().clone();
    shared.asked.lock().unwrap().push(asked);
    shared.changed.notify_all();
    let Some((status, more, answer)) = shared.reply(&mood, &body) else {
        return Ok(());
    };
    let length = answer.len();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(answer.as_bytes())
}

impl Shared {
    fn reply(&self, mood: &Mood, body: &Value) -> Option<(u16, &'static str, String)> {
        let texts: Vec<&str> = body["input"]
            .as_array()
            .map_or_else(Vec::new, |texts| texts.iter().filter_map(Value::as_str).collect());
        let longer = match mood {
            Mood::Answers(status, more, text) => return Some((*status, more, text.clone())),
            Mood::Hangs => return self.hang(),
            Mood::HangsWithSeveral if texts.len() > 1 => return self.hang(),
            Mood::HangsWith(word) if texts.iter().any(|text| text.contains(word)) => {
                return self.hang();
            }
            Mood::RefusesLonger(most, status) if texts.iter().any(|text| text.len() > *most) => {
                return Some((*status, "", r#"{"error": {"message": "too long"}}"#.to_owned()));
            }
            Mood::FailsWith(word) if texts.iter().any(|text| text.contains(word)) => {
                return Some((500, "", r#"{"error": "json: unsupported value: NaN"}"#.to_owned()));
            }
            Mood::Longer(longer) => *longer,
            _ => 0,
        };
        // The last first: an index says which text a vector belongs to.
        let data: Vec<Value> = (texts.iter().enumerate().rev())
            .map(|(index, text)| json!({"index": index, "embedding": vector(text, longer)}))
            .collect();
        Some((200, "", json!({"object": "list", "data": data}).to_string()))
    }

    /// Waits until the server does something else, and closes the connection.
    fn hang<T>(&self) -> Option<T> {
        let mut mood = self.mood.lock().unwrap();
        while matches!(*mood, Mood::Hangs | Mood::HangsWithSeveral | Mood::HangsWith(_))
            && !self.stopped.load(Ordering::SeqCst)
        {
            mood = self.changed.wait(mood).unwrap();
        }
        None
    }
}

/// The vector of a text: how often each meaning occurs.
fn vector(text: &str, longer: usize) -> Vec<f32> {
    let text = text.to_lowercase();
    let count =
        |words: &&[&str]| words.iter().map(|word| text.matches(word).count()).sum::<usize>() as f32;
    // No vector is zero.
    let mut vector = vec![0.1; 1 + longer];
    vector.extend(MEANINGS.iter().map(count));
    vector
}
