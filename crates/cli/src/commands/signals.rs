//! Being told to end, as a server.
//!
//! Invariant: a signal that whoever started us had us ignore (`nohup` does so with SIGHUP) stays ignored.

use std::process;

use accord_adapters::agentxchain::workspaces;
use accord_contract::codes::Code;
use accord_host::serve::FILE_TOO_LARGE;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CliError;
use crate::interrupt::{is_ignored, stop_programs};

/// The signals that end a server, and one that is not to end it.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// A terminal that is gone; none where that is to be ignored.
    hangup: Option<Signal>,
    _file_too_large: Signal,
}

impl Signals {
    pub(super) fn listen() -> Result<Self, CliError> {
        let listen = |kind: SignalKind| {
            signal(kind).map_err(|error| {
                CliError::new(
                    Code::HttpFault,
                    format!("cannot listen to signals: {error}"),
                )
            })
        };
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: match is_ignored(SignalKind::hangup().as_raw_value()) {
                true => None,
                false => Some(listen(SignalKind::hangup())?),
            },
            _file_too_large: listen(SignalKind::from_raw(FILE_TOO_LARGE))?,
        })
    }

    /// Waits until we are told to end. Whoever says it twice means it: a second signal ends the process at
    /// once, with the programs that it runs.
    pub(super) async fn end(mut self) {
        self.next().await;
        tokio::spawn(async move {
            let number = self.next().await;
            stop_programs(workspaces);
            process::exit(128 + number);
        });
    }

    /// The number of the next.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            () = received(self.hangup.as_mut()) => SignalKind::hangup().as_raw_value(),
        }
    }
}

/// Waits for a signal; for ever where nobody listens to it.
async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}
