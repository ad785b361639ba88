//! The outputs of a task: listed, and read.

use accord_base::By;
use accord_canon::sha256;
use accord_contract::{Code, Failure, Wire as _};
use accord_tasks_core::observed::observed;
use accord_tasks_core::operations::{OutputsAnswer, OutputsQuery, TaskChanges};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::uploads::{MOST_FILES, readable_path};
use accord_trees::{Content, Kind};

use crate::layout::{CHANGES_OF_RUN, companion};
use crate::outputs::Part;
use crate::tree::failure;
use crate::work::Work;
use crate::{Result, Tree};

/// A file of a task that is read.
pub struct TaskFileContent {
    /// Its bytes. It stays the same file when its path is replaced.
    pub content: Box<dyn Content>,
    /// How many there are.
    pub length: u64,
}

impl Tree {
    /// The files in `outputs/` of a task, or in `inputs/`.
    pub fn outputs(&self, task: &str, query: &OutputsQuery, _: &By) -> Result<OutputsAnswer> {
        let (task, wants_changes) = (task.to_owned(), query.changes);
        let of = if query.inputs { "inputs" } else { "outputs" };
        let (task_id, status, folder, changes) = self.read(move |work| {
            let id = work.resolve(&task)?;
            let file = work.read(id)?;
            let status = file.task().status;
            let folder = work.waiting(id).map_or(status, |waiting| waiting.folder);
            let changes = if wants_changes { changes(work, &file)? } else { (None, None) };
            Ok((id, status, companion(folder, id), changes))
        })?;
        // They are read beside the group: it can take a while.
        let part = Part { of, after: query.after.as_deref(), most: MOST_FILES };
        let found = part.list(self.disk(), &folder).map_err(|error| failure(&error))?;
        let (outputs, left_out, more) = found;
        let next = outputs.last().filter(|_| more > 0).map(|last| last.path.clone());
        let outputs = outputs.into_iter().map(Into::into).collect();
        let (changes, changes_said_by) = changes;
        let hidden = left_out + more;
        Ok(OutputsAnswer { task_id, status, outputs, hidden, next, changes, changes_said_by })
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

/// What the agent of the last run changed on another machine, as it was recorded.
fn changes(work: &Work<'_>, file: &TaskFile) -> Result<(Option<TaskChanges>, Option<String>)> {
    let run = work.run_facts(file.task().id)?.run;
    let observed = observed(file.task(), run.as_ref());
    let said_by = observed.as_ref().and_then(|observed| observed.said_by.clone());
    let recorded = observed.and_then(|observed| observed.changes);
    let Some(recorded) = recorded else { return Ok((None, None)) };
    let text = work.artifact_text(file.task().id, CHANGES_OF_RUN)?;
    // One that was changed since is not what was recorded.
    let text = text.filter(|text| sha256(text.as_bytes()).hex() == recorded);
    let document = text.and_then(|text| accord_canon::read(text.as_bytes()).ok());
    let changes = document.and_then(|document| TaskChanges::from_document(document).ok());
    let said_by = said_by.filter(|_| changes.is_some());
    Ok((changes, said_by))
}
