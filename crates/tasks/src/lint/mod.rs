//! What is wrong in the files of a tree. Every finding has a code, a path and a sentence. It reads
//! the files and the log, takes no lock and writes nothing.

mod events;
mod twins;

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::{Code, Wire};
use accord_tasks_core::board::{Board, Entry};
use accord_tasks_core::evidence::{approved_outputs, outputs_digest};
use accord_tasks_core::merge::former_ids;
use accord_tasks_core::operations::{ApplyMode, LintFinding, LintSeverity, ReviewMode};
use accord_tasks_core::run::{Heartbeat, Run, RunResult};
use accord_tasks_core::task::{Task, TaskFile};
use accord_tasks_core::verbs::{is_approval_recorded, last_decision};
use accord_tasks_core::{Status, TaskId};
use accord_trees::{Disk, Kind, Result, TreeError, read_file};

use crate::committed::{LeaseOrigin, State};
use crate::decisions::read_after;
use crate::explained::{Explained, Source};
use crate::layout::{
    COMPANIONS, DECISIONS, MANIFEST, RunLayout, companion, status_folder, task_file,
};
use crate::manifest::{read_committed, read_manifest};
use crate::outputs::outputs;
use crate::referee::verdict::is_marked;
use crate::referee::waiting::{Cause, Waiting};
use crate::scan::{MAX_FILE, check_gone, is_committed, read_task, readable};
use crate::traces::Traces;
use crate::writers::{is_in_git, is_taken_back};

use twins::Twins;

/// Deeper folders count as filled.
const MAX_DEPTH: usize = 8;

pub(crate) struct Lint<'d> {
    disk: &'d dyn Disk,
    state: &'d State,
    pub(crate) findings: Vec<LintFinding>,
    pub(crate) seen: BTreeMap<TaskId, String>,
    board: Board,
    /// The tasks in the folder of those that are done, with the ids that they had before.
    done: Vec<(TaskId, Vec<TaskId>)>,
    /// Those with an approval in their files.
    approved: Vec<Task>,
    /// Who completed tasks, as the events say.
    completed_by: Vec<(TaskId, String)>,
    /// What the files say about Accord, if nothing is committed about the tree.
    traces: Option<Traces>,
    pub(crate) events: u64,
    /// What the event logs explain, in a tree that git carries.
    explained: Option<Explained>,
    /// Whether git checked out a commit in which this copy did not write its last event yet.
    is_another_commit: bool,
    /// The tasks whose moves wait for a person.
    waiting: BTreeSet<TaskId>,
    /// Which tasks might be one task.
    twins: Twins,
}

impl<'d> Lint<'d> {
    pub(crate) fn new(disk: &'d dyn Disk, state: &'d State) -> Self {
        let (seen, board, findings) = (BTreeMap::new(), Board::default(), Vec::new());
        Self {
            disk,
            state,
            findings,
            seen,
            board,
            done: Vec::new(),
            approved: Vec::new(),
            completed_by: Vec::new(),
            traces: None,
            events: 0,
            explained: None,
            is_another_commit: false,
            waiting: BTreeSet::new(),
            twins: Twins::default(),
        }
    }

    /// Moves that wait for a person, as the operations of the tree judge them.
    pub(crate) fn with_waiting(mut self, waiting: &BTreeMap<TaskId, Waiting>) -> Self {
        for (id, waiting) in waiting {
            self.waiting.insert(*id);
            let code = match waiting.cause() {
                Cause::ByHand => "move_not_adopted",
                _ => "decision_not_verified",
            };
            let path = task_file(waiting.folder, *id);
            self.error(code, &path, waiting.problem(*id));
            self.suggest(waiting.suggestion(*id));
        }
        self
    }

