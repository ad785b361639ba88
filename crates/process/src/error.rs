//! Errors, separated by whose fault they are.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::Ending;

/// A child could not be started. Nothing is running.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The name is a path that does not exist, or a bare name that no folder of `PATH` holds.
    #[error("the program {program:?} does not exist; check its spelling and the PATH")]
    NotFound {
        /// The program as it was named.
        program: String,
    },
    /// The file is there but may not or cannot be executed.
    #[error("the program {program:?} cannot be executed: {why}")]
    NotExecutable {
        /// The program as it was named.
        program: String,
        /// What stands in the way.
        why: &'static str,
    },
    /// The folder to start in is missing or is not a folder.
    #[error("the working folder {} is not a folder that can be entered", path.display())]
    WorkingFolder {
        /// The folder as it was named.
        path: PathBuf,
    },
    /// The system refused for a reason of its own.
    #[error("the program {program:?} could not be started: {source}")]
    System {
        /// The program as it was named.
        program: String,
        /// The system's words.
        source: io::Error,
    },
}

/// A [`crate::Session`] gave no answer. The child and its group are gone.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// No full line came in time.
    #[error("no answer within {} ms", limit.as_millis())]
    TimedOut {
        /// The limit that passed.
        limit: Duration,
    },
    /// The child ended before it answered.
    #[error("the process ended before it answered ({ending})")]
    Ended {
        /// How it ended.
        ending: Ending,
    },
    /// The child closed its stdout, so no answer can come any more.
    #[error("the process closed its stdout before it answered")]
    OutputClosed,
    /// The answer has no end within the limit.
    #[error("the answer is longer than {limit} bytes")]
    LineTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The child wrote more than the one line that it was asked for.
    #[error("the process wrote more than one line for a request: {start:?}")]
    Unasked {
        /// How the surplus begins.
        start: String,
    },
    /// The caller cancelled it.
    #[error("the request was given up")]
    Cancelled,
    /// The session was already over.
    #[error("the session is over; start a new one")]
    Over,
    /// Reading or writing a pipe failed.
    #[error("talking to the process failed: {source}")]
    System {
        /// The system's words.
        source: io::Error,
    },
}
