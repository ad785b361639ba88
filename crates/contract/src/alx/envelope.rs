//! The members of every answer, and the error envelope.

use super::{ALX_PROTOCOL_VERSION, Capabilities};
use crate::codes::{Category, Code, Exchange, Failure, WireCode};
use crate::message;
use crate::wire::{Extensible, False, Field, Object, Wire};

message! {
    /// The version and the capabilities of the side that sends.
    pub struct ProtocolInfo("ProtocolInfo", open) {
        /// The version of the protocol, as an opaque text.
        required protocol_version: String = "protocol_version", "protocol-version";
        /// What the side says that it can do; never a proof that something is allowed.
        nullable capabilities: Capabilities = "capabilities", "capability-advertisement";
    }

    // Clauses: ALX-MSG-ERROR-OK, ALX-MSG-ERROR-LOOSE, ALX-ALIAS-CODE.
    /// A failed request.
    pub struct ErrorEnvelope("ErrorEnvelope", open) {
        /// A failure is never reported as a success.
        required ok: False = "ok", "success-flag";
        /// The id that joins the answer to its request.
        nullable correlation_id: String = "correlationId", "correlation-id";
        /// The version and the capabilities of the server.
        nullable protocol: ProtocolInfo = "protocol", "protocol-info";
        /// What went wrong.
        required error: ErrorBody = "error", "failure";
    }
    aliases { "code" => "error.code" }

    // Clauses: ALX-MSG-ERROR-BODY, ALX-MSG-ERROR-SUGGESTION.
    /// What went wrong.
    pub struct ErrorBody("ErrorBody", open) {
        /// The stable category.
        required kind: Extensible<Category> = "type", "failure-category";
        /// The code that programs act on.
        required code: WireCode = "code", "failure-code";
        /// What happened, for people.
        required message: String = "message", "text-for-people";
        /// A suggestion, for people.
        nullable suggestion: String = "suggestion", "text-for-people";
    }
}

/// A message that carries the protocol's version. Clauses: ALX-VERSION-NEGOTIATION, ALX-WG-02.
pub trait Envelope: Wire {
    /// The version and the capabilities of the sender, if the message has them.
    fn protocol(&self) -> Option<&ProtocolInfo>;

    /// The error, if the message reports a failure.
    fn error(&self) -> Option<&ErrorBody> {
        None
    }

    /// Checks whether this version may send it: a reader accepts more than a sender may write.
    fn check_sendable(&self) -> Result<(), Failure> {
        Ok(())
    }
}

impl ProtocolInfo {
    /// Our own version with these capabilities. Clauses: ALX-VERSION-REPORTED.
    pub fn ours(capabilities: Capabilities) -> Self {
        Self {
            protocol_version: ALX_PROTOCOL_VERSION.into(),
            capabilities: Field::Value(capabilities),
            extra: Object::new(),
        }
    }
}

impl ErrorEnvelope {
    /// The envelope of any error, to pass on that of another server. Ours are a [`Failure`].
    pub fn new(error: ErrorBody, exchange: Exchange) -> Self {
        Self {
            ok: False,
            correlation_id: Field::Value(exchange.correlation_id),
            protocol: Field::Value(ProtocolInfo::ours(exchange.capabilities)),
            error,
            extra: Object::new(),
        }
    }

    /// The envelope of an error outside of an exchange.
    pub fn of_command(error: ErrorBody, correlation_id: Option<String>) -> Self {
        Self {
            ok: False,
            correlation_id: correlation_id.into(),
            protocol: Field::Absent,
            error,
            extra: Object::new(),
        }
    }

    /// The envelope of a failure in an exchange. Clauses: ALX-WG-05, ALX-WG-08.
    pub fn from_failure(failure: &Failure, exchange: Exchange) -> Self {
        let (category, code) = (failure.code.category().into(), failure.code.into());
        let mut error = ErrorBody::new(category, code, failure.message.clone());
        error.suggestion = failure.suggestion.clone().into();
        Self::new(error, exchange)
    }
}

impl ErrorBody {
    /// An error without a suggestion.
    pub fn new(kind: Extensible<Category>, code: WireCode, message: String) -> Self {
        Self { kind, code, message, suggestion: Field::Absent, extra: Object::new() }
    }

    /// The code, if this version has it in the category that came with it.
    pub fn known_code(&self) -> Option<Code> {
        known_code(&self.kind, &self.code)
    }
}

/// A code is only valid within its category: the same text in another category is another code.
/// Clauses: ALX-WG-05, ALX-C3.
pub(super) fn known_code(kind: &Extensible<Category>, code: &WireCode) -> Option<Code> {
    (code.known()).filter(|code| kind.known() == Some(code.category()))
}

impl Envelope for ErrorEnvelope {
    fn protocol(&self) -> Option<&ProtocolInfo> {
        self.protocol.value()
    }

    fn error(&self) -> Option<&ErrorBody> {
        Some(&self.error)
    }
}
