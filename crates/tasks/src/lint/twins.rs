//! Files that look like one task: two with the key of one line of a plan, which two copies of a
//! tree made, and one with the id that a merge gave it beside one with the id that it had before.

use std::collections::BTreeMap;

use accord_tasks_core::merge::former_ids;
use accord_tasks_core::task::Task;
use accord_tasks_core::{Status, TaskId};

use super::Lint;
use crate::operations::create::KEY;

#[derive(Debug, Default)]
pub(super) struct Twins {
    tasks: Vec<Known>,
}

#[derive(Clone, Debug)]
struct Known {
    id: TaskId,
    path: String,
    status: Status,
    key: Option<String>,
    former: Vec<TaskId>,
    /// When it was created, and by whom.
    origin: (String, String),
}

impl Twins {
    pub(super) fn note(&mut self, task: &Task, path: &str) {
        let key = task.metadata(KEY).and_then(|key| key.as_str()).map(str::to_owned);
        self.tasks.push(Known {
            id: task.id,
            path: path.to_owned(),
            status: task.status,
            key: key.filter(|_| task.status != Status::Cancelled),
            former: former_ids(task),
            origin: (task.created_at.to_string(), task.created_by.clone()),
        });
    }
}

impl Lint<'_> {
    /// Names tasks that are there twice.
    pub(super) fn twins(&mut self) {
        let mut tasks = std::mem::take(&mut self.twins.tasks);
        // What is finished counts before what is open, the first before the others.
        tasks.sort_by_key(|task| (!task.status.is_final(), task.id));
        let mut keys: BTreeMap<&str, TaskId> = BTreeMap::new();
        let by_id: BTreeMap<TaskId, &Known> = tasks.iter().map(|task| (task.id, task)).collect();
        for task in &tasks {
            let before = task.former.iter().filter_map(|id| by_id.get(id));
            let same = before.into_iter().find(|other| other.origin == task.origin);
            if let Some(same) = same {
                let problem = format!("it is {} with another id", same.id);
                self.warning("same_task", &task.path, problem);
                self.suggest(format!(
                    "a merge that was taken back left it: remove the file, or merge again (accord \
                     task merge); {} stays",
                    same.id
                ));
                continue;
            }
            let Some(key) = task.key.as_deref() else { continue };
            let Some(first) = keys.get(key).filter(|_| !task.status.is_final()) else {
                keys.entry(key).or_insert(task.id);
                continue;
            };
            let problem = format!("{first} has the same key ({key})");
            self.warning("duplicate_key", &task.path, problem);
            self.suggest(format!("if it is the same task: accord task cancel {}", task.id));
        }
    }
}
