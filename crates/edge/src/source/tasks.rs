//! A task tree: the events of this copy, tasks that wait for a person, and finished ones.

use std::path::{Path, PathBuf};

use accord_api::operations::edges::{EdgeEntry, EdgeEntryKind};
use accord_base::inbox::kind;
use accord_base::{Actor, ActorType, By, Door};
use accord_contract::{Object, Timestamp, Value, Wire as _};
use accord_outbox::evidence::{self, ChangedFile};
use accord_outbox::{Waiting, decision};
use accord_tasks::event_log::{EventLine, EventPlace, events_after};
use accord_tasks::{Environment, Tree};
use accord_tasks_core::Status;
use accord_tasks_core::operations::{ListQuery, ShowAnswer, ShowQuery};

use super::Scan;
use crate::Result;

/// How many events are read together.
const PAGE: usize = 256;
/// The most tasks that wait.
const MOST: u32 = 500;
/// The most tasks that are handed to people.
const MOST_HANDED: usize = 100;
/// The files of a tree.
const FILES: [&str; 2] = ["project.yaml", "tasks"];

pub(super) fn open(folder: &Path) -> Result<Option<(PathBuf, Tree)>> {
    let Ok(folder) = folder.canonicalize() else { return Ok(None) };
    let is_tree = |above: &&Path| FILES.iter().all(|name| above.join(name).exists());
    let Some(root) = folder.ancestors().find(is_tree) else { return Ok(None) };
    let project = Tree::project_in(root)?;
    let environment = Environment::system();
    let environment = environment.with_state_folder(accord_process::user_state_folder());
    Ok(Some((root.to_owned(), Tree::open(root, &project, environment)?)))
}

/// Events of this copy that the outbox does not have. Those of other copies came with git, and are
/// sent from where they happened.
pub(super) fn happened(tree: &Tree, scan: &Scan<'_>) -> Result<Vec<EdgeEntry>> {
    let known = scan.outbox.and_then(|outbox| outbox.last_id(EdgeEntryKind::Event));
    let number = known.and_then(|id| id.parse().ok()).unwrap_or(0);
    let (mut place, mut found) = (EventPlace { number, log: None }, Vec::new());
    loop {
        let (lines, next) = events_after(tree, place, PAGE)?;
        if lines.is_empty() {
            return Ok(found);
        }
        for line in &lines {
            found.push(event(line, scan));
            found.extend(result(tree, line, scan));
        }
        place = next;
    }
}

fn event(line: &EventLine, scan: &Scan<'_>) -> EdgeEntry {
    let mut names = vec!["actor", "taskId"];
    if evidence::sends_summary(scan.send()) {
        names.push("payload");
    }
    let named = |name: &&str| Some(((*name).to_owned(), line.object.get(*name)?.clone()));
    let body = names.iter().filter_map(named).collect();
    entry(EdgeEntryKind::Event, number(line), &line.kind, line.at, body)
}

/// With zeros, so that the last id is that of the newest event.
fn number(line: &EventLine) -> String {
    format!("{:020}", line.number)
}

fn entry(
    kind: EdgeEntryKind,
    id: String,
    type_name: &str,
    at: accord_contract::Time,
    body: Object,
) -> EdgeEntry {
    let (at, type_name) = (Timestamp::emit(at), type_name.to_owned());
    EdgeEntry { seq: 0, kind, id, type_name, at, body, extra: Object::new() }
}

/// The result of a task that an event finished.
fn result(tree: &Tree, line: &EventLine, scan: &Scan<'_>) -> Option<EdgeEntry> {
    scan.choice?;
    let to = line.object.get("payload")?.get("to")?.as_str()?;
    if to != Status::Done.as_str() {
        return None;
    }
    let task = line.object.get("taskId")?.as_str()?;
    let mut body = Object::new();
    body.insert("task_id".into(), task.into());
    if let Ok(shown) = shown(tree, task)
        && evidence::sends_summary(scan.send())
    {
        body.insert("title".into(), shown.task.title.as_str().into());
        body.extend(document(&shown, scan));
    }
    let id = format!("{task}/{}", number(line));
    Some(entry(EdgeEntryKind::Result, id, "task.done", line.at, body))
}

