//! The server: a child process that is told on its standard input what to do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_base::Caller;
use accord_host::http::Host;
use accord_host::serve::Server as HostServer;
use accord_host::settings::{Settings, Sources};
use accord_live_core::session::NewFrame;
use accord_live_core::{AppId, SessionId};
use accord_store_sqlite::{Options, SqliteStore};
use serde_json::{Value, json};

/// The word that makes this program the server.
pub(crate) const CHILD: &str = "--serve";

/// What a slow disk adds to every commit.
pub(crate) const DELAY: Duration = Duration::from_millis(5);

/// Where the server keeps sessions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Store {
    /// In memory.
    Memory,
    /// On the disk.
    Durable,
    /// On a disk that is slow.
    Slow,
}

/// A server. It ends when it is dropped.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) fn start(store: Store) -> Self {
        let program = std::env::current_exe().expect("a program");
        let kind = match store {
            Store::Memory => "memory",
            Store::Durable => "durable",
            Store::Slow => "slow",
        };
        let started = Command::new(program)
            .args([CHILD, kind])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = started.expect("a server");
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let address = line(&mut output).parse().expect("an address");
        Self { child, input, output, address }
    }

    /// Begins a session with an action and a channel.
    pub(crate) fn seed(&mut self, session: &str) {
        self.tell(&format!("seed {session}"));
        assert_eq!(line(&mut self.output), "done");
    }

    /// Emits so many frames a second for a while. [`Self::emitted`] waits for the end.
    pub(crate) fn emit(&mut self, session: &str, rate: u32, lasting: Duration) {
        self.tell(&format!("emit {session} {rate} {}", lasting.as_millis()));
    }

    /// The number of the last frame that was emitted.
    pub(crate) fn emitted(&mut self) -> u64 {
        line(&mut self.output).parse().expect("a number")
    }

    /// How much memory it has, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("the status of the server");
        let found = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = found.and_then(|found| found.split_whitespace().next()?.parse::<u64>().ok());
        kib.expect("its memory") * 1024
    }

    fn tell(&mut self, what: &str) {
        let input = self.input.as_mut().expect("it runs");
        writeln!(input, "{what}").expect("it listens");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The end of its input ends it.
        self.input = None;
        drop(self.child.wait());
    }
}

fn line(output: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    assert!(output.read_line(&mut line).expect("an answer") > 0, "the server has ended");
    line.trim_end().to_owned()
}

/// Serves until the input ends.
pub(crate) fn serve(store: &str) {
    accord_process::raise_open_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(32)
        .enable_all()
        .build()
        .expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let sources = Sources {
        folder: folder.path().to_owned(),
        flags: [("listen", "127.0.0.1:0"), ("limits.live_pending_sockets", "0")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ..Sources::default()
    };
    let settings: Settings = sources.resolve().expect("settings").settings;
    let host = match store {
        "memory" => Host::in_memory(folder.path(), settings),
        "durable" => Host::open(folder.path(), settings),
        _ => {
            let mut options = Options::default();
            options.commit_delay = DELAY;
            let store = SqliteStore::open(folder.path(), &options).expect("a store");
            Host::over(Arc::new(store), folder.path(), settings)
        }
    };
    let host = host.expect("a host");
    let project = json!({"project_id": "shop", "name": "shop"}).to_string();
    runtime.block_on(async {
        let created = host.memory().create_project(&Caller::owner(), project.as_bytes()).await;
        created.expect("a project");
        let server = HostServer::bind(host.clone()).await.expect("a server");
        println!("{}", server.address());
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let running = tokio::spawn(server.run(async move { drop(ended.await) }));
        let obeying = tokio::task::spawn_blocking(move || obey(&host));
        obeying.await.expect("commands");
        drop(end);
        drop(running.await);
    });
}

/// Does what the input says.
fn obey(host: &Host) {
    let runtime = tokio::runtime::Handle::current();
    for command in std::io::stdin().lines() {
        let command = command.expect("a command");
        let words: Vec<&str> = command.split(' ').collect();
        match words[..] {
            ["seed", session] => {
                runtime.block_on(seed(host, session));
                println!("done");
            }
            ["emit", session, rate, millis] => {
                let rate: u32 = rate.parse().expect("a rate");
                let lasting = Duration::from_millis(millis.parse().expect("a time"));
                println!("{}", runtime.block_on(emit(host, session, rate, lasting)));
            }
            _ => panic!("unknown: {command}"),
        }
    }
}

async fn seed(host: &Host, session: &str) {
    let document = json!({
        "componentCode": "",
        "actionSpec": {"answer": {"label": "Answer", "schema": {
            "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
        }}},
        "streamSpec": {"log": {"schema": {"type": "object", "properties": {
            "text": {"type": "string"}, "number": {"type": "integer"},
        }}, "replay": "all"}},
    });
    let Value::Object(ui) = document else { unreachable!() };
    host.live().seed(&app(), &id(session), ui, Default::default()).await.expect("a session");
}

async fn emit(host: &Host, session: &str, rate: u32, lasting: Duration) -> u64 {
    let (began, session) = (Instant::now(), id(session));
    let (mut last, mut number) = (0, 0_u32);
    while began.elapsed() < lasting {
        let payload = json!({"text": "a line of a log as an agent writes it", "number": number});
        let frame = NewFrame { channel: "log".to_owned(), payload, complete: false };
        let emitted = host.live().emit_as_platform(&app(), &session, frame).await;
        last = emitted.expect("a frame");
        number += 1;
        let next = began + Duration::from_secs(1) * number / rate;
        tokio::time::sleep_until(next.into()).await;
    }
    last
}

fn app() -> AppId {
    AppId::new("shop").expect("an app")
}

fn id(session: &str) -> SessionId {
    SessionId::new(session).expect("a session")
}
