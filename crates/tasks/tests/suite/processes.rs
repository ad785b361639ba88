//! Processes of their own that work on one tree: this test binary, started again.
//!
//! A worker prints a line for everything that was acknowledged. The lines are in a pipe, which
//! survives the worker.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The longest time until a worker says something.
const PATIENCE: Duration = Duration::from_secs(120);

/// The variables that make the test [`worker`] a worker.
const TREE: &str = "ACCORD_TEST_TREE";
const WORK: &str = "ACCORD_TEST_WORK";
const NUMBER: &str = "ACCORD_TEST_NUMBER";

/// A worker process. It is killed when this value is dropped.
pub(crate) struct Worker {
    child: Child,
    lines: Receiver<String>,
}

impl Worker {
    /// Starts a worker on a tree. It waits for [`Worker::go`].
    pub(crate) fn start(tree: &Path, work: &str, number: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["processes::worker", "--exact", "--nocapture", "--test-threads=1"])
            .env(TREE, tree)
            .env(WORK, work)
            .env(NUMBER, number.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // What the test harness prints is no line of a worker.
                if let Some(line) = line.strip_prefix("> ")
                    && sender.send(line.to_owned()).is_err()
                {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    /// Lets the worker begin.
    pub(crate) fn go(&mut self) {
        drop(self.child.stdin.take());
    }

    /// The next line; `None` once the worker has ended and everything was read.
    pub(crate) fn line(&self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("a worker said nothing for {PATIENCE:?}"),
        }
    }

    /// Kills the worker as `kill -9` does, and answers the lines that are left in the pipe.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.line()).collect()
    }

    /// Waits for the end of the worker, and answers its lines.
    pub(crate) fn finish(mut self) -> Vec<String> {
        let lines = std::iter::from_fn(|| self.line()).collect();
        assert!(self.child.wait().unwrap().success());
        lines
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Prints a line of a worker.
pub(crate) fn say(line: &str) {
    // One write, so that a line is in the pipe in full or not at all. The test harness may have
    // begun a line of its own.
    std::io::stdout().write_all(format!("\n> {line}\n").as_bytes()).unwrap();
}

/// The process of a worker. As an ordinary test it does nothing.
#[test]
fn worker() {
    let (Ok(tree), Ok(work)) = (std::env::var(TREE), std::env::var(WORK)) else { return };
    let number = std::env::var(NUMBER).unwrap().parse().unwrap();
    // The end of the input is the signal to begin.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let tree = Path::new(&tree);
    match work.as_str() {
        "create" => crate::sharing::create(tree, number),
        "change" => crate::sharing::change(tree, number),
        "live" => crate::kills::live(tree, number),
        other => panic!("no such work: {other}"),
    }
}
