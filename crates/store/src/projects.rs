//! Projects, which own all other rows.

use accord_base::ProjectId;
use accord_contract::time::Timestamp;

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
    /// The project as a JSON document.
    pub text: String,
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
}

/// Writes projects.
pub trait ProjectWrites {
    /// Adds a project. Its event numbers start at 1.
    ///
    /// # Errors
    /// With a conflict when a project has that id.
    fn insert_project(&mut self, row: &ProjectRow) -> Result<()>;

    /// Replaces the row of a project, except its creation time.
    ///
    /// # Errors
    /// With a conflict when the project does not exist.
    fn update_project(&mut self, row: &ProjectRow) -> Result<()>;
}
