//! What can go wrong between the kit and a browser.

use std::time::Duration;

use accord_process::StartError;
use thiserror::Error;

/// The browser could not do what it was asked for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// No Chromium was found.
    #[error(
        "no Chromium was found; install one (Debian: apt-get install chromium) or name its program"
    )]
    NotFound,
    /// The program cannot be started.
    #[error("the browser cannot be started: {0}")]
    Start(#[from] StartError),
    /// It ended, or its files cannot be used.
    #[error("the browser cannot be used: {0}")]
    Unusable(String),
    /// The connection to it failed.
    #[error("the connection to the browser failed: {0}")]
    Connection(String),
    /// It refused a command.
    #[error("the browser refused {method}: {message}")]
    Refused {
        /// The command.
        method: String,
        /// The reason.
        message: String,
    },
    /// A script that the kit evaluated failed.
    #[error("a script failed in the page: {message}")]
    Script {
        /// The message of the exception.
        message: String,
    },
    /// An element to use is missing or covered.
    #[error("the element {selector:?} cannot be used: {why}")]
    Element {
        /// The selector.
        selector: String,
        /// The reason.
        why: String,
    },
    /// What was waited for did not happen.
    #[error("waited {limit:?} for {what}{}", last.as_ref().map(|last| format!("; {last}"))
        .unwrap_or_default())]
    TimedOut {
        /// What was waited for.
        what: String,
        /// The limit.
        limit: Duration,
        /// What was there instead.
        last: Option<String>,
    },
}
