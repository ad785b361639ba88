//! The outputs of a task: listed, and read.

use accord_base::By;
use accord_contract::{Code, Failure};
use accord_tasks_core::operations::OutputsAnswer;
use accord_tasks_core::uploads::{MOST_FILES, readable_path};
use accord_trees::{Content, Kind};

use crate::layout::companion;
use crate::outputs::outputs;
use crate::tree::failure;
use crate::{Result, Tree};

/// A file of a task that is read.
pub struct TaskFileContent {
    /// Its bytes. It stays the same file when its path is replaced.
    pub content: Box<dyn Content>,
    /// How many there are.
    pub length: u64,
}

impl Tree {
    /// The files in `outputs/` of a task.
    pub fn outputs(&self, task: &str, _: &By) -> Result<OutputsAnswer> {
        let task = task.to_owned();
        let (task_id, status, folder) = self.read(move |work| {
            let id = work.resolve(&task)?;
            let status = work.read(id)?.task().status;
            let folder = work.waiting(id).map_or(status, |waiting| waiting.folder);
            Ok((id, status, companion(folder, id)))
        })?;
        // They are read beside the group: it can take a while.
        let (mut found, others) = outputs(self.disk(), &folder).map_err(|error| failure(&error))?;
        let more = found.len().saturating_sub(MOST_FILES);
        found.truncate(MOST_FILES);
        let outputs = found.into_iter().map(Into::into).collect();
        Ok(OutputsAnswer { task_id, status, outputs, hidden: others.count + more as u64 })
    }

    /// Opens a file in `outputs` or `inputs` of a task. A link is no file.
    pub fn task_file(&self, task: &str, path: &str, _: &By) -> Result<TaskFileContent> {
        let (task, path) = (task.to_owned(), readable_path(path)?);
        self.read(move |work| {
            let id = work.resolve(&task)?;
            let status = work.read(id)?.task().status;
            let folder = work.waiting(id).map_or(status, |waiting| waiting.folder);
            let missing = || {
                Failure::new(Code::AofOutputNotFound, format!("{id} has no file {path}"))
                    .with("task_id", id.to_string())
                    .with("path", path.as_str())
            };
            let (disk, mut at) = (work.disk(), companion(folder, id));
            let mut names = path.split('/').peekable();
            while let Some(name) = names.next() {
                at = format!("{at}/{name}");
                let wanted = if names.peek().is_some() { Kind::Folder } else { Kind::File };
                let found = disk.stat(&at).ok().flatten();
                found.filter(|found| found.kind == wanted).ok_or_else(missing)?;
            }
            let content = disk.open(&at).map_err(|error| failure(&error))?.ok_or_else(missing)?;
            let length = content.length().map_err(|error| failure(&error))?;
            Ok(TaskFileContent { content, length })
        })
    }
}
