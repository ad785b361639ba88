//! What this machine remembers of a tree, outside of it: the numbers that were given out. If the
//! whole folder is deleted and made again, ids and events go on, and the first event says so.
//!
//! The file is an aid, not a record: it is written after a commit without a sync, and a tree that
//! still has its log or its events does not need it.

use std::fs;
use std::path::{Path, PathBuf};

use accord_contract::Value;
use accord_tasks_core::TaskId;
use accord_trees::wal::digest;
use serde_json::json;

/// The folder below the state folder of the user.
const TREES: &str = "accord/trees";
/// The largest file that is read.
const MAX_FILE: u64 = 64 * 1024;

/// The last numbers of a tree that was in a folder.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Remembered {
    pub(crate) last_event: u64,
    /// The last ids of the days with the last tasks.
    pub(crate) ids: Vec<TaskId>,
}

impl Remembered {
    /// What is remembered of the tree of a project in a folder.
    pub(crate) fn read(state: &Path, root: &Path, project: &str) -> Option<Self> {
        let path = file(state, root);
        let is_small = fs::metadata(&path).is_ok_and(|found| found.len() <= MAX_FILE);
        let text = is_small.then(|| fs::read_to_string(&path).ok()).flatten()?;
        let document: Value = serde_json::from_str(&text).ok()?;
        if document.get("project")?.as_str()? != project {
            return None;
        }
        let ids = document.get("ids")?.as_array()?.iter();
        let ids = ids.filter_map(|id| TaskId::parse(id.as_str()?).ok()).collect();
        Some(Self { last_event: document.get("event")?.as_u64()?, ids })
    }

    /// Remembers it. A folder that cannot be written is no reason to refuse a change.
    pub(crate) fn write(&self, state: &Path, root: &Path, project: &str) {
        let ids: Vec<String> = self.ids.iter().map(ToString::to_string).collect();
        let root_text = root.display().to_string();
        let document =
            json!({"root": root_text, "project": project, "event": self.last_event, "ids": ids});
        let path = file(state, root);
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let folder = fs::create_dir_all(state.join(TREES));
        let written = folder.and_then(|()| fs::write(&new, format!("{document}\n")));
        let _ = written.and_then(|()| fs::rename(&new, &path));
    }
}

fn file(state: &Path, root: &Path) -> PathBuf {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let name = digest(root.as_os_str().as_encoded_bytes());
    state.join(TREES).join(format!("{name}.json"))
}
