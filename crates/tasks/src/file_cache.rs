//! Task files that were committed lately, so that their texts need not be parsed again.
//!
//! Invariants:
//! - the disk decides: a file counts only if it has the same text as the one on the disk, and the
//!   same front matter as the committed state;
//! - the cache has a limit, whatever the number of tasks.

use std::collections::HashMap;

use accord_tasks_core::TaskId;
use accord_tasks_core::task::TaskFile;

/// The most files of a half.
const HALF: usize = 1_024;

#[derive(Debug, Default)]
pub(crate) struct FileCache {
    young: HashMap<TaskId, Cached>,
    /// Those before them. They go when the first half is full again.
    old: HashMap<TaskId, Cached>,
}

#[derive(Debug)]
struct Cached {
    file: TaskFile,
    front: String,
}

impl FileCache {
    /// The file of a task with this text, if the digest of its front matter is this one.
    pub(crate) fn get(&self, id: TaskId, text: &str, front: &str) -> Option<&TaskFile> {
        let cached = self.young.get(&id).or_else(|| self.old.get(&id))?;
        (cached.front == front && cached.file.is_text(text)).then_some(&cached.file)
    }

    /// Takes note of a file. `front` is the digest of its front matter.
    pub(crate) fn put(&mut self, file: &TaskFile, front: &str) {
        if self.young.len() >= HALF {
            self.old = std::mem::take(&mut self.young);
        }
        let cached = Cached { file: file.clone(), front: front.to_owned() };
        self.young.insert(file.task().id, cached);
    }

    pub(crate) fn remove(&mut self, id: TaskId) {
        self.young.remove(&id);
        self.old.remove(&id);
    }
}
