//! What answers say about tasks, read in a group.

use std::collections::BTreeMap;
use std::path::Path;

use accord_base::evidence::{EvidenceDigest, LastDecision};
use accord_contract::{Object, Time, Timestamp, Value, Wire as _};
use accord_tasks_core::board::{WAITS_FOR, retry_at};
use accord_tasks_core::evidence::{self, Output};
use accord_tasks_core::finished::package_id;
use accord_tasks_core::observed::observed;
use accord_tasks_core::operations::{
    BlockEnd, DependencyView, LeaseView, PersonDecision, RunView, TaskDetails, TaskItem,
    TaskObserved,
};
use accord_tasks_core::run::{Heartbeat, Run, RunResult, RunStatus};
use accord_tasks_core::task::{
    Task, TaskFile, due, is_overdue, is_review_required, split_comments,
};
use accord_tasks_core::verbs::{is_approval_recorded, last_decision};
use accord_tasks_core::{Status, TaskId};

use crate::Result;
use crate::decisions::read_after;
use crate::layout::{companion, of_root, task_file};
use crate::outputs::outputs;
use crate::referee::waiting::Waiting;
use crate::tree::failure;
use crate::work::Work;

#[derive(Clone, Debug, Default)]
pub(crate) struct RunFacts {
    pub(crate) run: Option<Run>,
    pub(crate) heartbeat: Option<Heartbeat>,
    pub(crate) result: Option<RunResult>,
}

/// What a group knows of the details of a task. The caller makes the answer of it, after the group.
pub(crate) struct Draft {
    project: String,
    file: TaskFile,
    facts: RunFacts,
    depends_on: Vec<DependencyView>,
    dependents: Vec<DependencyView>,
    parts: Vec<DependencyView>,
    run_folder: String,
    waiting: Option<Waiting>,
    /// Whether another copy of the tree gave out its lease.
    is_elsewhere: bool,
    now: Time,
}

/// What a person decides about.
pub(crate) struct Evidence {
    pub(crate) digest: EvidenceDigest,
    pub(crate) outputs: Vec<Output>,
    /// The digest of the outputs alone.
    pub(crate) outputs_digest: String,
    pub(crate) hidden: u64,
    /// What Accord observed about the last run.
    pub(crate) observed: Option<TaskObserved>,
    /// The files that the report declares and that do not exist.
    pub(crate) missing: Vec<String>,
}

