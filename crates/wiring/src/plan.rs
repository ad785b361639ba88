//! A plan: the new bytes of files, before any of them is written.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::{Code, Failure};
use similar::TextDiff;

use crate::ledger::Ledger;

/// The files as they are. Paths are relative to the project, or absolute.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Snapshot {
    /// The bytes of the files that exist.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Where symbolic links lead: to a path of the same form; none for one that leads out of the
    /// project.
    pub links: BTreeMap<String, Option<String>>,
    /// The folders above the files that exist.
    pub folders: BTreeSet<String>,
    /// The bytes from before, by their digest.
    pub priors: BTreeMap<String, Vec<u8>>,
}

/// The new bytes of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    pub path: String,
    pub before: Option<Vec<u8>>,
    /// None: the file goes.
    pub after: Option<Vec<u8>>,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub changes: Vec<Change>,
    /// What was found and is kept, in sentences.
    pub kept: Vec<String>,
    /// What a person should know, in sentences.
    pub notes: Vec<String>,
    /// The files with entries of Accord, after the plan.
    pub wired: Vec<String>,
    /// The folders to make, the outermost first.
    pub new_folders: Vec<String>,
    /// The folders to remove if they are empty, the innermost first.
    pub old_folders: Vec<String>,
    /// The bytes to keep, by their digest.
    pub priors: BTreeMap<String, Vec<u8>>,
    /// The ledger after it.
    pub ledger: Ledger,
}

impl Snapshot {
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The path of the file behind symbolic links.
    pub(crate) fn real(&self, path: &str) -> Result<String, Failure> {
        match self.links.get(path) {
            None => Ok(path.to_owned()),
            Some(Some(real)) => Ok(real.clone()),
            Some(None) => {
                let message = format!("{path} is a link that leads out of the project");
                Err(Failure::new(Code::WiringOutside, message))
            }
        }
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(path)?).ok()
    }
}

impl Plan {
    /// Whether nothing is to be written.
    pub fn is_done(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes as a unified diff.
    pub fn diff(&self) -> String {
        let mut diff = String::new();
        for change in &self.changes {
            let text = |bytes: &Option<Vec<u8>>| {
                String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
            };
            let (before, after) = (text(&change.before), text(&change.after));
            let named = |side: &str, bytes: &Option<Vec<u8>>| match bytes {
                Some(_) => format!("{side}/{}", change.path.trim_start_matches('/')),
                None => "/dev/null".to_owned(),
            };
            let (old, new) = (named("a", &change.before), named("b", &change.after));
            let lines = TextDiff::from_lines(&before, &after);
            let mut unified = lines.unified_diff();
            unified.context_radius(3).header(&old, &new);
            diff.push_str(&unified.to_string());
        }
        diff
    }
}

/// The folders above a path, the outermost first.
pub fn folders_of(path: &str) -> Vec<String> {
    let ends = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
    ends.map(|at| path[..at].to_owned()).collect()
}
