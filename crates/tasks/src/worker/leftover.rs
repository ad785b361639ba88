//! Agents that outlived their worker: what the next process needs to end them.
//!
//! While an agent runs, a file names its process, its run and the process that watches it. A worker
//! that is killed leaves the file. The next host ends the agent and then its run: with the report
//! that the agent left, else the task is ready again. Without a host, the next worker on the task
//! ends it.
//!
//! Invariants:
//! - a worker whose process still runs is left alone;
//! - a process is ended only if it started when the file says, and, on Linux, if its environment
//!   names the run. A worker may be able to write the file, and could name another process.

use std::sync::Arc;

use accord_contract::text::pretty;
use accord_contract::{Object, Value};
use accord_process::RunningProcess;
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::AgentExit;
use accord_trees::lock::{process_start, still_runs};
use accord_trees::{Disk, atomic, read_file};
use serde_json::json;

use super::{AgentRun, RunOperations, WorkEnd, Worker};
use crate::Result;
use crate::layout::OWN;
use crate::report::RunOfAgent;
use crate::scan::readable;
use crate::tree::failure;

const MAX_BYTES: u64 = 64 * 1024;
/// The variable of an agent that names its run.
const RUN_ID: &str = "ACCORD_TASK_RUN_ID";

/// The file about a running agent. It is removed when this value is dropped.
pub(super) struct Record {
    disk: Arc<dyn Disk>,
    path: String,
}

impl Record {
    /// Writes the file. Without it the lease ends with its heartbeat.
    pub(super) fn write(agent: &AgentRun<'_>, pid: u32) -> Option<Self> {
        let (own, run) = (std::process::id(), &agent.run);
        let record = json!({
            "taskId": run.task.to_string(),
            "runId": run.run_id,
            "pid": pid,
            "startedMs": process_start(pid.into())?,
            "worker": {"pid": own, "startedMs": process_start(own.into())?},
        });
        let Value::Object(record) = record else { return None };
        let path = format!("{}/{}.json", folder(), run.task);
        let disk = Arc::clone(&agent.disk);
        atomic::make_folders(disk.as_ref(), &folder()).ok()?;
        atomic::write(disk.as_ref(), &path, pretty(&record).as_bytes()).ok()?;
        Some(Self { disk, path })
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // A file that stays names a run that is over, and is removed by the next host.
        drop(self.disk.remove_file(&self.path));
    }
}

/// Ends the agents of workers that were killed, and their runs. Returns how each ended.
pub fn end_leftovers(worker: &Worker) -> Result<Vec<(TaskId, WorkEnd)>> {
    let disk = worker.tree.shared_disk();
    let mut ended = Vec::new();
    for entry in disk.list(&folder()).map_err(|error| failure(&error))?.unwrap_or_default() {
        let path = format!("{}/{}", folder(), entry.name);
        // What is no file of Accord's must not keep the others.
        let bytes = readable(read_file(disk.as_ref(), &path, MAX_BYTES));
        let bytes = bytes.map_err(|error| failure(&error))?;
        let record = bytes.and_then(|bytes| accord_canon::read(&bytes).ok());
        let Some(Value::Object(record)) = record else { continue };
        if !end_agent(&record) {
            continue;
        }
        if let Some(end) = conclude(worker, &record)? {
            ended.push(end);
        }
        disk.remove_file(&path).map_err(|error| failure(&error))?;
    }
    Ok(ended)
}

/// Ends the agent of an earlier run of a task, if its worker was killed.
pub(super) fn end_earlier(disk: &dyn Disk, id: TaskId) -> Result<()> {
    let path = format!("{}/{id}.json", folder());
    let bytes = readable(read_file(disk, &path, MAX_BYTES));
    let bytes = bytes.map_err(|error| failure(&error))?;
    let record = bytes.and_then(|bytes| accord_canon::read(&bytes).ok());
    if let Some(Value::Object(record)) = record
        && end_agent(&record)
    {
        disk.remove_file(&path).map_err(|error| failure(&error))?;
    }
    Ok(())
}

/// Ends the agent that a record names. False if its worker still runs: then nothing was done.
fn end_agent(record: &Object) -> bool {
    if record.get("worker").and_then(Value::as_object).is_some_and(runs) {
        return false;
    }
    if runs(record)
        && let Some(pid) = record.get("pid").and_then(Value::as_u64)
        && is_of_run(pid, record.get("runId").and_then(Value::as_str))
    {
        accord_process::end_group(u32::try_from(pid).unwrap_or(0));
    }
    true
}

fn conclude(worker: &Worker, record: &Object) -> Result<Option<(TaskId, WorkEnd)>> {
    let text = |name: &str| record.get(name).and_then(Value::as_str);
    let (Some(id), Some(run_id)) = (text("taskId"), text("runId")) else { return Ok(None) };
    let Ok(id) = TaskId::parse(id) else { return Ok(None) };
    let Some(claimed) = worker.tree.claimed_in(id, run_id)? else { return Ok(None) };
    let request = RunOfAgent::of(&claimed).ended(AgentExit::WorkerKilled, None);
    let ended = RunOperations::end_run(&worker.tree, id, &request)?;
    Ok(Some((id, ended.into())))
}

/// Whether the environment of a process names a run. Other systems than Linux do not show it.
fn is_of_run(pid: u64, run_id: Option<&str>) -> bool {
    let found = RunningProcess::find(pid).and_then(|found| found.ancestors(&[RUN_ID]));
    let own = found.and_then(|found| found.processes.into_iter().find(|it| it.pid == pid));
    let named = own
        .is_some_and(|own| own.variables.iter().any(|(_, value)| Some(value.as_str()) == run_id));
    named || cfg!(not(target_os = "linux"))
}

/// Whether the process that a document names still runs.
fn runs(document: &Object) -> bool {
    let pid = document.get("pid").and_then(Value::as_u64);
    let started = document.get("startedMs").and_then(Value::as_i64);
    pid.zip(started).is_some_and(|(pid, started)| still_runs(pid, started))
}

fn folder() -> String {
    format!("{OWN}/workers")
}
