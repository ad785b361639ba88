//! Projects, which own all other rows.

use accord_base::ProjectId;
use accord_contract::Timestamp;
use accord_memory_core::project::ProjectContents;

use crate::Result;

/// The row of a project.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProjectRow {
    /// The project's id.
    pub project_id: ProjectId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
    /// Whether it was created for a conformance run. That never changes.
    pub conformance: bool,
    /// The project as a JSON document.
    pub text: String,
}

/// The last removal of a project.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Removal {
    /// The number of its event. The events of a project that is created again continue after it.
    pub event: u64,
    /// When it happened.
    pub at: Timestamp,
}

/// Which projects, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProjectQuery<'a> {
    /// Whether archived ones are included.
    pub archived: bool,
    /// Only those after this id.
    pub after: Option<&'a ProjectId>,
    /// The maximum number.
    pub limit: usize,
}

/// Reads projects.
pub trait Projects {
    /// The project of an id.
    fn project(&self, project: &ProjectId) -> Result<Option<ProjectRow>>;

    /// A page of projects, in the order of their ids' bytes.
    fn projects(&self, query: &ProjectQuery<'_>) -> Result<Vec<ProjectRow>>;

    /// The number of rows of a project; damaged ones are counted, too.
    fn contents(&self, project: &ProjectId) -> Result<ProjectContents>;

    /// The last removal of a project, also when the project exists again.
    fn removal(&self, project: &ProjectId) -> Result<Option<Removal>>;
}

/// Writes projects.
pub trait ProjectWrites {
    /// Adds a new project. Its event numbers start at 1, or after its last removal.
    fn insert_project(&mut self, row: &ProjectRow) -> Result<()>;

    /// Replaces the row of a project, except its creation time and `conformance`.
    fn update_project(&mut self, row: &ProjectRow) -> Result<()>;

    /// Deletes a project, which must exist, and all its rows. Only its id and the number of its
    /// last event stay. The removal itself gets the next number, which is returned.
    fn remove_project(&mut self, project: &ProjectId, at: &Timestamp) -> Result<u64>;
}
