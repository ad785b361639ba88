//! ALX 1.1: canonical form, Knowledge Blocks, envelopes, events, compatibility.

mod blocks;
mod canonical;
mod compatibility;
#[cfg(feature = "faults")]
mod faults;
mod messages;
mod streams;

use serde_json::json;

#[cfg(feature = "faults")]
pub use faults::FAULTS;

use crate::{Adapter, Answered, Call, Reply};

/// Accord's own implementation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accord;

impl Adapter for Accord {
    fn protocol(&self) -> &'static str {
        "alx"
    }

    fn perform(&self, call: &Call) -> Answered {
        #[cfg(feature = "faults")]
        if let Some(reply) = faults::faulty(call, &perform) {
            return reply;
        }
        perform(call)
    }
}

fn perform(call: &Call) -> Answered {
    // Only this operation has a setup, and it checks the members itself.
    if call.operation != "kb_register" {
        call.allow_setup(&[])?;
    }
    let operation = match call.operation.as_str() {
        "version" => messages::version,
        "version_relation" => messages::version_relation,
        "canonicalize" => canonical::canonicalize,
        "domain_hash" => canonical::domain_hash,
        "artifact_hash" => canonical::artifact_hash,
        "kb_hash" => blocks::hash,
        "kb_verify" => blocks::verify,
        "kb_validate" => blocks::validate,
        "kb_register" => blocks::register,
        "kb_derive" => blocks::derive,
        "decode" => messages::decode,
        "round_trip" => messages::round_trip,
        "encode_error" => messages::encode_error,
        "encode_success" => messages::encode_success,
        "check_aliases" => messages::check_aliases,
        "retry" => messages::retry,
        "read_events" => streams::read_events,
        "emit_event" => streams::emit_event,
        "compat" => compatibility::compat,
        _ => return Ok(Reply::NotImplemented),
    };
    operation(call).map(Reply::ok).or_else(|stop| {
        stop.reply(|failure| refused(failure.code.as_str(), &failure.pointer.unwrap_or_default()))
    })
}

/// A refusal with its code and its place in the document.
fn refused(code: &str, pointer: &str) -> Reply {
    Reply::Outcome(json!({ "result": "error", "code": code, "pointer": pointer }))
}