fn shown(tree: &Tree, task: &str) -> Result<ShowAnswer> {
    tree.show(task, &ShowQuery { without_body: true }, &reader()?)
}

fn reader() -> Result<By> {
    let id = "accord".parse().map_err(accord_contract::Failure::from)?;
    Ok(By::new(Actor::new(id, ActorType::Script), Door::Cli))
}

/// Tasks that wait for a decision, and tasks that cannot go on.
pub(super) fn waiting(tree: &Tree, scan: &Scan<'_>) -> Result<Vec<Waiting>> {
    let status = vec![Status::Review, Status::Blocked, Status::Deadletter];
    let asked = ListQuery { status: Some(status), limit: Some(MOST), ..ListQuery::default() };
    let mut found = Vec::new();
    for item in tree.list(&asked, &reader()?)?.tasks {
        let task = item.id.to_string();
        let shown = shown(tree, &task)?;
        let (status, since) = (item.status.as_str(), item.since);
        let id = format!("{task}/{status}/{since}");
        let version = shown.evidence.clone();
        let mut body = Object::new();
        body.insert("task_id".into(), task.as_str().into());
        body.insert("digest".into(), version.as_str().into());
        let type_name = format!("task.{status}");
        let verbs = scan.verbs(&type_name);
        let is_known = scan.outbox.is_some_and(|outbox| outbox.is_open(&id, &version));
        let is_known = is_known && verbs.is_empty();
        if !verbs.is_empty() {
            body.insert(decision::VERBS.into(), verbs.into());
        }
        let title = match evidence::sends_summary(scan.send()) {
            true => format!("Task {task} is in {status}: {}", item.title),
            false => format!("Task {task} is in {status}"),
        };
        body.insert("title".into(), title.into());
        if evidence::sends_summary(scan.send()) && !is_known {
            body.extend(document(&shown, scan));
        }
        let kind = EdgeEntryKind::Request;
        found.push(Waiting { kind, id, version, type_name, at: since, body });
    }
    for item in tree.handed_over()?.into_iter().take(MOST_HANDED) {
        let shown = shown(tree, &item.subject)?;
        let version = shown.evidence.clone();
        let id = format!("{}/handoff/{}", item.subject, item.opening);
        let mut body = Object::new();
        body.insert("task_id".into(), item.subject.as_str().into());
        body.insert("digest".into(), version.as_str().into());
        let title = match evidence::sends_summary(scan.send()) {
            true => format!("{}: {}", item.title, shown.task.title),
            false => item.title,
        };
        body.insert("title".into(), title.into());
        let is_known = scan.outbox.is_some_and(|outbox| outbox.is_open(&id, &version));
        if evidence::sends_summary(scan.send()) && !is_known {
            body.extend(document(&shown, scan));
        }
        let (type_name, at) = (kind::TASK_HANDOFF.to_owned(), Timestamp::emit(item.since));
        found.push(Waiting { kind: EdgeEntryKind::Request, id, version, type_name, at, body });
    }
    Ok(found)
}

/// The task as it is shown, and its outputs as files.
fn document(shown: &ShowAnswer, scan: &Scan<'_>) -> Object {
    let outputs = shown.outputs.iter().map(|output| ChangedFile {
        path: output.path.clone(),
        size: Some(output.bytes),
        sha256: output.sha256.clone(),
        ..ChangedFile::default()
    });
    let mut document = scan.files(&outputs.collect::<Vec<_>>());
    // No difference is made of outputs.
    document.insert("diff".into(), evidence::NOT_SENT.into());
    let mut shown = shown.encode();
    if let Some(members) = shown.as_object_mut() {
        for name in ["outputs", "root", "evidence"] {
            members.remove(name);
        }
        document.append(members);
    }
    document.retain(|_, value| *value != Value::Null);
    document
}
