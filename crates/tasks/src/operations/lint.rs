//! Whether the files of a tree are what they should be. It takes no lock and writes nothing.

use std::collections::BTreeMap;

use accord_contract::codes::Failure;
use accord_contract::wire::{Object, Value, Wire};
use accord_tasks_core::run::{Heartbeat, Run, RunResult};
use accord_tasks_core::{By, Status, TaskId};
use accord_trees::record::RecordLines;
use accord_trees::{Disk, read_file};

use crate::Tree;
use crate::answers::{LintAnswer, LintFinding};
use crate::layout::{COMPANIONS, MANIFEST, RunLayout, companion, status_folder};
use crate::manifest::read_manifest;
use crate::requests::LintRequest;
use crate::scan::{MAX_FILE, read_task};
use crate::tree::failure;

impl Tree {
    /// Checks every file of the tree.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn lint(&self, request: &LintRequest, _: &By) -> Result<LintAnswer, Failure> {
        let mut lint =
            Lint { disk: self.disk(), findings: Vec::new(), seen: BTreeMap::new(), events: 0 };
        lint.manifest()
            .and_then(|()| lint.tasks())
            .and_then(|()| lint.events())
            .map_err(|error| failure(&error))?;
        let limit = request.limit.and_then(|limit| usize::try_from(limit).ok());
        let all = lint.findings.len();
        lint.findings.truncate(limit.unwrap_or(usize::MAX));
        Ok(LintAnswer {
            clean: all == 0,
            tasks: lint.seen.len() as u64,
            events: lint.events,
            hidden: (all - lint.findings.len()) as u64,
            findings: lint.findings,
        })
    }
}

struct Lint<'d> {
    disk: &'d dyn Disk,
    findings: Vec<LintFinding>,
    seen: BTreeMap<TaskId, String>,
    events: u64,
}

impl Lint<'_> {
    fn find(&mut self, path: &str, problem: impl Into<String>) {
        // The id of the task is a part of every path that belongs to one.
        let task_id = path
            .split('/')
            .find_map(|name| TaskId::parse(name.strip_suffix(".md").unwrap_or(name)).ok());
        self.findings.push(LintFinding {
            path: path.to_owned(),
            problem: problem.into(),
            task_id,
            suggestion: None,
        });
    }

    fn manifest(&mut self) -> accord_trees::Result<()> {
        let Some(bytes) = read_file(self.disk, MANIFEST, MAX_FILE)? else { return Ok(()) };
        let text = String::from_utf8_lossy(&bytes);
        if let Err(failure) = read_manifest(&text) {
            self.find(MANIFEST, failure.message);
        }
        Ok(())
    }

    fn tasks(&mut self) -> accord_trees::Result<()> {
        for &status in Status::ALL {
            let folder = status_folder(status);
            for entry in self.disk.list(&folder)?.unwrap_or_default() {
                let path = format!("{folder}/{}", entry.name);
                match entry.name.strip_suffix(".md") {
                    Some(name) => match TaskId::parse(name) {
                        Ok(id) => self.task(&path, id, status)?,
                        Err(_) => self.find(&path, "the name is not the id of a task"),
                    },
                    None => self.companion(&path, &entry.name, &folder)?,
                }
            }
        }
        Ok(())
    }

    fn task(&mut self, path: &str, id: TaskId, status: Status) -> accord_trees::Result<()> {
        if let Some(other) = self.seen.insert(id, path.to_owned()) {
            self.find(path, format!("the task is also at {other}"));
        }
        let file = match read_task(self.disk, path)? {
            None => return Ok(()),
            Some(Err(why)) => {
                self.find(path, why);
                return Ok(());
            }
            Some(Ok(file)) => file,
        };
        let task = file.task();
        if task.id != id {
            self.find(path, format!("the file says that it is {}", task.id));
        }
        if task.status != status {
            self.find(path, format!("the file says that the task is {}", task.status));
        }
        if task.lease.value().is_some() != task.status.is_leased() {
            self.find(path, "a task has a lease exactly while it is in progress");
        }
        for folder in COMPANIONS {
            let folder = format!("{}/{folder}", companion(status, id));
            if self.disk.list(&folder)?.is_none() {
                self.find(&folder, "the folder is missing");
            }
        }
        self.run(id)
    }

    fn run(&mut self, id: TaskId) -> accord_trees::Result<()> {
        for layout in [RunLayout::Guide, RunLayout::Reference] {
            let folder = layout.folder(id);
            self.artifact::<Run>(&format!("{folder}/run.json"))?;
            self.artifact::<Heartbeat>(&format!("{folder}/run_heartbeat.json"))?;
            self.artifact::<RunResult>(&format!("{folder}/run_result.json"))?;
        }
        Ok(())
    }

    fn artifact<T: Wire>(&mut self, path: &str) -> accord_trees::Result<()> {
        let Some(bytes) = read_file(self.disk, path, MAX_FILE)? else { return Ok(()) };
        let read = accord_canon::read(&bytes).map_err(|error| error.to_string());
        let read = read.and_then(|read| T::from_document(read).map_err(|error| error.to_string()));
        if let Err(why) = read {
            self.find(path, why);
        }
        Ok(())
    }

    /// A folder beside a task file must have its file.
    fn companion(&mut self, path: &str, name: &str, folder: &str) -> accord_trees::Result<()> {
        let Ok(id) = TaskId::parse(name) else { return Ok(()) };
        if self.disk.stat(&format!("{folder}/{id}.md"))?.is_none() {
            self.find(path, "the folder has no task file beside it");
        }
        Ok(())
    }

    fn events(&mut self) -> accord_trees::Result<()> {
        let mut last = 0;
        for entry in self.disk.list("events")?.unwrap_or_default() {
            if !entry.name.ends_with(".jsonl") || entry.name == "events.jsonl" {
                continue;
            }
            let path = format!("events/{}", entry.name);
            let mut lines = RecordLines::open(self.disk, &path, 0, 0)?;
            for line in &mut lines {
                match line {
                    Ok(line) => last = self.event(&path, &line.object, last),
                    Err(error) => self.find(&path, error.to_string()),
                }
            }
            if lines.is_torn() {
                self.find(&path, "the last line is cut off");
            }
        }
        Ok(())
    }

    fn event(&mut self, path: &str, line: &Object, last: u64) -> u64 {
        self.events += 1;
        let number = line.get("eventId").and_then(Value::as_u64).unwrap_or(0);
        if number != last + 1 {
            self.find(path, format!("event {number} follows event {last}"));
        }
        number
    }
}
