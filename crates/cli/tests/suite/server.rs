//! A server of a test's own: `accord serve` or `accord conformance serve` as a process.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use serde_json::Value;

use crate::memory::bare;
use crate::undeclared::check_codes;
use crate::wait::{LIMIT, exit_of, read_to_end, signal, wait_until};

/// A server on a port of its own. It is stopped when this is dropped.
pub(crate) struct Server {
    child: Child,
    /// Where it listens, as it printed it.
    pub(crate) url: String,
    /// The host and port of that.
    pub(crate) address: String,
    /// The further lines that it prints.
    lines: Mutex<Receiver<String>>,
    log: Option<Mutex<Receiver<Vec<u8>>>>,
}

impl Server {
    /// Serves a data folder.
    pub(crate) fn start(data: &Path, more: &[&str]) -> Self {
        let data = data.to_str().expect("text");
        let args = ["serve", "--listen", "127.0.0.1:0", "--data", data];
        Self::begin(bare(&[&args, more].concat()).stderr(Stdio::piped()))
    }

    /// Starts a command that prints where it listens, and waits for that line.
    pub(crate) fn begin(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("accord starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // To the end, so that the server can print more.
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let log = child.stderr.take().map(read_to_end);
        let line = match lines.recv_timeout(LIMIT) {
            Ok(line) => line,
            // It has ended, and its log says why.
            Err(RecvTimeoutError::Disconnected) => String::new(),
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                panic!("waited {LIMIT:?} for the first line of {command:?}")
            }
        };
        let Some(url) = line.strip_prefix("accord: listening on ") else {
            let log = log.and_then(|log| log.recv_timeout(LIMIT).ok());
            let log = String::from_utf8_lossy(&log.unwrap_or_default()).into_owned();
            panic!("{command:?} printed {line:?} and {log}");
        };
        Self {
            child,
            address: url.rsplit('/').next().unwrap_or_default().to_owned(),
            url: url.to_owned(),
            lines: Mutex::new(lines),
            log: log.map(Mutex::new),
        }
    }

    /// The URL of the conformance control, which is the next line that it prints.
    #[track_caller]
    pub(crate) fn control(&self) -> String {
        let line = self.lines.lock().expect("no test panicked here").recv_timeout(LIMIT);
        let line = line.expect("a line about the conformance control");
        let url = line.strip_prefix("accord: conformance control on ");
        url.unwrap_or_else(|| panic!("the server printed {line:?}")).to_owned()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, such as `-TERM`.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Sends a signal, and waits until the server no longer listens: it has seen the signal.
    pub(crate) fn begin_to_stop(&self, name: &str) {
        self.signal(name);
        wait_until(format_args!("the server to stop listening after {name}"), || {
            TcpStream::connect(&self.address).is_err()
        });
    }

    /// Waits for its end: the exit code and its log.
    #[track_caller]
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let status = exit_of(&mut self.child, "the server");
        let log = self.log.take().expect("a log that is read");
        let log = log.into_inner().expect("a log");
        let log = log.recv_timeout(LIMIT).expect("the end of the log");
        check_codes(&log);
        (status.code(), String::from_utf8(log).expect("text"))
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it was running");
        self.child.wait().expect("it ended");
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Sends one request: the status and the document of the response.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let (status, _, body) = self.ask_with("", method, path, body);
        (status, body)
    }

    /// The text of a response to a request without a body.
    pub(crate) fn text(&self, path: &str) -> String {
        self.exchange("", "GET", path, "").2
    }

    /// The same with further headers, each with its line end: the status, the head and the
    /// document.
    pub(crate) fn ask_with(
        &self,
        headers: &str,
        method: &str,
        path: &str,
        body: &str,
    ) -> (u16, String, Value) {
        let (status, head, body) = self.exchange(headers, method, path, body);
        (status, head, serde_json::from_str(&body).unwrap_or_default())
    }

    fn exchange(
        &self,
        headers: &str,
        method: &str,
        path: &str,
        body: &str,
    ) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        let kind = match body {
            "" => String::new(),
            body => format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()),
        };
        let address = &self.address;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
             {headers}{kind}\r\n{body}"
        )
        .expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("a response");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a whole response");
        let status = head[9..12].parse().expect("a status");
        (status, head.to_ascii_lowercase(), body.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // It must not outlive the test, whatever happened there.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
