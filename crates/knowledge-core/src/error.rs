//! Why an envelope is refused.

use accord_canon::CanonError;
use accord_contract::{Code, Failure};

#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum KbError {
    /// It has no canonical form.
    #[error(transparent)]
    Canon(#[from] CanonError),
    /// A source is named twice, and the caller did not say what that means.
    #[error("a source is named twice; remove one, or choose to hash it once or as it is")]
    DuplicateSource { pointer: String },
    /// A member is missing or malformed.
    #[error("{detail}")]
    InvalidEnvelope { pointer: String, detail: String },
    #[error("sources must be in ascending order; sort them")]
    SourcesNotSorted {
        /// The first that comes too late.
        pointer: String,
    },
    /// The payload does not have the shape of its type.
    #[error("{detail}")]
    SchemaInvalid { pointer: String, detail: String },
    /// A block names itself as its source.
    #[error("the block names itself among its sources; remove that entry")]
    SelfReference { pointer: String },
    #[error("the source {source_id} is not registered; register it first")]
    UnregisteredSource { pointer: String, source_id: String },
    /// A block would be its own ancestor.
    #[error("the block would become its own ancestor through this source; remove it")]
    CycleDetected { pointer: String },
}

impl KbError {
    pub(crate) fn envelope(pointer: String, detail: String) -> Self {
        Self::InvalidEnvelope { pointer, detail }
    }

    pub(crate) fn schema(pointer: String, detail: String) -> Self {
        Self::SchemaInvalid { pointer, detail }
    }

    pub(crate) fn not_an_object() -> Self {
        Self::envelope(
            String::new(),
            "an envelope is a JSON object; this is another kind of value".to_owned(),
        )
    }

    pub fn code(&self) -> Code {
        match self {
            Self::Canon(error) => error.refusal().into(),
            Self::DuplicateSource { .. } => Code::KbDuplicateSource,
            Self::InvalidEnvelope { .. } => Code::InvalidEnvelope,
            Self::SourcesNotSorted { .. } => Code::SourcesNotSorted,
            Self::SchemaInvalid { .. } => Code::SchemaInvalid,
            Self::SelfReference { .. } => Code::SelfReference,
            Self::UnregisteredSource { .. } => Code::UnregisteredSource,
            Self::CycleDetected { .. } => Code::CycleDetected,
        }
    }

    /// The JSON pointer of the member; empty for the envelope itself.
    pub fn pointer(&self) -> &str {
        match self {
            Self::Canon(error) => error.pointer(),
            Self::DuplicateSource { pointer }
            | Self::InvalidEnvelope { pointer, .. }
            | Self::SourcesNotSorted { pointer }
            | Self::SchemaInvalid { pointer, .. }
            | Self::SelfReference { pointer }
            | Self::UnregisteredSource { pointer, .. }
            | Self::CycleDetected { pointer } => pointer,
        }
    }
}

impl From<KbError> for Failure {
    fn from(error: KbError) -> Self {
        Self::new(error.code(), error.to_string()).at(error.pointer())
    }
}
