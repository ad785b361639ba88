//! What pages observe about themselves.

use accord_base::Caller;
use accord_contract::{Value, text::excerpt};
use accord_live_core::session::redact;
use accord_live_core::tools::{Outcome, TelemetryRequest};

use super::Live;

/// Characters of an event in the log.
const CHARS: usize = 500;

impl Live {
    /// Writes what a page observed to the log, without its secrets: the address of a channel that
    /// could not be opened has a token. Nothing of it is stored.
    pub fn record_telemetry(&self, caller: &Caller, request: TelemetryRequest) -> Outcome {
        for event in request.events {
            let event = excerpt(&redact(&Value::Object(event).to_string(), &[]), CHARS);
            tracing::debug!(caller = caller.label(), event, "telemetry of a page");
        }
        Outcome::submitted(None)
    }
}
