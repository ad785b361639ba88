//! Where things are in a tree.

use accord_contract::Time;
use accord_tasks_core::{Status, TaskId};

/// The folder of everything that only Accord uses.
pub const OWN: &str = "state/accord";

/// What keeps git from mixing two task files, which are alike.
pub const WHOLE_FILE: &str = "tasks/.gitattributes";

/// Its content.
pub const WHOLE: &str = "*.md -merge\n";

/// What a project says about itself.
pub const MANIFEST: &str = "project.yaml";

/// The settings that count only as set through Accord.
pub const SETTINGS: &str = "state/accord/settings.json";

/// Which writers this copy of the tree was; see [`crate::writers`].
pub const WRITER: &str = "state/accord/writer.json";

/// The id of the tree as a source of events, as earlier versions made it.
pub const OLD_SOURCE: &str = "state/accord/source.json";

/// The decisions of people.
pub const DECISIONS: &str = "state/accord/decisions.jsonl";

/// The folders beside a task file.
pub const COMPANIONS: [&str; 4] = ["inputs", "work", "outputs", "subtasks"];

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RunLayout {
    /// `runs/`, as in the guide.
    #[default]
    Guide,
    /// `state/runs/`, as in the reference.
    Reference,
}

impl RunLayout {
    /// The other layout, which is read too.
    pub fn other(self) -> Self {
        match self {
            Self::Guide => Self::Reference,
            Self::Reference => Self::Guide,
        }
    }

    /// The folder of a task's run.
    /// Clauses: AOF-RUN-LOCATION.
    pub fn folder(self, id: TaskId) -> String {
        match self {
            Self::Guide => format!("runs/{id}"),
            Self::Reference => format!("state/runs/{id}"),
        }
    }
}

pub fn status_folder(status: Status) -> String {
    format!("tasks/{status}")
}

/// Clauses: AOF-FILE-PLACE.
pub fn task_file(status: Status, id: TaskId) -> String {
    format!("tasks/{status}/{id}.md")
}

/// The folder beside a task file.
/// Clauses: AOF-FILE-COMPANION.
pub fn companion(status: Status, id: TaskId) -> String {
    format!("tasks/{status}/{id}")
}

/// The log of a day, by its writer.
pub fn events(at: Time, writer: &str) -> String {
    format!("events/{}.{writer}.jsonl", &at.to_string()[..10])
}
