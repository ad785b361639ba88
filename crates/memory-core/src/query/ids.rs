//! `GET /accord/v1/ids`: the ids that begin with a text.

use accord_api::params;
use accord_contract::{TextForm, wire_enum};

use super::{Id, PROJECT_ID, Text, Word};
use crate::ProjectId;

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

params! {
    /// The query for ids.
    pub struct IdQuery {
        /// The beginning of the ids.
        required prefix: Text = Text::new("prefix", TextForm::ANY.not_empty().bytes(256));
        /// What they name.
        optional kind: Word<IdKind> = Word::new("kind").or(IdKind::Package);
        /// Only those of this project.
        optional within: Id<ProjectId> = PROJECT_ID;
    }
}
