//! The signals that end a server.
//!
//! Invariant: a signal that was ignored when the process started stays ignored (`nohup` ignores
//! SIGHUP).

use std::process;

use accord_adapters::agentxchain::workspaces;
use accord_contract::Code;
use accord_host::serve::FILE_TOO_LARGE;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::interrupt::{is_ignored, stop_programs};
use crate::{CliError, Result};

/// The signals that end a server, and one that must not end it.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// The terminal was closed; `None` if the signal is ignored.
    hangup: Option<Signal>,
    _file_too_large: Signal,
}

impl Signals {
    pub(super) fn listen() -> Result<Self> {
        let listen = |kind: SignalKind| {
            signal(kind).map_err(|error| {
                CliError::new(Code::HttpFault, format!("cannot listen to signals: {error}"))
            })
        };
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: match is_ignored(SignalKind::hangup().as_raw_value()) {
                true => None,
                false => Some(listen(SignalKind::hangup())?),
            },
            // Without a handler, this signal would end the server. With one, the write fails and is
            // reported.
            _file_too_large: listen(SignalKind::from_raw(FILE_TOO_LARGE))?,
        })
    }

    /// Waits for the first signal. A second one ends the process and the programs that it runs at
    /// once.
    pub(super) async fn end(mut self) {
        self.next().await;
        tokio::spawn(async move {
            let number = self.next().await;
            // Programs have process groups of their own, so they would outlive this process.
            stop_programs(workspaces);
            process::exit(128 + number);
        });
    }

    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            () = received(self.hangup.as_mut()) => SignalKind::hangup().as_raw_value(),
        }
    }
}

/// Waits for a signal; for ever if no handler is installed for it.
async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}
