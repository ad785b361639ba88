//! The solve call: a request with an intent, and its answer.

use super::{Envelope, ProtocolInfo};
use crate::wire::{Object, Ratio, Value};
use crate::{envelope, message};

message! {
    // Clauses: ALX-MSG-SOLVE-REQUEST.
    /// Asks for an intent to be carried out.
    pub struct SolveRequest("SolveRequest", open) {
        /// The version and the capabilities of the client.
        nullable protocol: ProtocolInfo = "protocol", "protocol-info";
        /// What is wanted.
        required intent: Intent = "intent", "intent";
        /// What the server should know for it.
        nullable context: Object = "context", "opaque-context";
        /// What the client notes about the request.
        nullable meta: Object = "meta", "opaque-notes";
        /// How it should be carried out.
        nullable options: SolveOptions = "options", "solve-options";
    }

    /// What is wanted: do something to something within a field.
    pub struct Intent("Intent", open) {
        /// What to do.
        required verb: String = "verb", "intent-verb";
        /// What to do it to.
        required target: String = "target", "intent-target";
        /// The field of knowledge.
        required domain: String = "domain", "knowledge-domain";
    }

    /// How a solve request should be carried out.
    pub struct SolveOptions("SolveOptions", open) {
        /// Say what would happen, and do nothing.
        nullable dry_run: bool = "dryRun", "no-effect-flag";
        /// Go on below the confidence that is normally asked for.
        nullable force: bool = "force", "bypass-confidence-flag";
        /// The session that the run belongs to.
        nullable session_id: String = "sessionId", "session-id";
    }
}

envelope! {
    // Clauses: ALX-MSG-SOLVE-RESPONSE, ALX-ALIAS-CONFIDENCE.
    /// The answer to a solve request that was carried out.
    pub struct SolveResponse("SolveResponse") {
        /// The run that carried it out.
        required execution_id: String = "executionId", "execution-id";
        /// How sure the server is.
        required confidence: Ratio = "confidence", "unit:ratio,range:0..1";
        /// What was chosen or made.
        nullable artifact: Object = "artifact", "opaque-artifact";
        /// What the server learned.
        nullable learning: Value = "learning", "opaque-learning";
    }
    aliases { "confidenceScore" => "confidence" }
}

impl Envelope for SolveRequest {
    fn protocol(&self) -> Option<&ProtocolInfo> {
        self.protocol.value()
    }
}

impl Envelope for SolveResponse {
    fn protocol(&self) -> Option<&ProtocolInfo> {
        Some(&self.protocol)
    }
}
