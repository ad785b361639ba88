//! A new task.

use std::collections::HashMap;

use accord_base::By;
use accord_contract::{Code, Failure, Object, Value};
use accord_tasks_core::board::Waits;
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::observed::{CHECKS_OF, OBSERVED, check_lists};
use accord_tasks_core::operations::{CreateRequest, TaskAnswer};
use accord_tasks_core::task::{
    DUE, Priority, TaskFile, check_due, content_hash, split_comments, with_section,
};
use accord_tasks_core::verbs::REWORKS;
use accord_tasks_core::{Status, TaskId};
use serde_json::json;

use super::apply::{check_title, invalid, resolve_all, resolve_as};
use crate::view::RunFacts;
use crate::work::{Work, object};
use crate::{Result, Tree};

/// Members of the metadata by which Accord decides. A request sets them by members of its own.
const OWN: &[&str] = &[
    "reviewRequired",
    "reviewBy",
    "approval",
    "sentBack",
    "cancellation",
    "resurrection",
    "reopening",
    "adoption",
    "failedBy",
    KEY,
    "delegationDepth",
    "forcedReady",
    "retryCount",
    "retryAt",
    "rateLimitCount",
    "blockReason",
    "blockedBy",
    "unroutedSince",
    CHECKS_OF,
    OBSERVED,
    REWORKS,
];

/// The member of the metadata with the key of a task.
pub(crate) const KEY: &str = "createKey";

impl Tree {
    /// Creates a task. One that waits for tasks is never ready at once. A key that a task has
    /// already creates nothing.
    pub fn create(&self, request: &CreateRequest, by: &By) -> Result<TaskAnswer> {
        check(request, by)?;
        let (request, by, project) = (request.clone(), by.clone(), self.project().to_owned());
        let (aof_id, random) = (self.aof_id(), self.environment().random());
        let (draft, warnings) = self.change(move |work| {
            let known = request.key.as_ref().and_then(|key| keys(work).remove(key));
            if let Some(id) = known {
                let (file, facts) = (work.read(id)?, work.run_facts(id)?);
                let warning = format!("exists: {id} has this key");
                return Ok((work.draft(&project, &file, facts), vec![warning]));
            }
            let depends_on = resolve_all(work, request.depends_on.as_deref().unwrap_or_default())?;
            let parent = request.parent.as_deref();
            let parent = parent.map(|text| resolve_as(work, text, Code::AofParentNotFound));
            let parent = parent.transpose()?;
            let status = status_of(work, &request, &depends_on);
            let id = work.next_id(random)?;
            let new = New { request: &request, id, status, depends_on, parent };
            let file = new.file(work, &aof_id, &by)?;
            stage(work, &file, &by)?;
            let mut warnings = Vec::new();
            if request.ready == Some(true) && status != Status::Ready {
                warnings.push("not_ready: it waits for other tasks".to_owned());
            }
            let waits = work.board().entry(id).map(|entry| work.board().waits(entry));
            if let Some(Waits::Forever(why)) = waits {
                warnings.push(format!("dependency_impossible: {why}"));
            }
            // A new task has no run.
            Ok((work.draft(&project, &file, RunFacts::default()), warnings))
        })?;
        Ok(TaskAnswer {
            task: draft.details(),
            moves: Vec::new(),
            changed: Vec::new(),
            notices: Vec::new(),
            warnings,
        })
    }
}

/// The status of a new task: ready if that is asked for and nothing is waited for.
pub(crate) fn status_of(work: &Work<'_>, request: &CreateRequest, needs: &[TaskId]) -> Status {
    let is_met = needs.iter().all(|id| work.board().status(*id) == Some(Status::Done));
    if request.ready == Some(true) && is_met { Status::Ready } else { Status::Backlog }
}

/// Writes a new task, and the event that says so.
pub(crate) fn stage(work: &mut Work<'_>, file: &TaskFile, by: &By) -> Result<()> {
    let task = file.task();
    let event = TaskEvent::new(kind::CREATED, by.name(), Some(task.id), work.now())
        .with("title", task.title.as_str())
        .with("priority", task.urgency().as_str())
        .with("routing", file.members().get("routing").cloned().unwrap_or_default());
    work.create(file)?;
    work.event(event);
    Ok(())
}

/// The tasks that have a key. Those whose files cannot be read are not among them.
pub(crate) fn keys(work: &Work<'_>) -> HashMap<String, TaskId> {
    let closed = work.board().closed().map(|(id, _)| id);
    let mut ids: Vec<TaskId> = work.board().open().map(|entry| entry.id).chain(closed).collect();
    ids.sort_unstable();
    let mut found = HashMap::new();
    for id in ids {
        let file = work.peek(id).ok().flatten();
        let key = file.and_then(|file| Some(file.task().metadata(KEY)?.as_str()?.to_owned()));
        if let Some(key) = key {
            found.entry(key).or_insert(id);
        }
    }
    found
}

/// A new task, with what its request names.
pub(crate) struct New<'r> {
    pub(crate) request: &'r CreateRequest,
    pub(crate) id: TaskId,
    pub(crate) status: Status,
    pub(crate) depends_on: Vec<TaskId>,
    pub(crate) parent: Option<TaskId>,
}

