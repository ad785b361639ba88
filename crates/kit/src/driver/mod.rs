//! Drivers: send a case to an implementation and return its answer. Each worker of a run opens its
//! own [`Driver`] to the [`Adapter`]. A driver never judges.

mod channel;
mod combined;
mod folders;
mod http;
mod in_process;
mod long_lived;
mod per_case;
mod reply;
pub(crate) mod workplace;

use std::time::Duration;

use accord_contract::fixture::CaseAnswer;
use accord_contract::{Extensible, Object, message, wire_enum};
use accord_process::{Cancel, Invocation, StartError};

use crate::case::{Case, Task};
use crate::corpus::Protocol;
use crate::exchange::Exchanged;
use crate::report::LeftBehind;
pub use channel::{ChannelServer, ControlOptions};
pub use combined::Combined;
pub use http::{Http, HttpFixtures, HttpOptions, ServerError};
pub use in_process::{Answer, InProcess};
pub use long_lived::LongLived;
pub use per_case::PerCase;

/// Answers the cases of a run.
pub trait Adapter: Sync {
    /// Checks, before anything is run, that the adapter can be used, and prepares it.
    fn begin(&self, protocol: &Protocol) -> Result<(), CannotBegin>;

    /// Why a case does not apply to this adapter, if it does not.
    fn applies(&self, case: &Case) -> Result<(), String> {
        match case.task {
            Task::Call(_) => Ok(()),
            Task::Exchange(_) | Task::Channel(_) => Err(NO_SERVER.to_owned()),
            Task::Folder(_) => Err(NO_FOLDER.to_owned()),
        }
    }

    /// Opens a driver for a worker.
    fn open(&self) -> Box<dyn Driver + '_>;

    /// Cleans up after the run, and returns what is left behind. Called once, also after an error.
    fn end(&self) -> Vec<LeftBehind> {
        Vec::new()
    }

    /// Describes the adapter for reports.
    fn info(&self) -> AdapterInfo;
}

/// Why a case does not apply to a program that answers cases and works in folders.
fn applies_to_process(case: &Case) -> Result<(), String> {
    match case.task {
        Task::Call(_) | Task::Folder(_) => Ok(()),
        Task::Exchange(_) | Task::Channel(_) => Err(NO_SERVER.to_owned()),
    }
}

const NO_SERVER: &str = "is judged over the network, and the run has no server";
const NO_FOLDER: &str = "is judged by a folder, and the run has no program that works in one";

/// Why a run cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotBegin {
    /// The adapter's program cannot be started.
    #[error("the adapter cannot be started: {0}")]
    Program(#[from] StartError),
    /// The server cannot be used.
    #[error("{0}")]
    Server(#[from] ServerError),
}

/// One worker's connection to an adapter.
pub trait Driver {
    /// Executes a case, within a time limit.
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome;

    /// Sets the flag that ends a case early ([`NoAnswer::Cancelled`]), where the driver can stop.
    fn cancel_with(&mut self, cancel: Cancel) {
        let _ = cancel;
    }

    /// Ends the driver, and returns what went wrong outside the cases.
    fn close(&mut self) -> Closing {
        Closing::default()
    }
}

/// Errors of an adapter that belong to no case.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Closing {
    /// How the adapter broke the fixture protocol. The run ends in error.
    pub breaches: Vec<String>,
    /// What the kit could not clean up. Reported; does not change the exit code.
    pub notes: Vec<String>,
}

impl Closing {
    pub(crate) fn add(&mut self, other: Self) {
        self.breaches.extend(other.breaches);
        self.notes.extend(other.notes);
    }
}

/// The result of executing a case.
#[derive(Debug)]
#[non_exhaustive]
pub struct DriverOutcome {
    /// The answer, or why there is none.
    pub answer: Result<Reply, NoAnswer>,
    /// The last lines that the adapter wrote to stderr.
    pub stderr: String,
}

/// The answer of an adapter or a server to a case.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply {
    /// The adapter's result document.
    Result(CaseAnswer),
    /// How an exchange with a server went.
    Exchanged(Exchanged),
}

/// Why a case has no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum NoAnswer {
    /// The adapter broke the fixture protocol.
    Broken {
        /// In which way.
        breach: Breach,
        /// What happened, for people.
        reason: String,
    },
    /// The kit could not do its part.
    Harness {
        /// What happened, for people.
        reason: String,
    },
    /// The adapter's program could not be started.
    CannotStart(StartError),
    /// The run was cancelled while the adapter was working.
    Cancelled,
}

/// How an adapter broke the fixture protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Breach {
    /// It gave no answer in time.
    TimedOut,
    /// Its answer breaks the protocol, or it ended.
    Protocol,
}

message! {
    /// The implementation that answered the cases.
    pub struct AdapterInfo("AdapterInfo", open) {
        /// How the kit talked to it.
        required driver: Extensible<DriverKind> = "driver", "driver-name";
        /// The program and its arguments; empty when it runs inside the kit's process.
        required command: Vec<String> = "command", "argv";
        /// The base URL of a server.
        optional url: String = "url", "url";
        /// The part of the server that the run works in, such as a project.
        optional scope: String = "scope", "scope-id";
    }
}

wire_enum! {
    /// How the kit talks to an adapter.
    pub enum DriverKind("DriverKind", closed) {
        /// One process per case.
        PerCase = "stdio-fixture-v1",
        /// One case per line.
        LongLived = "stdio-fixture-lines-v1",
        /// A function in the kit's own process.
        InProcess = "in-process",
        /// Requests to a server.
        Http = "http",
        /// Frames on sockets to a server, and requests beside them.
        Channel = "websocket",
        /// One request per case, to a server that executes cases.
        HttpFixtures = "http-fixture-v1",
    }
}

impl AdapterInfo {
    /// Describes an adapter; the command is empty where none was started.
    pub fn new(driver: DriverKind, command: Vec<String>) -> Self {
        Self { driver: driver.into(), command, url: None, scope: None, extra: Object::new() }
    }

    fn of(driver: DriverKind, invocation: &Invocation) -> Self {
        let words = std::iter::once(&invocation.program).chain(&invocation.args);
        let command = words.map(|word| word.to_string_lossy().into_owned());
        Self::new(driver, command.collect())
    }
}

impl DriverOutcome {
    /// An answer, with the adapter's stderr.
    pub fn new(answer: Result<impl Into<CaseAnswer>, NoAnswer>, stderr: &[u8]) -> Self {
        let answer = answer.map(|answer| Reply::Result(answer.into()));
        Self { answer, stderr: reply::last_lines(stderr) }
    }

    /// No answer.
    pub fn none(why: NoAnswer) -> Self {
        Self { answer: Err(why), stderr: String::new() }
    }
}

impl From<Exchanged> for DriverOutcome {
    fn from(exchanged: Exchanged) -> Self {
        Self { answer: Ok(Reply::Exchanged(exchanged)), stderr: String::new() }
    }
}

/// Removes the folders of all running cases. For a program that must end at once.
pub(crate) fn remove_live_folders() {
    workplace::remove_all();
}

impl NoAnswer {
    pub(crate) fn broken(reason: impl Into<String>) -> Self {
        Self::Broken { breach: Breach::Protocol, reason: reason.into() }
    }

    fn timed_out(reason: String) -> Self {
        Self::Broken { breach: Breach::TimedOut, reason }
    }
}

/// The limit for the answer to one case. Parsed, it takes tens of times as much memory.
const ANSWER_LIMIT: usize = 1024 * 1024;
/// How much of an adapter's stderr is kept.
const STDERR_LIMIT: usize = 16 * 1024;