    pub(crate) fn run(mut self) -> Result<Self> {
        if !self.state.is_begun() {
            let is_in_git = is_in_git(self.disk.root_path());
            self.traces = Some(Traces::read(self.disk, is_in_git)?);
        }
        if is_in_git(self.disk.root_path()) {
            let mut explained = Explained::default();
            explained.refresh(self.disk)?;
            self.explained = Some(explained);
            self.is_another_commit = is_taken_back(self.disk, self.state);
        }
        self.settings()?;
        self.tasks()?;
        self.twins();
        self.dependencies();
        self.events()?;
        let decisions = read_after(self.disk, self.state, None)?;
        for task in std::mem::take(&mut self.approved) {
            let ids: Vec<TaskId> = [task.id].into_iter().chain(former_ids(&task)).collect();
            let is_about = |subject: &str| ids.iter().any(|id| id.to_string() == subject);
            // A teammate approved it: the log travels with the files, the record does not.
            let is_of_others = !decisions.records.iter().any(|record| is_about(&record.subject))
                && last_decision(&task).is_some_and(|last| {
                    ids.iter().any(|id| self.completed_by.contains(&(*id, last.by.clone())))
                });
            let is_recorded = ids.iter().any(|id| {
                let named = Task { id: *id, ..task.clone() };
                is_approval_recorded(&named, decisions.records.iter())
            });
            if !is_of_others && !is_recorded && !self.is_confirmed(&task) {
                let problem = "its approval is not in the record of decisions";
                self.error("approval_not_recorded", &task_file(task.status, task.id), problem);
            }
        }
        if decisions.is_broken {
            let problem = "a decision is missing or was changed: it and earlier ones do not count";
            self.error("decisions_changed", DECISIONS, problem);
        }
        Ok(self)
    }

    fn error(&mut self, code: &'static str, path: &str, problem: impl Into<String>) {
        self.find(code, LintSeverity::Error, path, problem.into());
    }

    fn warning(&mut self, code: &'static str, path: &str, problem: impl Into<String>) {
        self.find(code, LintSeverity::Warning, path, problem.into());
    }

    fn find(&mut self, code: &'static str, severity: LintSeverity, path: &str, problem: String) {
        // The id of the task is a part of every path that belongs to one.
        let id_of = |name: &str| TaskId::parse(name.strip_suffix(".md").unwrap_or(name)).ok();
        let task_id = path.split('/').find_map(id_of);
        self.findings.push(LintFinding {
            code: code.to_owned(),
            severity,
            path: path.to_owned(),
            problem,
            task_id,
            suggestion: suggestion(code).map(str::to_owned),
        });
    }

    /// Says what to do about the last finding.
    fn suggest(&mut self, suggestion: String) {
        if let Some(found) = self.findings.last_mut() {
            found.suggestion = Some(suggestion);
        }
    }

    fn settings(&mut self) -> Result<()> {
        let Some(bytes) = self.read("broken_settings", MANIFEST)? else { return Ok(()) };
        let manifest = match read_manifest(&String::from_utf8_lossy(&bytes)) {
            Ok(manifest) => manifest,
            Err(failure) => {
                self.error("broken_settings", MANIFEST, failure.message);
                return Ok(());
            }
        };
        let is_usual = manifest.apply.is_none_or(|apply| apply == ApplyMode::AtOnce)
            && manifest.review.is_none_or(|review| review == ReviewMode::Human);
        let held = self.state.settings().and_then(read_committed);
        let differs = held.map_or(!is_usual, |held| {
            held.apply != manifest.apply.unwrap_or(ApplyMode::AtOnce)
                || held.review != manifest.review.unwrap_or(ReviewMode::Human)
        });
        if differs && (self.state.settings().is_none() || is_in_git(self.disk.root_path())) {
            let problem = "apply and review count only once a person has adopted them";
            self.warning("settings_not_committed", MANIFEST, problem);
        }
        Ok(())
    }

