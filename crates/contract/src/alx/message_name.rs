//! The messages by name, for callers that have a name and a document.

use super::{
    ALX_PROTOCOL_VERSION, Capability, Envelope, ErrorEnvelope, ProtocolInfo, SessionListEnvelope,
    SessionStatusEnvelope, SessionTimelineEnvelope, SolveRequest, SolveResponse,
    known_capabilities,
};
use crate::codes::{Code, Failure};
use crate::wire::{AliasCheck, DecodeError, Object, Value, Wire, check_aliases};
use crate::wire_enum;

wire_enum! {
    /// The messages that ALX 1.1 exchanges.
    pub enum MessageName("AlxMessage", closed) {
        /// A failed request.
        ErrorEnvelope = "ErrorEnvelope",
        /// Asks for an intent to be carried out.
        SolveRequest = "SolveRequest",
        /// The answer to a solve request.
        SolveResponse = "SolveResponse",
        /// The status of a session.
        SessionStatusEnvelope = "SessionStatusEnvelope",
        /// What happened in a session.
        SessionTimelineEnvelope = "SessionTimelineEnvelope",
        /// The list of sessions.
        SessionListEnvelope = "SessionListEnvelope",
    }
}

/// What a reader of ALX 1.1 sees in a document.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Decoded {
    /// The canonical members of ALX 1.1.
    pub view: Value,
    /// The document written again: with aliases, and with the unknown members.
    pub document: Value,
    /// The capabilities of ALX 1.1 among those that were sent.
    pub capabilities: Vec<Capability>,
    /// For an error: whether the registry has its code in its category.
    pub code_known: Option<bool>,
}

/// Runs an expression with `$message` as the type of a name.
macro_rules! by_name {
    ($name:expr, $message:ident => $body:expr) => {
        by_name!(@arms $name, $message, $body, ErrorEnvelope, SolveRequest, SolveResponse,
            SessionStatusEnvelope, SessionTimelineEnvelope, SessionListEnvelope)
    };
    (@arms $name:expr, $message:ident, $body:expr, $($variant:ident),+) => {
        match $name {
            $(MessageName::$variant => {
                type $message = $variant;
                $body
            })+
        }
    };
}

impl MessageName {
    /// Reads a document as this message.
    /// Clauses: ALX-WG-01, ALX-CLIENT-1, ALX-UNKNOWN-FIELD, ALX-C1, ALX-C6.
    pub fn decode(self, document: Value) -> Result<Decoded, DecodeError> {
        by_name!(self, M => M::from_document(document).map(|message| decoded(&message)))
    }

    /// Writes a success from its canonical members. `ok` is added if absent, and the version is
    /// always ours. Requests, failures and messages that may only be read are refused.
    /// Clauses: ALX-MSG-SUCCESS, ALX-WG-02, ALX-WG-08.
    pub fn success(self, mut members: Object) -> Result<Value, Failure> {
        if self == Self::SolveRequest {
            let message = format!("/ok: a {self} asks for something, so it cannot be a success");
            return Err(Failure::new(Code::WireFieldValue, message).at("/ok"));
        }
        // Not overwritten: `ok: false` must be refused below, and not turned into a success.
        members.entry("ok").or_insert(Value::Bool(true));
        let ours = || ProtocolInfo::ours(Vec::new()).encode();
        // A value that is not an object is refused below, with its place.
        if let Value::Object(protocol) = members.entry("protocol").or_insert_with(ours) {
            protocol.insert("protocol_version".into(), ALX_PROTOCOL_VERSION.into());
        }
        let document = Value::Object(members);
        by_name!(self, M => {
            let message = M::from_document(document)?;
            message.check_sendable()?;
            Ok(message.encode())
        })
    }

    /// Compares the aliases in a document with their canonical members.
    pub fn check_aliases(self, document: &Value) -> Vec<AliasCheck> {
        by_name!(self, M => check_aliases::<M>(document))
    }
}

/// Clauses: ALX-CANONICAL-CONTRACT, ALX-CLIENT-4, ALX-C4, ALX-WG-07, ALX-MSG-PRESERVE.
fn decoded(message: &impl Envelope) -> Decoded {
    let capabilities = message.protocol().and_then(|info| info.capabilities.value());
    Decoded {
        view: message.view(),
        document: message.encode(),
        capabilities: capabilities.map(known_capabilities).unwrap_or_default(),
        code_known: message.error().map(|error| error.known_code().is_some()),
    }
}
