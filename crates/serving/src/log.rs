//! The log of a process, on standard error.

use std::io;

use accord_contract::{Code, Failure};
use tracing_subscriber::{EnvFilter, fmt};

use crate::settings::{Log, LogFormat};

/// Starts the log. A process does this once.
pub fn begin(settings: &Log) -> Result<(), Failure> {
    let mut level = settings.level.clone();
    if matches!(level.as_str(), "info" | "debug" | "trace") {
        // The MCP transport logs every message; our own lines have what an operator needs.
        level.push_str(",rmcp=warn");
    }
    let filter = EnvFilter::try_new(&level).map_err(|error| {
        let message = format!("log.level: {:?} is not a level or filter: {error}", settings.level);
        Failure::new(Code::SettingInvalid, message)
    })?;
    // If standard error is closed, the server must go on without a log.
    let lines = fmt().with_env_filter(filter).with_writer(io::stderr).log_internal_errors(false);
    let begun = match settings.format {
        LogFormat::Text => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            lines.with_ansi(colours).with_target(false).try_init()
        }
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    begun.map_err(|_| Failure::new(Code::HttpFault, "the log was started already"))?;
    // A panic in a handler is logged with the request that caused it.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let said = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(place, "a handler panicked: {said}");
    }));
    Ok(())
}