impl Work<'_> {
    pub(crate) fn run_facts(&self, id: TaskId) -> Result<RunFacts> {
        let mut facts = RunFacts {
            run: self.artifact(id, "run.json")?,
            heartbeat: self.artifact(id, "run_heartbeat.json")?,
            result: self.artifact(id, "run_result.json")?,
        };
        if let Some(result) =
            facts.result.as_ref().filter(|_| self.is_reported_elsewhere(id, &facts))
        {
            facts.run = Some(run_of(result));
            facts.heartbeat = None;
        }
        Ok(facts)
    }

    /// Whether the report of a task came with git: its run was in another copy of the tree.
    fn is_reported_elsewhere(&self, id: TaskId, facts: &RunFacts) -> bool {
        let is_open = self.board().status(id) == Some(Status::InProgress);
        let is_of_run = |result: &RunResult| {
            let run = facts.run.as_ref();
            run.is_some_and(|run| run.agent_id == result.agent_id && result.belongs_to(run))
        };
        self.index.is_in_git && !is_open && facts.result.as_ref().is_some_and(|it| !is_of_run(it))
    }

    /// What to say about a report that another copy of the tree recorded.
    pub(crate) fn report_of_others(&self, id: TaskId) -> Result<Option<String>> {
        let facts = RunFacts {
            run: self.artifact(id, "run.json")?,
            heartbeat: None,
            result: self.artifact(id, "run_result.json")?,
        };
        let agent = facts.result.as_ref().map(|result| result.agent_id.clone());
        let agent = agent.filter(|_| self.is_reported_elsewhere(id, &facts));
        Ok(agent.map(|agent| {
            format!("{agent} reported in another copy of the tasks: not verified here")
        }))
    }

    pub(crate) fn item(&self, file: &TaskFile) -> Result<TaskItem> {
        let task = file.task();
        let facts = match task.status {
            Status::InProgress => RunFacts {
                run: self.artifact(task.id, "run.json")?,
                heartbeat: self.artifact(task.id, "run_heartbeat.json")?,
                result: None,
            },
            Status::Review | Status::Done => self.run_facts(task.id)?,
            _ => RunFacts::default(),
        };
        let waiting = self.waiting(task.id);
        let routing = task.routing.as_ref();
        let is_open = |needed: &DependencyView| needed.status != Some(Status::Done);
        let open = self.dependencies(task.dependencies()).into_iter().filter(is_open).collect();
        let some = |list: Vec<DependencyView>| (!list.is_empty()).then_some(list);
        let tags = routing.and_then(|routing| routing.tags.clone());
        Ok(TaskItem {
            id: task.id,
            title: task.title.clone(),
            status: task.status,
            priority: task.urgency(),
            agent: routing.and_then(|routing| routing.agent.clone()),
            role: routing.and_then(|routing| routing.role.clone()),
            team: routing.and_then(|routing| routing.team.clone()),
            tags: tags.filter(|tags| !tags.is_empty()),
            lease: lease(task, &facts, self.is_elsewhere(task.id)),
            done_by: done_by(task, &facts),
            waits_for: some(open).filter(|_| !task.status.is_final()),
            block_reason: block_reason(task),
            block_ends: block_ends(task),
            retry_at: retry_at(task).map(Timestamp::emit),
            due: due(task).map(str::to_owned),
            overdue: is_overdue(task, self.now()).then_some(true),
            parent: task.parent_id,
            resource: task.resource.clone(),
            since: task.last_transition_at.clone(),
            created_at: task.created_at.clone(),
            unadopted: waiting.as_ref().map(|waiting| waiting.view(task.id)),
            path: task_file(waiting.map_or(task.status, |waiting| waiting.folder), task.id),
        })
    }

    pub(crate) fn details(&self, project: &str, file: &TaskFile, facts: RunFacts) -> TaskDetails {
        self.draft(project, file, facts).details()
    }

    /// What a group knows of the details of a task.
    pub(crate) fn draft(&self, project: &str, file: &TaskFile, facts: RunFacts) -> Draft {
        let id = file.task().id;
        Draft {
            project: project.to_owned(),
            file: file.clone(),
            facts,
            depends_on: self.dependencies(file.task().dependencies()),
            dependents: self.dependencies(self.board().dependents(id)),
            parts: self.dependencies(self.board().parts(id)),
            run_folder: self.layout().folder(id),
            waiting: self.waiting(id),
            is_elsewhere: self.is_elsewhere(id),
            now: self.now(),
        }
    }

    fn dependencies(&self, ids: &[TaskId]) -> Vec<DependencyView> {
        let view = |id: &TaskId| DependencyView { id: *id, status: self.board().status(*id) };
        ids.iter().map(view).collect()
    }

    /// Whether the approval that the file of a finished task has is in the record of decisions.
    pub(crate) fn is_approval_recorded(&self, task: &Task) -> Result<bool> {
        // Nothing is held of a finished task.
        let is_read = task.status.is_final() && self.has_earlier_decisions();
        if !is_read || task.metadata("approval").is_none() {
            return Ok(true);
        }
        let list = read_after(self.disk(), self.state, None).map_err(|error| failure(&error))?;
        Ok(is_approval_recorded(task, list.records.iter()))
    }

    /// Whether the record of this copy has a decision that the file of a task says.
    fn is_recorded(&self, id: TaskId, last: &LastDecision) -> Result<bool> {
        let list = read_after(self.disk(), self.state, None).map_err(|error| failure(&error))?;
        let id = id.to_string();
        Ok(list.records.iter().any(|record| {
            (&record.subject, &record.actor, &record.outcome) == (&id, &last.by, &last.outcome)
                && record.decided_at.to_string() == last.at
        }))
    }

    /// Whether a person decided the last move of a task, or adopted it, in the record of this copy.
    pub(crate) fn has_decision(&self, file: &TaskFile) -> Result<bool> {
        let task = file.task();
        let moved_at = task.last_transition_at.to_string();
        let is_of_move = |last: &LastDecision| {
            last.at == moved_at || (last.outcome == "adopted" && last.at > moved_at)
        };
        match last_decision(task).filter(is_of_move) {
            Some(last) => self.is_recorded(task.id, &last),
            None => Ok(false),
        }
    }

    /// What to say about a decision that another copy of the tree recorded.
    pub(crate) fn decision_of_others(&self, file: &TaskFile) -> Result<Option<String>> {
        let Some(last) = last_decision(file.task()) else { return Ok(None) };
        // A merge of this copy repeats what another one decided.
        let is_own = |writer: &str| {
            self.state.writers().is_some_and(|own| own.ids.iter().any(|id| id == writer))
        };
        let writers = match self.explained()? {
            Some(explained) => explained.writers(file),
            None => return Ok(None),
        };
        if writers.is_empty() {
            return Ok(None);
        }
        let is_here = self.is_recorded(file.task().id, &last)?;
        let writer = writers.into_iter().flatten().find(|writer| !is_own(writer));
        let writer = writer.map(|writer| format!(" ({writer})")).unwrap_or_default();
        Ok((!is_here).then(|| {
            let LastDecision { by, outcome, at, .. } = last;
            let what = outcome.replace('_', " ");
            format!(
                "{what} by {by} at {at} in another copy of the tasks{writer}: not verified here"
            )
        }))
    }

    pub(crate) fn counts(&self) -> BTreeMap<String, u64> {
        let counts = self.board().counts();
        counts.map(|(status, count)| (status.as_str().to_owned(), count as u64)).collect()
    }

    /// What a person decides about: the task file, the recorded result and the outputs.
    pub(crate) fn evidence(&self, file: &TaskFile) -> Result<Evidence> {
        let task = file.task();
        let folder = self.waiting(task.id).map_or(task.status, |waiting| waiting.folder);
        let root = companion(folder, task.id);
        let (outputs, others) = outputs(self.disk(), &root).map_err(|error| failure(&error))?;
        let result = self.artifact_text(task.id, "run_result.json")?;
        let RunFacts { run, result: report, .. } = self.run_facts(task.id)?;
        let observed = observed(task, run.as_ref()).map(|observed| match observed.elsewhere {
            Some(true) => observed,
            _ => TaskObserved {
                work_tree: of_root(self.disk().root_path(), &observed.work_tree),
                ..observed
            },
        });
        let declared = report.and_then(|report| report.deliverables).unwrap_or_default();
        let missing: Vec<String> = declared
            .into_iter()
            .filter(|path| !self.exists_in(&root, path) && !in_work_tree(observed.as_ref(), path))
            .collect();
        let text = file.text();
        let texts = (text.as_str(), result.as_deref());
        let digest = evidence::digest(texts, &outputs, &others.named, &others.marks, &missing);
        let outputs_digest = evidence::outputs_digest(&outputs, &others.named);
        let hidden = others.count;
        Ok(Evidence { digest, outputs, outputs_digest, hidden, observed, missing })
    }
}

