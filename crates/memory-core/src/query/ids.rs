//! `GET /accord/v1/ids`: the ids that begin with a text.

use accord_contract::codes::Failure;
use accord_contract::wire::{TextForm, wire_enum};

use super::{PROJECT_ID, Params, Text, Word};
use crate::ProjectId;

/// What the ids name.
pub const ID_KIND: Word<IdKind> = Word::new("kind").or(IdKind::Package);

/// The text that the ids begin with.
pub const PREFIX: Text = Text::new("prefix", TextForm::ANY.not_empty().bytes(256));

/// The maximum number of ids in an answer.
pub const MAX_IDS: usize = 10;

wire_enum! {
    /// What an id names.
    pub enum IdKind("IdKind", closed) {
        /// A package.
        Package = "package",
        /// A session.
        Session = "session",
    }
}

/// The query for ids.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IdQuery {
    /// What the ids name.
    pub kind: IdKind,
    /// The text that they begin with.
    pub prefix: String,
    /// Only those of this project.
    pub within: Option<ProjectId>,
}

impl IdQuery {
    /// Reads the parameters.
    pub fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        Ok(Self {
            kind: ID_KIND.read(params)?.unwrap_or(IdKind::Package),
            prefix: PREFIX.required(params)?.to_owned(),
            within: PROJECT_ID.read(params)?,
        })
    }
}
