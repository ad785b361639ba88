//! The folder of a run on this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use accord_contract::text::pretty;
use accord_contract::{Code, Failure, Object, Value, Wire as _};
use accord_tasks_core::message::PREFIX;
use accord_tasks_core::operations::{EndRunRequest, HeartbeatRequest};
use accord_tasks_core::{Status, TaskId};
use accord_trees::{Disk, Root, atomic, read_file};
use parking_lot::Mutex;
use serde_json::json;

use super::intent::{folder_of, runs, this_worker};
use crate::Result;
use crate::layout::{COMPANIONS, companion};
use crate::report::{self, REPORT};
use crate::tree::failure;

/// What is known about the run, and about its worker.
pub(super) const RUN: &str = "run.json";
/// How the agent ended.
pub(super) const END: &str = "end.json";
/// A report that the hub has not answered yet.
const UNSENT: &str = "unsent.json";
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The folder of a run, laid out as the tree of its task is.
#[derive(Clone)]
pub struct RemoteFolder {
    disk: Arc<Root>,
    root: PathBuf,
    run: RunFile,
    /// Until when the run holds its task for sure, if that is known.
    held_until: Arc<Mutex<Option<Instant>>>,
}

#[derive(Clone)]
struct RunFile {
    task: TaskId,
    agent: String,
    run_id: String,
}

/// A run whose worker was killed.
pub struct LeftRun {
    pub folder: RemoteFolder,
    pub task: TaskId,
    pub agent: String,
    pub run_id: String,
    /// How the agent ended, if it had ended.
    pub end: Option<EndRunRequest>,
}

impl RemoteFolder {
    /// Makes the folder of a run that was claimed.
    pub fn make(above: &Path, task: TaskId, agent: &str, run_id: &str) -> Result<Self> {
        let (agent, run_id) = (agent.to_owned(), run_id.to_owned());
        let root = above.join(folder_of(&run_id));
        std::fs::create_dir_all(&root).map_err(|error| unwritable(&root, &error))?;
        let made = Self::open(&root, RunFile { task, agent, run_id })?;
        for folder in COMPANIONS {
            made.make_folders(&format!("{}/{folder}", made.companion()))?;
        }
        let known = json!({
            "taskId": task.to_string(),
            "agent": made.run.agent,
            "runId": made.run.run_id,
            "worker": this_worker(),
        });
        made.write(RUN, known)?;
        Ok(made)
    }

    fn open(root: &Path, run: RunFile) -> Result<Self> {
        let root = root.canonicalize().map_err(|error| unwritable(root, &error))?;
        let disk = Root::open(&root).map_err(|error| failure(&error))?;
        Ok(Self { disk: Arc::new(disk), root, run, held_until: Arc::default() })
    }

    /// Until when the run holds its task for sure, if that is known. After that the hub alone
    /// knows it.
    pub fn held_until(&self) -> Option<Instant> {
        *self.held_until.lock()
    }

    /// Whether the hub can have given the task to another run.
    pub fn may_be_lost(&self) -> bool {
        self.held_until().is_some_and(|until| Instant::now() >= until)
    }

