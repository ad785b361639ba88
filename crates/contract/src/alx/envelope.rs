//! What every answer has, and the error envelope.

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
}

message! {
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
}

message! {
    // Clauses: ALX-MSG-ERROR-BODY, ALX-MSG-ERROR-SUGGESTION.
    /// What went wrong.
    pub struct ErrorBody("ErrorBody", open) {
        /// The stable category.
        required kind: Extensible<Category> = "type", "failure-category";
        /// The code that programs act on.
        required code: WireCode = "code", "failure-code";
        /// What happened, for people.
        required message: String = "message", "text-for-people";
        /// What would help, for people.
        nullable suggestion: String = "suggestion", "text-for-people";
    }
}

/// A message that carries the protocol's version.
///
/// Clauses: ALX-VERSION-NEGOTIATION, ALX-WG-02.
pub trait Envelope: Wire {
    /// The version and the capabilities of the side that sent it, where it says so.
    fn protocol(&self) -> Option<&ProtocolInfo>;

    /// What went wrong, where the message reports a failure.
    fn error(&self) -> Option<&ErrorBody> {
        None
    }

    /// Whether this version may send it: a reader lives with more than a sender may
    /// write.
    fn check_sendable(&self) -> Result<(), Failure> {
        Ok(())
    }
}

impl ProtocolInfo {
    /// Our own version with these capabilities.
    ///
    /// Clauses: ALX-VERSION-REPORTED.
    pub fn ours(capabilities: Capabilities) -> Self {
        Self {
            protocol_version: ALX_PROTOCOL_VERSION.into(),
            capabilities: Field::Value(capabilities),
            extra: Object::new(),
        }
    }
}

impl ErrorEnvelope {
    /// The envelope of an error in an exchange, whose code need not be one of the
    /// registry's: for whoever passes on what another server said. An error of one's own
    /// is a [`Failure`].
    pub fn new(error: ErrorBody, exchange: Exchange) -> Self {
        Self {
            ok: False,
            correlation_id: Field::Value(exchange.correlation_id),
            protocol: Field::Value(ProtocolInfo::ours(exchange.capabilities)),
            error,
            extra: Object::new(),
        }
    }

    /// The envelope of a failure in an exchange.
    ///
    /// Clauses: ALX-WG-05, ALX-WG-08.
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
        Self {
            kind,
            code,
            message,
            suggestion: Field::Absent,
            extra: Object::new(),
        }
    }

    /// The code, where this version knows it within the category that it came with.
    pub fn known_code(&self) -> Option<Code> {
        known_code(&self.kind, &self.code)
    }
}

/// A code has its meaning within its category: the same text in another one is another code.
///
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
