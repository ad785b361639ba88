//! A task that is done leaves a package: its result, its files, who approved it, and why it was
//! sent back before.
//!
//! The source is the event that says that the task is done. It has the result in it, as it was at
//! that moment. The trees of a data folder are looked at, linked ones, and the one in whose folder
//! the data folder lies. Only what this copy of a tree wrote counts: what another copy says reaches
//! this one when a person adopts it.

use accord_base::ProjectId;
use accord_base::decision::DecisionRecord;
use accord_base::excerpt::one_line;
use accord_contract::text::counted;
use accord_contract::{Failure, Object, Value};
use accord_memory::{EndedWork, FlowPackage, FlowSource, Memory, TakenOver};
use accord_memory_core::package::flow::RESULT_OF;
use accord_tasks::decisions::decisions_after;
use accord_tasks::event_log::{EventLine, EventPlace, events_of, own_sources};
use accord_tasks::layout::companion;
use accord_tasks::{Environment, Tree};
use accord_tasks_core::finished::{FinishedTask, package_id};
use accord_tasks_core::operations::PersonDecision;
use accord_tasks_core::verbs::LAST_RUN;
use accord_tasks_core::{Status, TaskId};
use serde_json::json;

use super::{APPROVED_BY, SOURCE, is_tree, keeps_tasks, without_credentials};
use crate::http::Host;

/// The file with which an agent reports, whose content the event has, and that of an attempt
/// before.
const REPORTS: [&str; 2] = ["outputs/report.json", "outputs/report.earlier.json"];
/// The outcomes of decisions that ask for more work.
const WANTS_MORE: [&str; 2] = ["sent_back", "reopened"];
/// The outcome of a decision that ends a task without a result. What workers left stays.
const CANCELLED: &str = "cancelled";
/// The longest reason in a title, in characters.
const REASON: usize = 120;
/// How many events are looked at with one commit.
const PAGE: usize = 256;

impl Host {
    /// Keeps the results of tasks that were done since the last look, in the trees that this host
    /// knows and in the one around its data folder. A tree that cannot be read is left to the next
    /// call, and logged.
    pub fn keep_results(&self) -> u64 {
        let mut kept = 0;
        if !self.has_store() {
            return kept;
        }
        let trees = self.tasks();
        let known = trees.projects().into_iter().filter_map(|project| {
            let tree = trees.find(&project);
            tree.map(|tree| Some((tree?, project))).transpose()
        });
        for found in known {
            kept += self.keep_found(found);
        }
        kept + self.keep_results_around()
    }

    /// The same for the tree around the data folder alone.
    pub(crate) fn keep_results_around(&self) -> u64 {
        self.tree_around().map_or(0, |found| self.keep_found(found))
    }

    fn keep_found(&self, found: Result<(Tree, ProjectId), Failure>) -> u64 {
        let kept = found.and_then(|(tree, project)| self.keep_results_of(&tree, &project));
        kept.unwrap_or_else(|failure| {
            let code = failure.code;
            tracing::warn!(%code, "results of tasks wait: {}", failure.message);
            0
        })
    }

    /// The tree in whose folder the data folder lies, as in a repository.
    fn tree_around(&self) -> Option<Result<(Tree, ProjectId), Failure>> {
        let folder = self.folder().canonicalize().ok()?;
        let root = folder.parent().filter(|root| is_tree(root))?;
        let known = self.tasks().linked();
        if known.iter().any(|(_, linked)| linked.canonicalize().is_ok_and(|it| it == root)) {
            return None;
        }
        let open = || {
            let project = Tree::project_in(root)?;
            let tree = Tree::open(root, &project, Environment::system())?;
            Ok((tree, ProjectId::new(project)?))
        };
        Some(open())
    }

    /// Keeps the results of one tree. Returns how many are new.
    pub(crate) fn keep_results_of(&self, tree: &Tree, project: &ProjectId) -> Result<u64, Failure> {
        let mut kept = 0;
        for id in own_sources(tree)? {
            let source = FlowSource { project: project.clone(), id };
            let is_kept = keeps_tasks(self.settings(), project.as_str());
            kept += keep_source(self.memory(), tree, &source, is_kept)?;
        }
        Ok(kept)
    }
}