    /// The bytes of a file. Something that is no readable file is a finding.
    fn read(&mut self, code: &'static str, path: &str) -> Result<Option<Vec<u8>>> {
        match read_file(self.disk, path, MAX_FILE) {
            Err(error) if error.is_unreadable() => {
                self.error(code, path, error.to_string());
                Ok(None)
            }
            read => read,
        }
    }

    fn tasks(&mut self) -> Result<()> {
        for &status in Status::ALL {
            let folder = status_folder(status);
            if self.disk.stat(&folder)?.is_some_and(|stat| stat.kind != Kind::Folder) {
                self.error("not_a_folder", &folder, "it is a link or a file, so it is not read");
                continue;
            }
            for entry in self.disk.list(&folder)?.unwrap_or_default() {
                let path = format!("{folder}/{}", entry.name);
                match entry.name.strip_suffix(".md") {
                    Some(name) => match TaskId::parse(name) {
                        Ok(id) => self.task(&path, id, status, entry.kind)?,
                        Err(_) => {
                            let problem = "the name is not the id of a task, so it is not read";
                            self.warning("misnamed_file", &path, problem);
                        }
                    },
                    None => self.companion(&path, &entry, &folder)?,
                }
            }
        }
        let missing = self.state.tasks().map(|(id, _)| id).filter(|id| !self.seen.contains_key(id));
        let is_known = |id: &TaskId| self.explained.as_ref().is_none_or(|logs| logs.names(*id));
        let missing: Vec<TaskId> = missing.filter(is_known).collect();
        if self.disk.stat("tasks")?.is_none() && !missing.is_empty() {
            let problem = format!("the folder is gone, and the {} open tasks in it", missing.len());
            self.error("missing_folder", "tasks", problem);
            return Ok(());
        }
        if let Err(TreeError::Damaged { path, why, .. }) =
            check_gone(self.disk, self.state, missing.iter())
        {
            self.error("missing_folder", &path, why);
            return Ok(());
        }
        for id in missing {
            let problem = "the file of the task is gone; the next change records that";
            self.error("missing_file", &id.to_string(), problem);
            self.suggest(format!(
                "to bring it back: accord task undelete {id}, or restore it with git"
            ));
        }
        Ok(())
    }

    fn task(&mut self, path: &str, id: TaskId, status: Status, kind: Kind) -> Result<()> {
        if let Some(other) = self.seen.insert(id, path.to_owned()) {
            self.error("duplicate_task", path, format!("the task is also at {other}"));
        }
        match kind {
            Kind::File => {}
            Kind::Link => {
                self.error("not_a_file", path, "it is a link; the next operation replaces it");
            }
            _ => {
                self.error("not_a_file", path, "it is a folder, a pipe or a device; remove it");
                self.board.put_closed(id, status);
                return Ok(());
            }
        }
        let file = match read_task(self.disk, path)? {
            None => return Ok(()),
            Some(Err(_)) if self.is_unmerged(path)? => {
                let problem = "git merged two versions of the task";
                self.error("merge_conflict", path, problem);
                self.board.put_closed(id, status);
                return Ok(());
            }
            Some(Err(why)) => {
                // The finding has the path already.
                let rest = why.strip_prefix(&format!("{path} ")).map(|rest| format!("it {rest}"));
                self.error("broken_file", path, rest.unwrap_or(why));
                self.suggest(format!(
                    "correct the file, or bring back its last good text: accord task undelete {id}"
                ));
                self.board.put_closed(id, status);
                return Ok(());
            }
            Some(Ok(file)) => file,
        };
        let task = file.task();
        let is_waiting = self.waiting.contains(&id);
        if task.id != id {
            self.error("wrong_id", path, format!("the file says that it is {}", task.id));
        }
        if task.status != status && !is_waiting {
            let problem = format!("the file says that the task is {}", task.status);
            self.error("status_mismatch", path, problem);
        }
        if status == Status::Done && !is_waiting {
            self.done.push((id, former_ids(task)));
        }
        // A tree that came with its files alone has no record.
        if task.metadata("approval").is_some()
            && !is_waiting
            && self.state.last_decision().is_some()
        {
            self.approved.push(task.clone());
        }
        self.twins.note(task, path);
        if let Some(approved) = approved_outputs(task) {
            let folder = companion(status, id);
            let (outputs, others) = outputs(self.disk, &folder)?;
            if outputs_digest(&outputs, &others.named) != approved {
                let problem = "its files are not those that were approved";
                self.warning("outputs_changed", &format!("{folder}/outputs"), problem);
            }
        }
        let origin = self.lease(path, id, &file)?;
        self.board.put(Entry::of(task, None));
        for folder in COMPANIONS {
            let folder = format!("{}/{folder}", companion(status, id));
            match self.disk.stat(&folder)?.map(|stat| stat.kind) {
                Some(Kind::Folder) => {}
                // Git carries no empty folder. Only an agent at work here needs one.
                None if !origin.is_here() => {}
                None => self.warning("missing_folder", &folder, "the folder is missing"),
                Some(_) => {
                    self.error("not_a_folder", &folder, "it is a link or a file, not a folder");
                }
            }
        }
        self.run_of(id)
    }

