//! ALX 1.1: canonical form, Knowledge Blocks, envelopes, events, compatibility.

mod answer;
mod blocks;
mod canonical;
mod compatibility;
#[cfg(feature = "faults")]
mod faults;
mod messages;
mod streams;

#[cfg(feature = "faults")]
pub use faults::FAULTS;

use crate::{Adapter, BadCall, Call, Reply};

/// Accord's own implementation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accord;

impl Adapter for Accord {
    fn protocol(&self) -> &'static str {
        "alx"
    }

    fn perform(&self, call: &Call) -> Result<Reply, BadCall> {
        #[cfg(feature = "faults")]
        if let Some(reply) = faults::faulty(call, &perform) {
            return reply;
        }
        perform(call)
    }
}

fn perform(call: &Call) -> Result<Reply, BadCall> {
    // Only this operation has a setup, and it checks the members itself.
    if call.operation != "kb_register" {
        call.allow_setup(&[])?;
    }
    let outcome = match call.operation.as_str() {
        "version" => messages::version(),
        "version_relation" => messages::version_relation(call)?,
        "canonicalize" => canonical::canonicalize(call)?,
        "domain_hash" => canonical::domain_hash(call)?,
        "artifact_hash" => canonical::artifact_hash(call)?,
        "kb_hash" => blocks::hash(call)?,
        "kb_verify" => blocks::verify(call)?,
        "kb_validate" => blocks::validate(call)?,
        "kb_register" => blocks::register(call)?,
        "kb_derive" => blocks::derive(call)?,
        "decode" => messages::decode(call)?,
        "round_trip" => messages::round_trip(call)?,
        "encode_error" => messages::encode_error(call)?,
        "encode_success" => messages::encode_success(call)?,
        "check_aliases" => messages::check_aliases(call)?,
        "retry" => messages::retry(call)?,
        "read_events" => streams::read_events(call)?,
        "emit_event" => streams::emit_event(call)?,
        "compat" => compatibility::compat(call)?,
        _ => return Ok(Reply::NotImplemented),
    };
    Ok(Reply::Outcome(outcome.into()))
}
