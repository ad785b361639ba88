//! Drivers: how a case reaches an implementation and how its answer comes back.
//!
//! An [`Adapter`] is who answers; each worker of a run opens a [`Driver`] of its own to talk to it.
//! A driver never judges: it brings back what the adapter said, or how it broke the protocol.

mod in_process;
mod long_lived;
mod per_case;
mod reply;
mod workplace;

use std::time::Duration;

use accord_contract::fixture::AdapterResult;
use accord_contract::wire::{Extensible, Object, message, wire_enum};
use accord_process::{Invocation, StartError};

use crate::case::Case;
pub use in_process::InProcess;
pub use long_lived::LongLived;
pub use per_case::PerCase;

/// Who answers the cases of a run.
pub trait Adapter: Sync {
    /// Finds out, before anything is run, whether the adapter can be started at all.
    fn preflight(&self) -> Result<(), StartError>;

    /// Opens a line of its own for a worker.
    fn open(&self) -> Box<dyn Driver + '_>;

    /// Describes the adapter for reports.
    fn info(&self) -> AdapterInfo;
}

/// One worker's line to an adapter.
pub trait Driver {
    /// Has a case executed, within a time limit.
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome;
}

/// What came back for a case.
#[derive(Debug)]
#[non_exhaustive]
pub struct DriverOutcome {
    /// The adapter's result document, or why there is none.
    pub answer: Result<AdapterResult, NoAnswer>,
    /// The last lines that the adapter wrote to stderr.
    pub stderr: String,
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
    }
}

impl AdapterInfo {
    /// Describes an adapter; the command is empty where none was started.
    pub fn new(driver: DriverKind, command: Vec<String>) -> Self {
        Self {
            driver: driver.into(),
            command,
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
            answer,
            stderr: reply::last_lines(stderr),
        }
    }
}

impl NoAnswer {
    fn broken(reason: impl Into<String>) -> Self {
        Self::Broken {
            breach: Breach::Protocol,
            reason: reason.into(),
        }
    }
}

/// The most that an adapter may write for one case.
const ANSWER_LIMIT: usize = 8 * 1024 * 1024;
/// How much of an adapter's stderr is kept.
const STDERR_LIMIT: usize = 16 * 1024;
