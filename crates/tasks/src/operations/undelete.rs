//! A task whose file was removed.

use accord_base::By;
use accord_contract::{Code, Failure};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::operations::{TaskAnswer, UndeleteRequest};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::yaml::Change;
use accord_tasks_core::{Status, TaskId};
use accord_trees::wal::{Op, Wal};

use super::apply::invalid;
use crate::committed::State;
use crate::layout::OWN;
use crate::tree::failure;
use crate::view::RunFacts;
use crate::{Result, Tree};

impl Tree {
    /// Writes the file of a task again, as the log of this copy has it. The log keeps the last few
    /// megabytes of changes: of an older task, git or a backup has the file.
    pub fn undelete(&self, task: &str, request: &UndeleteRequest, by: &By) -> Result<TaskAnswer> {
        by.check_person("bring a task back")?;
        let wal: Wal<State> = Wal::new(self.shared_disk(), OWN, self.environment().boot());
        let records = wal.records().map_err(|error| failure(&error))?;
        let (task, project) = (task.trim().to_owned(), self.project().to_owned());
        let (request, by) = (request.clone(), by.clone());
        let draft = self.change(move |work| {
            let puts = records.iter().rev().flat_map(|record| record.ops.iter().rev());
            let id_of = |path: &str| {
                let name = path.strip_prefix("tasks/")?.strip_suffix(".md")?.rsplit('/').next()?;
                TaskId::parse(name).ok()
            };
            let fits = |id: TaskId| {
                let name = id.to_string();
                name == task || name.ends_with(&format!("-{task}"))
            };
            let gone = |id: TaskId| fits(id) && work.board().status(id).is_none();
            let text = puts.filter_map(|op| match op {
                Op::Put { path, text, .. } => Some((id_of(path).filter(|id| gone(*id))?, text)),
                _ => None,
            });
            let Some((id, text)) = text.into_iter().next() else {
                // One that is there needs nothing.
                let id = work.board().resolve(&task).map_err(|_| missing(&task))?;
                let file = work.read(id)?;
                return Ok(work.draft(&project, &file, work.run_facts(id)?));
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
            work.create(&file)?;
            let event = TaskEvent::new(kind::UNDELETED, by.name(), Some(id), work.now())
                .with("door", by.door.as_str());
            work.event(match request.reason.as_deref() {
                Some(reason) => event.with("reason", reason),
                None => event,
            });
            Ok(work.draft(&project, &file, RunFacts::default()))
        })?;
        Ok(TaskAnswer {
            task: draft.details(),
            moves: Vec::new(),
            changed: Vec::new(),
            notices: Vec::new(),
            warnings: Vec::new(),
        })
    }
}

fn missing(task: &str) -> Failure {
    let message = format!("the log of this copy has no file of {task}");
    let failure = Failure::new(Code::AofTaskNotFound, message).with("task_id", task);
    failure.suggesting("restore its file with git (git checkout COMMIT -- FILE) or from a backup")
}