impl Draft {
    pub(crate) fn details(self) -> TaskDetails {
        let (file, facts) = (&self.file, &self.facts);
        let (task, id) = (file.task(), file.task().id);
        let (routing, sla) = (task.routing.as_ref(), task.sla.as_ref());
        let folder = self.waiting.as_ref().map_or(task.status, |waiting| waiting.folder);
        TaskDetails {
            id,
            title: task.title.clone(),
            status: task.status,
            priority: task.urgency(),
            agent: routing.and_then(|routing| routing.agent.clone()),
            role: routing.and_then(|routing| routing.role.clone()),
            team: routing.and_then(|routing| routing.team.clone()),
            tags: routing.and_then(|routing| routing.tags.clone()).unwrap_or_default(),
            lease: lease(task, facts, self.is_elsewhere),
            parent: task.parent_id,
            block_reason: block_reason(task),
            block_ends: block_ends(task),
            retry_at: retry_at(task).map(Timestamp::emit),
            due: due(task).map(str::to_owned),
            overdue: is_overdue(task, self.now).then_some(true),
            resource: task.resource.clone(),
            max_in_progress_ms: sla.and_then(|sla| sla.max_in_progress_ms),
            on_violation: sla.and_then(|sla| sla.on_violation),
            review_required: is_review_required(task),
            sent_back: sent_back(task),
            approval: decision(task, "approval"),
            package_id: (task.status == Status::Done)
                .then(|| package_id(id, &task.last_transition_at)),
            attempts: task.metadata("retryCount").and_then(Value::as_u64).unwrap_or(0),
            run: facts.run.as_ref().map(|run| run_view(run, facts)),
            since: task.last_transition_at.clone(),
            created_at: task.created_at.clone(),
            created_by: task.created_by.clone(),
            updated_at: task.updated_at.clone(),
            metadata: task.metadata.clone().unwrap_or_else(Object::new),
            comments: Some(split_comments(file.body()).1).filter(|said| !said.is_empty()),
            body: Some(file.body().to_owned()),
            unadopted: self.waiting.map(|waiting| waiting.view(id)),
            path: task_file(folder, id),
            folder: companion(folder, id),
            project_id: self.project,
            depends_on: self.depends_on,
            dependents: self.dependents,
            parts: self.parts,
            run_folder: self.run_folder,
        }
    }
}