/// Keeps the results that one writer wrote.
fn keep_source(
    memory: &Memory,
    tree: &Tree,
    source: &FlowSource,
    is_kept: bool,
) -> Result<u64, Failure> {
    let known = memory.flowed(source)?;
    let document: Option<Value> = serde_json::from_str(&known.place).ok();
    let place = document.and_then(|document| EventPlace::read(&document));
    // The number decides; the place in the log is where the search begins.
    let place = place.filter(|place| place.number == known.number);
    let mut place = place.unwrap_or(EventPlace { number: known.number, log: None });
    let mut kept = 0;
    loop {
        let (lines, next) = events_of(tree, &source.id, place, PAGE)?;
        if lines.is_empty() {
            return Ok(kept);
        }
        let is_result = |line: &&EventLine| FinishedTask::of_event(&line.object).is_some();
        let results: Vec<_> = lines.iter().filter(is_result).filter(|_| is_kept).collect();
        let held = match results.is_empty() && !lines.iter().any(|line| decided(line).is_some()) {
            true => Vec::new(),
            false => decisions_after(tree, None)?.records,
        };
        let ended = lines.iter().filter_map(|line| ended(&source.project, line, &held)).collect();
        let packages = results.into_iter().filter_map(|line| {
            let document = package(&source.project, &source.id, line, &held)?;
            FlowPackage::new(&document)
                .inspect_err(|failure| {
                    tracing::error!(code = %failure.code, "a result is no package: {failure}");
                })
                .ok()
        });
        let upto = TakenOver { number: next.number, place: next.document().to_string() };
        kept += memory.flow(source, packages.collect(), ended, upto)?;
        place = next;
    }
}

/// The package that follows from an event; `None` if the event does not say that a task is done.
/// `held` are the decisions that the log of the tree holds: an event only names its decision,
/// because an agent can write events.
fn package(
    project: &ProjectId,
    writer: &str,
    line: &EventLine,
    held: &[DecisionRecord],
) -> Option<Value> {
    of_done(project, (writer, line.number), &line.object, decision_of(line, held))
}

/// The decision that an event names.
fn decided(line: &EventLine) -> Option<&str> {
    line.object.get("payload")?.get("decision")?.get("decision_id")?.as_str()
}

fn decision_of<'h>(line: &EventLine, held: &'h [DecisionRecord]) -> Option<&'h DecisionRecord> {
    let named = decided(line)?;
    held.iter().find(|record| record.decision_id.as_str() == named)
}

/// The work that an event ends: a task is done or cancelled, or a person wants more work on it.
fn ended(project: &ProjectId, line: &EventLine, held: &[DecisionRecord]) -> Option<EndedWork> {
    let done = FinishedTask::of_event(&line.object).map(|(id, _)| id.to_string());
    let decision = decision_of(line, held);
    let rejected = decision.filter(|record| WANTS_MORE.contains(&record.outcome.as_str()));
    let Some(decision) = rejected else {
        let cancelled = decision.filter(|record| record.outcome == CANCELLED);
        let work = done.or_else(|| cancelled.map(|record| record.subject.clone()))?;
        return Some(EndedWork { work, attempt: None, until: line.at, rejected: None });
    };
    let (work, id) = (decision.subject.clone(), decision.decision_id.as_str());
    let digest = accord_canon::sha256(json!(["task.sent_back", work, id]).to_string().as_bytes());
    let package_id = format!("pkg_{}", &digest.hex()[..32]);
    let at = decision.decided_at.as_str();
    let why = decision.note.as_deref().unwrap_or("no reason was given");
    let title = super::title(&one_line(&format!("Sent back {work}: {why}"), REASON));
    let mut package = super::package(&package_id, project.as_str(), &title, at);
    // The next attempt must read it.
    package["significance"] = 6.into();
    package["description"] =
        without_credentials(&format!("{} sent {work} back: {why}", decision.actor)).into();
    package["tags"] = json!(["task"]);
    package[APPROVED_BY] = decision.actor.as_str().into();
    package[SOURCE] = json!({
        "protocol": "tasks", "kind": "task.sent_back", "task_id": work, "decision_id": id,
    });
    let attempt = line.object.get("payload").and_then(|payload| payload.get(LAST_RUN)?.as_str());
    Some(EndedWork {
        work,
        attempt: attempt.map(str::to_owned),
        until: decision.decided_at.time(),
        rejected: Some(package),
    })
}

