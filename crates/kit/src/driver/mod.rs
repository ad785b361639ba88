//! Drivers: how a case reaches an implementation and how its answer comes back.
//!
//! An [`Adapter`] is who answers; each worker of a run opens a [`Driver`] of its own to talk to it.
//! A driver never judges: it brings back what the adapter said or how an exchange with a server
//! went, or how either broke the protocol.

mod http;
mod in_process;
mod long_lived;
mod per_case;
mod reply;
mod workplace;

use std::time::Duration;

use accord_contract::fixture::AdapterResult;
use accord_contract::wire::{Extensible, Object, message, wire_enum};
use accord_process::{Cancel, Invocation, StartError};

use crate::case::{Case, Task};
use crate::corpus::Protocol;
use crate::exchange::Exchanged;
use crate::report::LeftBehind;
pub use http::{Http, HttpFixtures, HttpOptions, ServerError};
pub use in_process::InProcess;
pub use long_lived::LongLived;
pub use per_case::PerCase;

/// Who answers the cases of a run.
pub trait Adapter: Sync {
    /// Finds out, before anything is run, whether the adapter can be asked at all, and gets it
    /// ready.
    fn begin(&self, protocol: &Protocol) -> Result<(), CannotBegin>;

    /// Says why a case does not apply to this adapter, where it does not.
    fn applies(&self, case: &Case) -> Result<(), String> {
        match case.task {
            Task::Call(_) => Ok(()),
            Task::Exchange(_) => Err("is judged over HTTP, and no server was named".to_owned()),
        }
    }

    /// Opens a line of its own for a worker.
    fn open(&self) -> Box<dyn Driver + '_>;

    /// Puts away what the run made, and tells what it leaves behind. Called once, whatever
    /// happened.
    fn end(&self) -> Vec<LeftBehind> {
        Vec::new()
    }

    /// Describes the adapter for reports.
    fn info(&self) -> AdapterInfo;
}

/// Why a run cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotBegin {
    /// The adapter's program cannot be started.
    #[error("the adapter cannot be started: {0}")]
    Program(#[from] StartError),
    /// The server cannot be asked.
    #[error("{0}")]
    Server(#[from] ServerError),
}

/// One worker's line to an adapter.
pub trait Driver {
    /// Has a case executed, within a time limit.
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome;

    /// Takes the word that ends a case early; the answer is then [`NoAnswer::Cancelled`]. A driver
    /// that cannot stop midway may pass over it.
    fn cancel_with(&mut self, cancel: Cancel) {
        let _ = cancel;
    }

    /// Ends the line, and tells what went wrong beside the cases.
    fn close(&mut self) -> Closing {
        Closing::default()
    }
}

/// What went wrong on a line to an adapter that no case can be charged with.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Closing {
    /// How the adapter broke the fixture protocol. The run ends in error.
    pub breaches: Vec<String>,
    /// What the kit could not put away. Told, and decides nothing.
    pub notes: Vec<String>,
}

impl Closing {
    pub(crate) fn add(&mut self, other: Self) {
        self.breaches.extend(other.breaches);
        self.notes.extend(other.notes);
    }
}

/// What came back for a case.
#[derive(Debug)]
#[non_exhaustive]
pub struct DriverOutcome {
    /// What came back, or why nothing did.
    pub answer: Result<Reply, NoAnswer>,
    /// The last lines that the adapter wrote to stderr.
    pub stderr: String,
}

/// What an adapter or a server brought for a case.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply {
    /// The adapter's result document.
    Result(AdapterResult),
    /// How an exchange with a server went.
    Exchanged(Exchanged),
}

/// Why there is no answer to a case, which also says whose fault that is.
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
    /// The run was ended while the adapter was at work.
    Cancelled,
}

/// How an adapter broke the fixture protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Breach {
    /// It gave no answer in time.
    TimedOut,
    /// It answered in another way than the protocol says, or ended.
    Protocol,
}

message! {
    /// Who answered the cases.
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
        /// One process a case.
        PerCase = "stdio-fixture-v1",
        /// One case a line.
        LongLived = "stdio-fixture-lines-v1",
        /// A function in the kit's own process.
        InProcess = "in-process",
        /// Requests to a server.
        Http = "http",
        /// One request a case, to a server that carries cases out.
        HttpFixtures = "http-fixture-v1",
    }
}

impl AdapterInfo {
    /// Describes an adapter; the command is empty where none was started.
    pub fn new(driver: DriverKind, command: Vec<String>) -> Self {
        Self {
            driver: driver.into(),
            command,
            url: None,
            scope: None,
            extra: Object::new(),
        }
    }

    fn of(driver: DriverKind, invocation: &Invocation) -> Self {
        let words = std::iter::once(&invocation.program).chain(&invocation.args);
        let command = words.map(|word| word.to_string_lossy().into_owned());
        Self::new(driver, command.collect())
    }
}

impl DriverOutcome {
    /// What came back, with what the adapter wrote to stderr meanwhile.
    pub fn new(answer: Result<AdapterResult, NoAnswer>, stderr: &[u8]) -> Self {
        Self {
            answer: answer.map(Reply::Result),
            stderr: reply::last_lines(stderr),
        }
    }
}

impl From<Exchanged> for DriverOutcome {
    fn from(exchanged: Exchanged) -> Self {
        Self {
            answer: Ok(Reply::Exchanged(exchanged)),
            stderr: String::new(),
        }
    }
}

/// Removes the folder of every case that is being worked on. For a program that must end at once.
pub(crate) fn remove_live_folders() {
    workplace::remove_all();
}

impl NoAnswer {
    fn broken(reason: impl Into<String>) -> Self {
        Self::Broken {
            breach: Breach::Protocol,
            reason: reason.into(),
        }
    }
}

/// The most that an adapter may write for one case: hundreds of times what any case expects. As a
/// tree in memory it is tens of times as much, for every worker.
const ANSWER_LIMIT: usize = 1024 * 1024;
/// How much of an adapter's stderr is kept.
const STDERR_LIMIT: usize = 16 * 1024;
