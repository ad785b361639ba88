//! Parameters that operations of several protocols have.

use accord_base::{Door, MAX_ID_CHARS, ProjectId};
use accord_contract::TextForm;

use super::{Segment, Text, Word};
use crate::params;

/// Who acts.
pub const ACTOR: Text =
    Text::new("actor", TextForm::ANY.chars(1, MAX_ID_CHARS).without_nul().example("agent:builder"));

/// Through which door.
pub const DOOR: Word<Door> = Word::new("door");

params! {
    /// Who acts, as a request says it.
    #[derive(Default)]
    pub struct Acting {
        /// Who acts: `human:NAME`, `script:NAME`, `agent:NAME`, or the plain name of an agent.
        /// Default: the actor of the key.
        optional actor: Text = ACTOR;
        /// Which kind of client asks, for the records. `cli` counts only through the socket of
        /// the data folder.
        optional door: Word<Door> = DOOR;
    }

    /// A project.
    pub struct InProject {
        /// The project's id.
        required project: Segment<ProjectId> = Segment::new("project_id");
    }
}
