//! Where things are in a tree.

use std::path::{Component, Path};

use accord_contract::Time;
use accord_tasks_core::{Status, TaskId};

/// The folder of everything that only Accord uses.
pub const OWN: &str = "state/accord";

/// What keeps git from mixing two task files, which are alike.
pub const WHOLE_FILE: &str = "tasks/.gitattributes";

/// Its content.
pub const WHOLE: &str = "*.md -merge\n*/*/outputs/** -text\n";

/// What earlier versions wrote there.
pub const OLD_WHOLE: &str = "*.md -merge\n";

/// What an agent changed on another machine, in the folder of its run.
pub const CHANGES_OF_RUN: &str = "changes.json";

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

/// What Accord itself writes in a tree.
pub const BOOKKEEPING: [&str; 4] = ["events/", "runs/", "state/", "tasks/"];

/// The path of a folder as seen from the root of a tree, so that it says the same in every copy of
/// it. A folder that is not above or below the root keeps its path.
pub fn from_root(root: &Path, folder: &str) -> String {
    let path = Path::new(folder);
    if let Ok(below) = path.strip_prefix(root) {
        return match below.to_str() {
            Some("") => ".".to_owned(),
            below => below.unwrap_or(folder).to_owned(),
        };
    }
    match root.strip_prefix(path) {
        Ok(above) => vec![".."; above.components().count()].join("/"),
        Err(_) => folder.to_owned(),
    }
}

/// The folder that [`from_root`] named.
pub fn of_root(root: &Path, folder: &str) -> String {
    let path = Path::new(folder);
    if path.is_absolute() {
        return folder.to_owned();
    }
    let mut found = root.to_owned();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(found.pop()),
            Component::Normal(name) => found.push(name),
            _ => {}
        }
    }
    found.display().to_string()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_says_the_same_in_every_copy() {
        let (root, other) = (Path::new("/home/ann/repo/tree"), Path::new("/srv/repo/tree"));
        for (folder, said, there) in [
            ("/home/ann/repo/tree", ".", "/srv/repo/tree"),
            ("/home/ann/repo/tree/src/a", "src/a", "/srv/repo/tree/src/a"),
            ("/home/ann/repo", "..", "/srv/repo"),
            ("/home/ann/other", "/home/ann/other", "/home/ann/other"),
            ("/", "../../../..", "/"),
        ] {
            assert_eq!(from_root(root, folder), said);
            assert_eq!(of_root(root, said), folder);
            assert_eq!(of_root(other, said), there);
        }
    }
}
