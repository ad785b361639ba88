//! Projects: the scope of everything else that is kept.

use accord_base::ProjectId;
use accord_contract::time::Timestamp;

use crate::Result;

/// A project as it is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProjectRow {
    /// The project's id.
    pub project_id: ProjectId,
    /// When it was created.
    pub created_at: Timestamp,
    /// Since when it is archived.
    pub archived_at: Option<Timestamp>,
    /// The project as a JSON document.
    pub text: String,
}

/// Which projects, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProjectQuery<'a> {
    /// Whether archived ones are among them.
    pub archived: bool,
    /// Only those behind that one.
    pub after: Option<&'a ProjectId>,
    /// At most so many.
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
    /// Adds a project. Its stream of events begins at 1.
    ///
    /// # Errors
    /// With a conflict when there is one of that id.
    fn insert_project(&mut self, row: &ProjectRow) -> Result<()>;

    /// Replaces what is kept of a project. When it was created stays.
    ///
    /// # Errors
    /// With a conflict when there is none of that id.
    fn update_project(&mut self, row: &ProjectRow) -> Result<()>;
}
