//! The files of one task, wherever they are.

use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};
use accord_trees::wal::digest;
use accord_trees::{Disk, Kind, Result, read_file};

use crate::explained::Explanation;
use crate::layout::task_file;
use crate::scan::MAX_FILE;

#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) folder: Status,
    /// The digest of its content; `None` for a link, which is replaced whatever it leads to.
    pub(crate) digest: Option<String>,
    pub(crate) copy: Copy,
    /// Which copy of the tree committed it, if an event says so.
    pub(crate) explained: Option<Explanation>,
}

/// The content of a file with the name of a task.
#[derive(Debug)]
pub(crate) enum Copy {
    Task(Box<TaskFile>),
    Broken {
        why: String,
        /// The content, as far as it is text.
        text: String,
    },
}

impl Found {
    pub(crate) fn task(&self) -> Option<&TaskFile> {
        match &self.copy {
            Copy::Task(file) => Some(file),
            Copy::Broken { .. } => None,
        }
    }

    /// The content, as far as it is text.
    pub(crate) fn text(&self) -> String {
        match &self.copy {
            Copy::Task(file) => file.text(),
            Copy::Broken { text, .. } => text.clone(),
        }
    }
}

/// The files with the name of a task, in the order of statuses.
pub(crate) fn find_all(disk: &dyn Disk, id: TaskId) -> Result<Vec<Found>> {
    let found = Status::ALL.iter().map(|status| find(disk, *status, id));
    found.filter_map(Result::transpose).collect()
}

/// The file with the name of a task in one folder. A broken one must not hide the others.
pub(crate) fn find(disk: &dyn Disk, folder: Status, id: TaskId) -> Result<Option<Found>> {
    let path = task_file(folder, id);
    let Some(stat) = disk.stat(&path)? else { return Ok(None) };
    if stat.kind != Kind::File {
        let found = broken(folder, "it is not a regular file".into(), &[]);
        return Ok(Some(Found { digest: None, ..found }));
    }
    let bytes = match read_file(disk, &path, MAX_FILE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(error) if error.is_unreadable() => {
            return Ok(Some(broken(folder, error.to_string(), &[])));
        }
        Err(error) => return Err(error),
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Ok(Some(broken(folder, "the file is not UTF-8".into(), &bytes)));
    };
    Ok(Some(match TaskFile::read(text) {
        Err(error) => broken(folder, error.to_string(), &bytes),
        Ok(file) if file.task().id != id => {
            broken(folder, format!("the file says that it is {}", file.task().id), &bytes)
        }
        Ok(file) => Found {
            folder,
            digest: Some(digest(&bytes)),
            copy: Copy::Task(Box::new(file)),
            explained: None,
        },
    }))
}

fn broken(folder: Status, why: String, bytes: &[u8]) -> Found {
    let text = String::from_utf8_lossy(bytes).into_owned();
    // The reason stands for a content that cannot be read.
    let digest = if bytes.is_empty() { digest(why.as_bytes()) } else { digest(bytes) };
    let copy = Copy::Broken { why, text };
    Found { folder, digest: Some(digest), copy, explained: None }
}
