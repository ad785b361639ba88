//! The log of a process: lines on standard error.

use std::io;

use accord_contract::codes::{Code, Failure};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::settings::{Log, LogFormat};

/// Begins to log as the settings say. A process does that once.
///
/// # Errors
/// When the setting of what to log cannot be read, or the log has begun already.
pub fn begin(settings: &Log) -> Result<(), Failure> {
    let mut level = settings.level.clone();
    if matches!(level.as_str(), "info" | "debug" | "trace") {
        // What the MCP transport tells of every message is in our own lines, or nobody's business.
        level.push_str(",rmcp=warn");
    }
    let filter = EnvFilter::try_new(&level).map_err(|error| {
        let message = format!(
            "log.level: {:?} is no level or filter: {error}",
            settings.level
        );
        Failure::new(Code::SettingInvalid, message)
    })?;
    // Where nobody takes the log, the server goes on: it must not fail over its own words.
    let lines = fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .log_internal_errors(false);
    let begun = match settings.format {
        LogFormat::Text => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            lines.with_ansi(colours).with_target(false).try_init()
        }
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    begun.map_err(|_| Failure::new(Code::HttpFault, "the log has begun already"))?;
    // A panic of a handler belongs to the log, with the request that it happened in.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let place = place.unwrap_or_default();
        let said = panic.payload_as_str().unwrap_or("no words");
        tracing::error!(place, "a fault of the server: {said}");
    }));
    Ok(())
}