    /// Whether git left its marks in a file.
    fn is_unmerged(&self, path: &str) -> Result<bool> {
        let bytes = readable(read_file(self.disk, path, MAX_FILE))?.unwrap_or_default();
        Ok(is_marked(&String::from_utf8_lossy(&bytes)))
    }

    fn lease(&mut self, path: &str, id: TaskId, file: &TaskFile) -> Result<LeaseOrigin> {
        let task = file.task();
        let held = self.state.held(id);
        let is_leased = task.lease.value().is_some();
        let origin = match (&self.traces, held) {
            (Some(traces), None) if is_leased => traces.lease(self.disk, id)?,
            (_, held) => held.map_or(LeaseOrigin::None, |held| held.lease),
        };
        if is_leased != task.status.is_leased() {
            let problem = "a task has a lease exactly while it is in progress";
            // Another tool may keep a lease longer.
            match origin {
                LeaseOrigin::Other => self.warning("lease_mismatch", path, problem),
                _ => self.error("lease_mismatch", path, problem),
            }
        }
        if is_leased && task.status.is_leased() && origin == LeaseOrigin::Unknown {
            let problem = "nothing says who gave out the lease; a person must adopt the task";
            self.error("committed_state_missing", path, problem);
        } else if self.state.is_begun()
            && !task.status.is_final()
            && !is_committed(file, id, task.status, held)
            && !self.is_explained(file)
            && !self.waiting.contains(&id)
        {
            let problem = "others changed the file; the next operation decides about it";
            self.warning("edit_not_judged", path, problem);
        }
        Ok(origin)
    }

    /// Whether a copy that a person confirmed approved a task.
    fn is_confirmed(&self, task: &Task) -> bool {
        let file = read_task(self.disk, &task_file(task.status, task.id)).ok().flatten();
        let logs = self.explained.as_ref().zip(file.and_then(std::result::Result::ok));
        let found = logs.and_then(|(logs, file)| logs.explains(&file, task.status, self.state));
        found.is_some_and(|found| found.source == Source::Confirmed)
    }

    /// Whether git brought what another copy of the tree committed.
    fn is_explained(&self, file: &TaskFile) -> bool {
        let status = file.task().status;
        let explains = |logs: &Explained| logs.explains(file, status, self.state).is_some();
        self.explained.as_ref().is_some_and(explains)
    }

    fn run_of(&mut self, id: TaskId) -> Result<()> {
        let layouts = [RunLayout::Guide, RunLayout::Reference];
        let mut found = 0;
        for folder in layouts.map(|layout| layout.folder(id)) {
            let run = self.artifact::<Run>(&format!("{folder}/run.json"))?;
            found += usize::from(run);
            self.artifact::<Heartbeat>(&format!("{folder}/run_heartbeat.json"))?;
            self.artifact::<RunResult>(&format!("{folder}/run_result.json"))?;
        }
        if found > 1 {
            let folder = RunLayout::Reference.folder(id);
            let problem = "the run is also below runs/; only one of them is read";
            self.warning("two_layouts", &folder, problem);
        }
        Ok(())
    }

