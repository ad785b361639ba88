//! Errors, separated by cause.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::Ending;

/// A child could not be started. Nothing is running. Programs and folders are as they were named.
#[derive(Debug, Error)]
pub enum StartError {
    /// The name is a path that does not exist, or is in no folder of `PATH`.
    #[error("the program {program:?} does not exist; check its spelling and the PATH")]
    NotFound { program: String },
    #[error("the program {program:?} cannot be executed: {why}")]
    NotExecutable { program: String, why: &'static str },
    #[error("the working folder {} is not a folder that can be entered", path.display())]
    WorkingFolder { path: PathBuf },
    #[error("the program {program:?} could not be started: {source}")]
    System { program: String, source: io::Error },
    #[error("it has no sandbox: {why}")]
    Sandbox { why: String },
}

/// A [`crate::Session`] gave no answer. The child and its group are gone.
#[derive(Debug, Error)]
pub enum SessionError {
    #[error("no answer within {} ms", limit.as_millis())]
    TimedOut { limit: Duration },
    #[error("the process ended before it answered ({ending})")]
    Ended { ending: Ending },
    /// The child closed its stdout, so it cannot answer any more.
    #[error("the process closed its stdout before it answered")]
    OutputClosed,
    #[error("the answer is longer than {limit} bytes")]
    LineTooLong { limit: usize },
    /// The child wrote more than one line for a request.
    #[error("the process wrote more than one line for a request: {start:?}")]
    Unasked { start: String },
    #[error("the request was cancelled")]
    Cancelled,
    #[error("the session is over; start a new one")]
    Over,
    #[error("talking to the process failed: {source}")]
    System { source: io::Error },
}
