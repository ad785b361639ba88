//! Failures for documents of a wrong form, and for projects that do not exist.

use accord_contract::wire::{DecodeError, DecodeErrorKind};
use accord_contract::{Code, Failure};

use crate::ProjectId;

/// Clauses: AGENTIC-R-079.
pub fn project_not_found(named: &ProjectId) -> Failure {
    let message = format!("there is no project {:?}", named.as_str());
    Failure::new(Code::AgenticProjectNotFound, message)
}

/// A member or parameter with a wrong value.
pub fn schema(pointer: impl Into<String>, message: impl Into<String>) -> Failure {
    Failure::new(Code::AgenticInvalidSchema, message).at(pointer)
}

/// A document that is another message. A limit has its own code. Clauses: AGENTIC-R-047.
pub fn decoded(error: DecodeError) -> Failure {
    let code = match error.kind {
        DecodeErrorKind::TooLong => Code::AgenticTextTooLong,
        DecodeErrorKind::TooMany => Code::AgenticTooManyItems,
        _ => Code::AgenticInvalidSchema,
    };
    Failure::new(code, error.to_string()).at(error.pointer)
}