impl New<'_> {
    pub(crate) fn file(&self, work: &Work<'_>, aof_id: &str, by: &By) -> Result<TaskFile> {
        let (named, needs) = ((self.id, self.status), self.depends_on.as_slice());
        let (members, body) = members(work, aof_id, self.request, named, needs, self.parent, by);
        TaskFile::write(members, &body).map_err(|why| invalid(&why.to_string()))
    }
}

/// Checks what needs no tree.
pub(crate) fn check(request: &CreateRequest, by: &By) -> Result<()> {
    check_title(&request.title)?;
    if request.review_required == Some(false) || request.review_by.is_some() {
        by.check_person("create a task without a review")?;
    }
    check_lists(request.checks.as_deref().unwrap_or_default())?;
    request.due.as_deref().map_or(Ok(()), check_due)?;
    if !split_comments(&body(request)).1.is_empty() {
        let message = "comments are added to a task that exists, by those who make them";
        return Err(Failure::new(Code::WireFieldValue, message).at("/body"));
    }
    let metadata = request.metadata.as_ref();
    let own = OWN.iter().find(|name| metadata.is_some_and(|members| members.contains_key(**name)));
    match own {
        None => Ok(()),
        Some(name) => {
            let message = format!("metadata.{name} is set by Accord alone");
            Err(Failure::new(Code::WireFieldValue, message).at(format!("/metadata/{name}")))
        }
    }
}

/// The front matter and the body of a new task.
fn members(
    work: &Work<'_>,
    aof_id: &str,
    request: &CreateRequest,
    (id, status): (TaskId, Status),
    depends_on: &[TaskId],
    parent: Option<TaskId>,
    by: &By,
) -> (Object, String) {
    let now = work.now().to_string();
    let defaults = work.settings().manifest.as_ref().and_then(|m| m.defaults.as_ref());
    let priority = request.priority.or(defaults.and_then(|defaults| defaults.priority));
    let team = request.team.as_deref();
    let is_routed = request.agent.is_some() || request.role.is_some() || team.is_some();
    let team = team.or(defaults.and_then(|d| d.team.as_deref()).filter(|_| !is_routed));
    let mut routing = Object::new();
    for (name, value) in
        [("role", request.role.as_deref()), ("team", team), ("agent", request.agent.as_deref())]
    {
        if let Some(value) = value {
            routing.insert(name.into(), value.into());
        }
    }
    routing.insert("tags".into(), request.tags.clone().unwrap_or_default().into());
    let mut members = object(json!({
        "schemaVersion": 1,
        "id": id.to_string(),
        "project": aof_id,
        "title": request.title,
        "status": status.as_str(),
        "priority": priority.unwrap_or(Priority::Normal).as_str(),
        "routing": routing,
    }));
    members.extend(sla(work, request).map(|sla| ("sla".to_owned(), Value::Object(sla))));
    for name in ["createdAt", "updatedAt", "lastTransitionAt"] {
        members.insert(name.into(), now.as_str().into());
    }
    members.insert("createdBy".into(), by.name().into());
    members.extend(parent.map(|parent| ("parentId".to_owned(), parent.to_string().into())));
    let needed: Vec<String> = depends_on.iter().map(ToString::to_string).collect();
    members.insert("dependsOn".into(), needed.into());
    let body = body(request);
    members.insert("contentHash".into(), content_hash(body.trim()).into());
    let mut metadata = request.metadata.clone().unwrap_or_default();
    metadata.extend(request.review_required.map(|is| ("reviewRequired".to_owned(), is.into())));
    metadata.extend(request.key.as_deref().map(|key| (KEY.to_owned(), key.into())));
    metadata.extend(request.due.as_deref().map(|due| (DUE.to_owned(), due.into())));
    metadata.extend(request.review_by.map(|by| ("reviewBy".to_owned(), by.as_str().into())));
    metadata.extend(request.checks.clone().map(|lists| (CHECKS_OF.to_owned(), lists.into())));
    members.insert("metadata".into(), Value::Object(metadata));
    let resource = request.resource.as_deref();
    members.extend(resource.map(|resource| ("resource".to_owned(), resource.into())));
    (members, body)
}

/// How long the task may take: as the request says, else as the project says.
fn sla(work: &Work<'_>, request: &CreateRequest) -> Option<Object> {
    let usual = work.settings().manifest.as_ref().and_then(|manifest| manifest.sla.as_ref());
    let longest = usual.and_then(|usual| usual.default_max_in_progress_ms);
    let action = usual.and_then(|usual| usual.on_violation);
    let mut sla = Object::new();
    let (longest, action) =
        (request.max_in_progress_ms.or(longest), request.on_violation.or(action));
    sla.extend(longest.map(|ms| ("maxInProgressMs".to_owned(), ms.into())));
    sla.extend(action.map(|action| ("onViolation".to_owned(), action.as_str().into())));
    (!sla.is_empty()).then_some(sla)
}

fn body(request: &CreateRequest) -> String {
    let mut body = request.body.clone().unwrap_or_default();
    for (heading, text) in
        [("Instructions", &request.instructions), ("Guidance", &request.guidance)]
    {
        if let Some(text) = text {
            body = with_section(&body, heading, text);
        }
    }
    body
}
