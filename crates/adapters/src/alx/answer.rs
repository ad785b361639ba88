//! The two forms of an answer.

use accord_canon::CanonError;
use accord_contract::wire::DecodeError;
use accord_contract::{Code, Failure};
use accord_knowledge_core::KbError;
use serde_json::{Value, json};

/// The answer to a call: the members of its outcome, or a refusal.
pub(super) struct Answer(Result<Value, Refused>);

/// A refusal with its code and its place in the document.
pub(super) struct Refused {
    code: Code,
    pointer: String,
}

impl Answer {
    /// A success; `members` is an object.
    pub(super) fn ok(members: Value) -> Self {
        Self(Ok(members))
    }
}

impl<E: Into<Refused>> From<Result<Value, E>> for Answer {
    fn from(result: Result<Value, E>) -> Self {
        Self(result.map_err(Into::into))
    }
}

impl From<Answer> for Value {
    fn from(answer: Answer) -> Self {
        match answer.0 {
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
        Self { code: error.refusal().into(), pointer: error.pointer().to_owned() }
    }
}

impl From<KbError> for Refused {
    fn from(error: KbError) -> Self {
        Self { code: error.code(), pointer: error.pointer().to_owned() }
    }
}

impl From<DecodeError> for Refused {
    fn from(error: DecodeError) -> Self {
        Failure::from(error).into()
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self { code: failure.code, pointer: failure.pointer.unwrap_or_default() }
    }
}
