//! The two forms of an outcome.

use accord_canon::CanonError;
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::DecodeError;
use accord_knowledge_core::KbError;
use serde_json::{Value, json};

/// The outcome of an operation: members of the answer, or a refusal.
pub(super) struct Outcome(Result<Value, Refused>);

/// A refusal with its code and its place in the document.
pub(super) struct Refused {
    code: Code,
    pointer: String,
}

impl Outcome {
    /// An answer; `members` is an object.
    pub(super) fn ok(members: Value) -> Self {
        Self(Ok(members))
    }
}

impl<E: Into<Refused>> From<Result<Value, E>> for Outcome {
    fn from(result: Result<Value, E>) -> Self {
        Self(result.map_err(Into::into))
    }
}

impl From<Outcome> for Value {
    fn from(outcome: Outcome) -> Self {
        match outcome.0 {
            Ok(mut members) => {
                members["result"] = "ok".into();
                members
            }
            Err(refused) => json!({
                "result": "error",
                "code": refused.code.as_str(),
                "pointer": refused.pointer,
            }),
        }
    }
}

impl From<CanonError> for Refused {
    fn from(error: CanonError) -> Self {
        Self {
            code: error.refusal().into(),
            pointer: error.pointer().to_owned(),
        }
    }
}

impl From<KbError> for Refused {
    fn from(error: KbError) -> Self {
        Self {
            code: error.code(),
            pointer: error.pointer().to_owned(),
        }
    }
}

impl From<DecodeError> for Refused {
    fn from(error: DecodeError) -> Self {
        Failure::from(error).into()
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self {
            code: failure.code,
            pointer: failure.pointer.unwrap_or_default(),
        }
    }
}