/// Whether a declared file is in the folder that the agent worked in.
fn in_work_tree(observed: Option<&TaskObserved>, path: &str) -> bool {
    let is_inside = !path.starts_with('/') && !path.split('/').any(|name| name == "..");
    let Some(observed) = observed.filter(|_| is_inside) else { return false };
    if observed.elsewhere == Some(true) {
        // What the worker saw is known, and no more.
        return observed.files.iter().any(|file| file == path);
    }
    Path::new(&observed.work_tree).join(path).symlink_metadata().is_ok()
}

fn lease(task: &Task, facts: &RunFacts, is_elsewhere: bool) -> Option<LeaseView> {
    let lease = task.lease.value()?;
    // A run of this copy is not the one of that lease.
    let run = facts.run.as_ref().filter(|run| run.agent_id == lease.agent && !is_elsewhere);
    Some(LeaseView {
        agent: lease.agent.clone(),
        run_id: run.and_then(|run| run.run_id.clone()),
        since: lease.acquired_at.clone(),
        until: lease.expires_at.clone(),
        alive_until: facts.heartbeat.as_ref().and_then(|heartbeat| heartbeat.expires_at.clone()),
        elsewhere: is_elsewhere.then_some(true),
    })
}

/// A run of another copy of the tree, as far as its report says it.
fn run_of(result: &RunResult) -> Run {
    let run_id = result.run_id.as_deref().unwrap_or_default();
    let begun = Run::begin(result.task_id, &result.agent_id, run_id, result.completed_at.time());
    let run_id = result.run_id.clone();
    Run { run_id, ..begun.ended(RunStatus::Completed, &[]) }
}

fn run_view(run: &Run, facts: &RunFacts) -> RunView {
    let heartbeat = facts.heartbeat.as_ref();
    RunView {
        run_id: run.run_id.clone(),
        agent: run.agent_id.clone(),
        started_at: run.started_at.clone(),
        status: run.status,
        last_heartbeat: heartbeat.map(|heartbeat| heartbeat.last_heartbeat.clone()),
        result: facts.result.clone(),
    }
}

/// Why a task is blocked or a dead letter. The reason of an earlier block does not count.
fn block_reason(task: &Task) -> Option<String> {
    let name = match task.status {
        Status::Blocked => "blockReason",
        Status::Deadletter => "lastError",
        _ => return None,
    };
    task.metadata(name).and_then(Value::as_str).map(str::to_owned)
}

/// What ends the block of a task.
fn block_ends(task: &Task) -> Option<BlockEnd> {
    if task.status != Status::Blocked {
        return None;
    }
    let text = |name: &str| task.metadata(name).and_then(Value::as_str);
    Some(if text("blockedBy").is_some() {
        BlockEnd::Person
    } else if retry_at(task).is_some() {
        BlockEnd::Retry
    } else if text("blockReason").is_some_and(|why| why.starts_with(WAITS_FOR)) {
        BlockEnd::Dependency
    } else {
        BlockEnd::Unblock
    })
}

/// Who did a task: the agent of the run that is complete, else the person who ended the task.
fn done_by(task: &Task, facts: &RunFacts) -> Option<String> {
    let run = facts.run.as_ref().filter(|run| run.status == RunStatus::Completed);
    let agent = run.map(|run| run.agent_id.clone());
    let person = || decision(task, "approval").map(|approval| approval.by);
    match task.status {
        Status::Review => agent,
        Status::Done => agent.or_else(person),
        _ => None,
    }
}

/// Why a person wants more work: of a review, or of a task that was done.
fn sent_back(task: &Task) -> Option<PersonDecision> {
    let said = ["sentBack", "reopening"].into_iter().filter_map(|name| decision(task, name));
    said.max_by_key(|said| said.at.time())
}

pub(crate) fn decision(task: &Task, name: &str) -> Option<PersonDecision> {
    PersonDecision::from_document(task.metadata(name)?.clone()).ok()
}

pub(crate) fn alive_until(heartbeat: &Heartbeat) -> Timestamp {
    heartbeat.expires_at.clone().unwrap_or_else(|| heartbeat.last_heartbeat.clone())
}
