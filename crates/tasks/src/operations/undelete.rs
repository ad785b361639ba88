//! A task whose file was removed or damaged.

use accord_base::By;
use accord_contract::{Code, Failure};
use accord_tasks_core::board::number;
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::operations::{TaskAnswer, UndeleteRequest};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::yaml::Change;
use accord_tasks_core::{Status, TaskId};
use accord_trees::wal::{ANYTHING, Op, Wal};

use super::apply::invalid;
use crate::committed::{LeaseOrigin, State};
use crate::layout::{OWN, task_file};
use crate::referee::copies::find_all;
use crate::referee::verdict::UNMERGED;
use crate::tree::failure;
use crate::view::RunFacts;
use crate::work::Work;
use crate::{Result, Tree};

impl Tree {
    /// Writes the file of a task again that was removed or damaged, as the log of this copy has it.
    /// The log keeps the last few megabytes of changes: of an older task, git or a backup has the
    /// file.
    pub fn undelete(&self, task: &str, request: &UndeleteRequest, by: &By) -> Result<TaskAnswer> {
        by.check_person("bring a task back")?;
        let wal: Wal<State> = Wal::new(self.shared_disk(), OWN, self.environment().boot());
        let records = wal.records().map_err(|error| failure(&error))?;
        let (task, project) = (task.trim().to_owned(), self.project().to_owned());
        let (request, by) = (request.clone(), by.clone());
        let (draft, is_back) = self.change(move |work| {
            if let Ok(id) = work.board().resolve(&task)
                && work.peek(id).is_err()
            {
                work.settle(id)?;
            }
            let puts = records.iter().rev().flat_map(|record| record.ops.iter().rev());
            let id_of = |path: &str| {
                let name = path.strip_prefix("tasks/")?.strip_suffix(".md")?.rsplit('/').next()?;
                TaskId::parse(name).ok()
            };
            let fits = |id: TaskId| {
                let name = id.to_string();
                let end = number(&task).unwrap_or_else(|| task.clone());
                name == task || name.ends_with(&format!("-{end}"))
            };
            // A task whose file was damaged comes back, too. Two versions of one are for a merge.
            let is_lost = |id: TaskId| {
                work.board().status(id).is_none()
                    || work.damage(id).is_some_and(|why| why != UNMERGED)
            };
            let gone = |id: TaskId| fits(id) && is_lost(id);
            let text = puts.filter_map(|op| match op {
                Op::Put { path, text, .. } => Some((id_of(path).filter(|id| gone(*id))?, text)),
                _ => None,
            });
            let Some((id, text)) = text.into_iter().next() else {
                // One that is there needs nothing.
                let id = work.board().resolve(&task).map_err(|_| missing(&task))?;
                let file = work.read(id)?;
                return Ok((work.draft(&project, &file, work.run_facts(id)?), false));
            };
            let mut file = TaskFile::read(text).map_err(|why| invalid(&why.to_string()))?;
            let now = work.now().to_string();
            let mut changes = vec![Change::set(&["updatedAt"], now.as_str())];
            if file.task().status == Status::InProgress {
                // Its run ended with its file.
                changes.push(Change::set(&["status"], Status::Ready.as_str()));
                changes.push(Change::set(&["lastTransitionAt"], now.as_str()));
            }
            if file.task().lease.value().is_some() {
                changes.push(Change::remove(&["lease"]));
            }
            file.edit(&changes).map_err(|error| invalid(&error.to_string()))?;
            put_back(work, &file)?;
            let event = TaskEvent::new(kind::UNDELETED, by.name(), Some(id), work.now())
                .with("door", by.door.as_str());
            work.event(match request.reason.as_deref() {
                Some(reason) => event.with("reason", reason),
                None => event,
            });
            Ok((work.draft(&project, &file, RunFacts::default()), true))
        })?;
        Ok(TaskAnswer {
            task: draft.details(),
            moves: Vec::new(),
            changed: if is_back { vec!["file".to_owned()] } else { Vec::new() },
            notices: Vec::new(),
            warnings: Vec::new(),
        })
    }
}

/// Writes the file of a task. One that cannot be read goes to the texts that do not count.
fn put_back(work: &mut Work<'_>, file: &TaskFile) -> Result<()> {
    let (id, to) = (file.task().id, file.task().status);
    let found = find_all(work.disk(), id).map_err(|error| failure(&error))?;
    if found.is_empty() {
        return work.create(file);
    }
    let mut was = None;
    for one in found {
        if one.folder == to {
            work.put(&work.away(id, to), one.text())?;
            was = Some(one.digest.unwrap_or_else(|| ANYTHING.to_owned()));
        } else {
            work.move_away(id, one.folder);
        }
    }
    work.verdicts.borrow_mut().remove(&id);
    for &status in Status::ALL {
        work.forget_broken(&task_file(status, id));
    }
    work.make_companion(id, to);
    work.stage(task_file(to, id), file.text(), was);
    work.hold(file, LeaseOrigin::None)
}

fn missing(task: &str) -> Failure {
    let message = format!("the log of this copy has no file of {task}");
    let failure = Failure::new(Code::AofTaskNotFound, message).with("task_id", task);
    failure.suggesting("restore its file with git (git checkout COMMIT -- FILE) or from a backup")
}