/// The same for an event of a writer with a number, and the decision that approved the task.
pub(super) fn of_done(
    project: &ProjectId,
    (writer, number): (&str, u64),
    line: &Object,
    decision: Option<&DecisionRecord>,
) -> Option<Value> {
    let (id, result) = FinishedTask::of_event(line)?;
    let title = super::title(&format!("Done: {} ({id})", result.title));
    let package_id = package_id(id, &result.done_at);
    let at = line.get("timestamp")?.as_str()?;
    let mut package = super::package(&package_id, project.as_str(), &title, at);
    package["description"] = description(id, &result, decision).into();
    let files = deliverables(id, &result);
    if !files.is_empty() {
        package["deliverables"] = files.into();
    }
    package["tags"] = json!(["task"]);
    let mut source = json!({
        "protocol": "tasks",
        "kind": "task.done",
        "task_id": id.to_string(),
        "writer": writer,
        "event": number,
    });
    let named = [("agent", &result.agent), ("run_id", &result.run_id)];
    for (name, text) in named.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?))) {
        source[name] = text.as_str().into();
    }
    package[RESULT_OF] = json!({"work": id.to_string()});
    if let Some(run) = &result.run_id {
        package[RESULT_OF]["attempt"] = run.as_str().into();
    }
    if let Some(decision) = decision {
        source["decision_id"] = decision.decision_id.as_str().into();
        package[APPROVED_BY] = decision.actor.as_str().into();
    }
    package[SOURCE] = source;
    Some(package)
}

fn description(id: TaskId, result: &FinishedTask, decision: Option<&DecisionRecord>) -> String {
    let worked = match &result.agent {
        Some(agent) => format!("agent:{agent} worked on {id}"),
        None => format!("No agent reported on {id}"),
    };
    let approved = match decision {
        Some(decision) => match &decision.note {
            Some(note) => format!("{} approved it: {note}", decision.actor),
            None => format!("{} approved it", decision.actor),
        },
        None => "nobody had to approve it".to_owned(),
    };
    // What a reader sees first is what was done.
    let notes = result.notes.clone().filter(|notes| Some(notes) != result.summary.as_ref());
    let mut parts: Vec<String> = result.summary.clone().into_iter().chain(notes).collect();
    parts.push(format!("{worked}; {approved}."));
    if let Some(said) = &result.sent_back {
        let line = |said: &PersonDecision| {
            let note = said.note.as_deref().unwrap_or("without a reason");
            format!("- {}: {note}", said.by)
        };
        let lines: Vec<_> = said.iter().map(line).collect();
        parts.push(format!("Sent back before:\n{}", lines.join("\n")));
    }
    if result.outputs_hidden > 0 {
        let files = counted(result.outputs_hidden, "file");
        parts.push(format!("{files} of its outputs are not listed."));
    }
    without_credentials(&parts.join("\n\n"))
}

/// The files of a task: what lies in its folder, and what its report names.
fn deliverables(id: TaskId, result: &FinishedTask) -> Vec<Value> {
    let folder = companion(Status::Done, id);
    let kind = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        ending.filter(|it| !it.is_empty()).unwrap_or("file").to_owned()
    };
    let outputs = result.outputs.iter().filter(|file| !REPORTS.contains(&file.path.as_str()));
    let outputs = outputs.map(|file| {
        let path = format!("{folder}/{}", file.path);
        json!({"path": path, "type": kind(&file.path), "size_bytes": file.bytes})
    });
    let named = result.deliverables.iter().flatten();
    let named = named.map(|path| json!({"path": path, "type": kind(path)}));
    outputs.chain(named).collect()
}
