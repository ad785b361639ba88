//! What workers upload that do not have the files of the tree.
//!
//! The files of a run are staged in a folder of its own, beside the log: `parts` has those that are
//! not complete, `outputs` those that are, `done` which version of each that is. The commit that
//! records the report of the run puts `outputs` in the place of the one of its task.
//!
//! Invariants:
//! - only the run that holds a task writes there, and nothing after its report;
//! - what is in `outputs` has its digest and is synced;
//! - the folder of a run that does not hold its task is removed.

use accord_canon::sha256;
use accord_contract::{Code, Failure, Wire as _};
use accord_tasks_core::run::{Run, RunResult};
use accord_tasks_core::{Status, TaskId, lease};
use accord_trees::Kind;
use accord_trees::wal::Op;

use crate::Result;
use crate::layout::{OWN, companion};
use crate::work::Work;

/// The folder of what is staged for a task.
fn of_task(id: TaskId) -> String {
    format!("{}/{id}", root())
}

fn root() -> String {
    format!("{OWN}/staged")
}

/// The folder of what a run uploaded.
pub(crate) fn of_run(id: TaskId, run: &str) -> String {
    format!("{}/{}", of_task(id), folder_name(run))
}

/// The name of the folder of a run. Another tool may have given it an id that is no name of one.
fn folder_name(run: &str) -> String {
    let is_name = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-');
    match run {
        run if (1..=100).contains(&run.len()) && run.bytes().all(is_name) => run.to_owned(),
        run => sha256(run.as_bytes()).hex(),
    }
}

impl Work<'_> {
    /// The folder for what a run uploads, if the run holds its task and has not reported.
    pub(crate) fn staging(&self, id: TaskId, agent: &str, run_id: &str) -> Result<String> {
        let file = self.task(id)?;
        let known: Option<Run> = self.artifact(id, "run.json")?;
        lease::check_holder(file.task(), known.as_ref(), agent, Some(run_id), self.now())?;
        let result: Option<RunResult> = self.artifact(id, "run_result.json")?;
        if result.is_some_and(|result| result.run_id.as_deref() == Some(run_id)) {
            let message = format!("the run {run_id} of {id} has reported");
            return Err(Failure::new(Code::AofRunReported, message)
                .with("task_id", id.to_string())
                .with("runId", run_id));
        }
        Ok(of_run(id, run_id))
    }

    /// Whether a run uploaded something.
    fn is_staged(&self, folder: &str) -> bool {
        let found = self.disk().stat(&format!("{folder}/outputs")).ok().flatten();
        found.is_some_and(|found| found.kind == Kind::Folder)
    }

    /// Where the outputs of a task are that its present run leaves: the folder that has `outputs`.
    pub(crate) fn outputs_of(&self, id: TaskId, status: Status, run: Option<&Run>) -> String {
        let staged = run.and_then(|run| run.run_id.as_deref()).map(|run| of_run(id, run));
        staged.filter(|folder| self.is_staged(folder)).unwrap_or_else(|| companion(status, id))
    }

    /// Puts what a run uploaded in the place of the outputs of its task.
    pub(crate) fn take_uploads(&mut self, id: TaskId, run: Option<&Run>) {
        let Some(run) = run.and_then(|run| run.run_id.as_deref()) else { return };
        let folder = of_run(id, run);
        if self.is_staged(&folder) {
            let (from, to) = (format!("{folder}/outputs"), companion(Status::InProgress, id));
            self.ops.push(Op::Replace { from, to: format!("{to}/outputs") });
            self.ops.push(Op::Remove { path: folder.clone() });
            self.taken.insert(id, folder);
        }
    }

    /// The run that holds a task, as it is committed: what this group decides may not happen, and
    /// what it takes over is not in the tree yet.
    fn committed_run(&self, id: TaskId) -> Option<String> {
        let held = self.state.held(id).filter(|held| held.status == Status::InProgress)?;
        let run = match held.run.as_deref() {
            Some(run) => Run::from_document(accord_canon::read(run.as_bytes()).ok()?).ok(),
            // Another tool gave out the lease.
            None => self.artifact(id, "run.json").ok()?,
        };
        run?.run_id
    }

    /// Removes what runs uploaded that do not hold their tasks any more.
    pub(crate) fn remove_uploads(&self) {
        // What cannot be removed now is removed later.
        let names = |folder: &str| self.disk().list(folder).ok().flatten().unwrap_or_default();
        for task in names(&root()) {
            let place = format!("{}/{}", root(), task.name);
            let run = TaskId::parse(&task.name).ok().and_then(|id| self.committed_run(id));
            let held = run.map(|run| folder_name(&run));
            let runs = names(&place);
            for run in runs.iter().filter(|run| Some(&run.name) != held.as_ref()) {
                drop(self.disk().remove_tree(&format!("{place}/{}", run.name)));
            }
            if held.is_none() {
                drop(self.disk().remove_tree(&place));
            }
        }
    }
}