    pub(super) fn hold_until(&self, until: Option<Instant>) {
        *self.held_until.lock() = until;
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn task(&self) -> TaskId {
        self.run.task
    }

    pub(super) fn agent(&self) -> &str {
        &self.run.agent
    }

    pub(super) fn run_id(&self) -> &str {
        &self.run.run_id
    }

    pub(super) fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    /// The folder of the task, within the root.
    pub fn companion(&self) -> String {
        companion(Status::InProgress, self.run.task)
    }

    pub(super) fn heartbeat(&self) -> HeartbeatRequest {
        HeartbeatRequest {
            agent: Some(self.run.agent.clone()),
            run_id: Some(self.run.run_id.clone()),
            ..HeartbeatRequest::default()
        }
    }

    pub(super) fn make_folders(&self, path: &str) -> Result<()> {
        atomic::make_folders(self.disk(), path).map_err(|error| failure(&error))
    }

    /// Notes how the agent ended, before the hub is told.
    pub(super) fn remember(&self, end: &EndRunRequest) -> Result<()> {
        self.write(END, end.encode())
    }

    /// Keeps a report while it is sent. If the hub does not answer, it is sent again when the agent
    /// ends, as if the agent had left it in a file.
    pub fn keep_report(&self, text: &str) -> Result<()> {
        let text = text.trim();
        let json = text.strip_prefix(PREFIX).unwrap_or(text).trim();
        match accord_canon::read(json.as_bytes()) {
            Ok(report @ Value::Object(_)) if report.get("protocol").is_some() => {
                self.write(UNSENT, report)
            }
            // Another program put it into an event of its own.
            _ => Ok(()),
        }
    }

    /// The hub answered: it has the report, or refused it.
    pub fn drop_report(&self) {
        // One that stays belongs to a run that has reported, and is refused.
        drop(self.disk.remove_file(UNSENT));
    }

    /// Leaves a report that the hub has not answered where the agent could have left it.
    pub(super) fn leave_report(&self) -> Result<()> {
        let place = format!("{}/{REPORT}", self.companion());
        let of = |error| failure(&error);
        if self.disk.stat(UNSENT).map_err(of)?.is_some() && !has_report(self) {
            self.make_folders(accord_trees::parent(&place))?;
            self.disk.move_to(UNSENT, &place).map_err(of)?;
        }
        Ok(())
    }

    fn write(&self, name: &str, document: Value) -> Result<()> {
        let Value::Object(document) = document else { return Ok(()) };
        let text = pretty(&document);
        atomic::write(self.disk(), name, text.as_bytes()).map_err(|error| failure(&error))
    }

    /// Removes the folder, whose run is over.
    pub fn remove(self) -> Result<()> {
        std::fs::remove_dir_all(&self.root).map_err(|error| unwritable(&self.root, &error))
    }
}

/// The runs in a folder whose workers were killed.
pub fn left_runs(above: &Path) -> Vec<LeftRun> {
    let entries = std::fs::read_dir(above).into_iter().flatten().flatten();
    entries.filter_map(|entry| left(&entry.path())).collect()
}

fn left(root: &Path) -> Option<LeftRun> {
    let disk = Root::open(root).ok()?;
    let known = document(&disk, RUN)?;
    let text = |name: &str| known.get(name).and_then(Value::as_str).map(str::to_owned);
    // One that runs goes on by itself.
    if known.get("worker").is_none_or(runs) {
        return None;
    }
    let task = TaskId::parse(&text("taskId")?).ok()?;
    let (agent, run_id) = (text("agent")?, text("runId")?);
    let end = document(&disk, END);
    // One that was told to the hub and answered is kept for people.
    if end.as_ref().is_some_and(is_told) {
        return None;
    }
    let end = end.and_then(|end| EndRunRequest::from_document(Value::Object(end)).ok());
    let run = RunFile { task, agent: agent.clone(), run_id: run_id.clone() };
    let folder = RemoteFolder::open(root, run).ok()?;
    Some(LeftRun { folder, task, agent, run_id, end })
}

/// The member of [`END`] that says that the hub knows it.
const TOLD: &str = "told";

impl RemoteFolder {
    /// Keeps the folder, for people: its run is over, and its files are not in the tree.
    pub fn keep(self) -> Result<PathBuf> {
        self.write(END, json!({TOLD: true}))?;
        Ok(self.root)
    }
}

/// Whether the hub knows how a run ended.
pub(super) fn is_told(end: &Object) -> bool {
    end.contains_key(TOLD)
}

pub(super) fn document(disk: &dyn Disk, name: &str) -> Option<Object> {
    let bytes = read_file(disk, name, MAX_BYTES).ok()??;
    match accord_canon::read(&bytes).ok()? {
        Value::Object(document) => Some(document),
        _ => None,
    }
}

/// Whether the agent left a report.
pub(super) fn has_report(folder: &RemoteFolder) -> bool {
    report::read(folder.disk(), folder.task()).is_some()
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{} cannot be written: {error}", path.display());
    Failure::new(Code::AofTaskTreeUnavailable, message)
}