    /// Checks a run artifact. Answers whether there is one.
    fn artifact<T: Wire>(&mut self, path: &str) -> Result<bool> {
        let Some(bytes) = self.read("broken_artifact", path)? else { return Ok(false) };
        let read = accord_canon::read(&bytes).map_err(|error| error.to_string());
        let read = read.and_then(|read| T::from_document(read).map_err(|error| error.to_string()));
        if let Err(why) = read {
            self.error("broken_artifact", path, why);
        }
        Ok(true)
    }

    /// A folder beside a task file must have its file, and be a folder.
    fn companion(&mut self, path: &str, entry: &accord_trees::Entry, folder: &str) -> Result<()> {
        let Ok(id) = TaskId::parse(&entry.name) else { return Ok(()) };
        if entry.kind != Kind::Folder {
            let problem = "it is a link or a file; the next operation replaces it";
            self.error("not_a_folder", path, problem);
        } else if self.disk.stat(&format!("{folder}/{id}.md"))?.is_none()
            && has_files(self.disk, path, 0)?
        {
            self.warning("orphan_folder", path, "the folder has no task file beside it");
        }
        Ok(())
    }

    fn dependencies(&mut self) {
        let entries = self.seen.keys().filter_map(|id| self.board.entry(*id));
        let open: Vec<_> = entries.map(|entry| (entry.id, entry.depends_on.clone())).collect();
        for (id, needs) in open {
            let Err(failure) = self.board.check_dependencies(id, &needs) else { continue };
            let code = match failure.code {
                Code::AofDependencyCycle => "dependency_cycle",
                _ => "dangling_dependency",
            };
            let path = self.seen.get(&id).cloned().unwrap_or_default();
            self.error(code, &path, failure.message);
        }
    }
}

/// Whether a folder has something in it. Git removes files, and leaves folders that it does not
/// know.
fn has_files(disk: &dyn Disk, folder: &str, depth: usize) -> Result<bool> {
    for entry in disk.list(folder)?.unwrap_or_default() {
        let path = format!("{folder}/{}", entry.name);
        if entry.kind != Kind::Folder || depth >= MAX_DEPTH || has_files(disk, &path, depth + 1)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The log of what Accord committed was changed by others.
pub(crate) fn damaged(path: &str, problem: String) -> LintFinding {
    LintFinding {
        code: "log_damaged".to_owned(),
        severity: LintSeverity::Error,
        path: path.to_owned(),
        problem,
        task_id: None,
        suggestion: None,
    }
}

/// What to do about a finding, where its sentence does not say it.
fn suggestion(code: &str) -> Option<&'static str> {
    Some(match code {
        "committed_state_missing" => "look at the task, then: accord task adopt ID",
        "settings_not_committed" => "look at the file, then: accord task adopt --settings",
        "broken_file" | "wrong_id" => "correct the file, or restore it",
        "completion_not_recorded" => {
            "look at the task; remove its file if nobody completed it, else take the events over \
             from where it was completed"
        }
        "approval_not_recorded" => "look at `accord decisions`; correct or remove the member",
        "outputs_changed" => "look at the files; the digest in the approval is that of the others",
        "misnamed_file" => "move the file out of the folder of tasks",
        "orphan_folder" => "remove the folder, or restore the task file beside it",
        "dangling_dependency" | "dependency_cycle" => "accord task dep remove ID BLOCKER",
        "merge_conflict" => "accord task merge",
        "duplicate_task" => "after a merge of git: accord task merge; else: accord task poll",
        "edit_not_judged" | "status_mismatch" => "accord task poll",
        _ => return None,
    })
}
