//! A message of the protocol arrives.

use accord_base::{By, credential};
use accord_contract::{Code, Failure, Value};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::message::{Detected, Payload, detect};
use accord_tasks_core::operations::MessageAnswer;
use accord_tasks_core::route::{Facts, Grant, receive};
use accord_tasks_core::run::{Run, RunResult};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};

use super::apply::apply;
use super::comment::since_begin;
use crate::layout::companion;
use crate::work::Work;
use crate::{Result, Tree};

/// The reason of an input that is not for the protocol.
const NOT_PROTOCOL: &str = "not_protocol";

impl Tree {
    /// Receives an input that may be a message: an envelope, an event with one in it, or a text.
    /// An agent sends for itself alone; others pass messages on. A refusal is recorded as an event.
    pub fn message(&self, input: &Value, by: &By) -> Result<MessageAnswer> {
        let detected = detect(input);
        if detected == Detected::Other {
            return Ok(not_protocol());
        }
        let (by, run_id) = (by.clone(), self.environment().run_id());
        let credentials = credential::warnings(input);
        let project = self.project().to_owned();
        self.change(move |work| {
            check_door(work, &detected, &by, &project)?;
            let loaded = match Loaded::of(work, &detected, run_id) {
                Ok(loaded) => loaded,
                // A tree that cannot be read cannot record the refusal either.
                Err(failure) if failure.code == Code::AofTaskTreeUnavailable => {
                    return Err(failure);
                }
                Err(failure) => return Err(rejected(work, &detected, &by, failure)),
            };
            match receive(&detected, &loaded.facts(), work.settings().rules(), work.now()) {
                None => Ok(not_protocol()),
                Some(Err(refused)) => {
                    refused.events.into_iter().for_each(|event| work.event(event));
                    Err(refused.failure)
                }
                Some(Ok(routed)) => {
                    let Some(before) = loaded.task else { return Ok(not_protocol()) };
                    if is_report(&detected) && before.task().status == Status::InProgress {
                        work.take_uploads(before.task().id, loaded.run.as_ref());
                    }
                    let applied = apply(work, &before, routed)?;
                    let Detected::Message(message) = &detected else { return Ok(not_protocol()) };
                    let comments = since_begin(&before, &message.envelope.from_agent);
                    Ok(MessageAnswer {
                        applied: applied.not_applied.is_none(),
                        reason: applied.not_applied.map(str::to_owned),
                        kind: Some(message.envelope.kind),
                        task_id: Some(message.envelope.task_id),
                        status: Some(applied.file.task().status),
                        moves: applied.moves,
                        notices: applied.notices.into_iter().map(Into::into).collect(),
                        warnings: [applied.warnings, credentials.clone()].concat(),
                        comments,
                    })
                }
            }
        })
    }
}

/// The members of a message that name a task, as paths.
const NAMED: [&str; 3] = ["/taskId", "/payload/taskId", "/payload/parentTaskId"];

impl Tree {
    /// A message with whole ids, where it names tasks by parts of their ids, as people and agents
    /// do. A whole id stays as it is, also that of no task.
    pub fn with_whole_ids(&self, mut message: Value) -> Result<Value> {
        let is_part = |text: &&str| TaskId::parse(text).is_err();
        let parts = NAMED.into_iter().filter_map(|path| {
            let text = message.pointer(path)?.as_str().filter(is_part)?;
            Some((path, text.to_owned()))
        });
        let parts: Vec<(&str, String)> = parts.collect();
        if parts.is_empty() {
            return Ok(message);
        }
        let whole = self.read(move |work| {
            let whole = parts.into_iter().map(|(path, part)| {
                let id = work.resolve(&part).map_err(|failure| failure.at(path))?;
                Ok((path, id))
            });
            whole.collect::<Result<Vec<_>>>()
        })?;
        for (path, id) in whole {
            if let Some(member) = message.pointer_mut(path) {
                *member = id.to_string().into();
            }
        }
        Ok(message)
    }
}

fn is_report(detected: &Detected) -> bool {
    let Detected::Message(message) = detected else { return false };
    matches!(message.payload, Payload::CompletionReport(_))
}

fn not_protocol() -> MessageAnswer {
    MessageAnswer {
        applied: false,
        reason: Some(NOT_PROTOCOL.to_owned()),
        kind: None,
        task_id: None,
        status: None,
        moves: Vec::new(),
        notices: Vec::new(),
        warnings: Vec::new(),
        comments: None,
    }
}

/// Refuses a message that an agent sends as another one, and one for another project.
fn check_door(work: &mut Work<'_>, detected: &Detected, by: &By, project: &str) -> Result<()> {
    let Detected::Message(message) = detected else { return Ok(()) };
    let envelope = &message.envelope;
    let failure = if by.is_agent() && envelope.from_agent != by.name() {
        let why = format!("{} sends a message as {}", by.name(), envelope.from_agent);
        Failure::new(Code::AofUnauthorizedAgent, why)
            .with("expected", by.name())
            .with("received", envelope.from_agent.as_str())
    } else if let Some(named) = envelope.project_id.as_deref().filter(|named| {
        let manifest = work.settings().manifest.as_ref();
        *named != project && manifest.is_some_and(|manifest| manifest.id != **named)
    }) {
        let why = format!("the message is for the project {named}, not for {project}");
        Failure::new(Code::AofInvalidProjectId, why).with("projectId", named)
    } else {
        return Ok(());
    };
    Err(rejected(work, detected, by, failure))
}

/// Clauses: AOF-ERR-EVENTS.
fn rejected(work: &mut Work<'_>, detected: &Detected, by: &By, failure: Failure) -> Failure {
    let task = match detected {
        Detected::Message(message) => Some(message.envelope.task_id),
        _ => None,
    };
    let mut event = TaskEvent::new(kind::REJECTED, by.name(), task, work.now())
        .with("reason", failure.code.as_str());
    let details = failure.details.as_deref().into_iter().flatten();
    for (name, value) in details.filter(|(name, _)| *name != "task_id") {
        event = event.with(name, value.clone());
    }
    work.event(event);
    failure
}

/// What a decision about a message needs.
#[derive(Default)]
struct Loaded {
    task: Option<TaskFile>,
    parent: Option<TaskFile>,
    run: Option<Run>,
    result: Option<RunResult>,
    parent_run: Option<Run>,
    has_summary: bool,
    grant: Option<Grant>,
}

impl Loaded {
    fn of(work: &Work<'_>, detected: &Detected, run_id: String) -> Result<Self> {
        let mut loaded = Self { has_summary: true, ..Self::default() };
        let Detected::Message(message) = detected else { return Ok(loaded) };
        let id = message.envelope.task_id;
        loaded.task = work.find(id)?;
        loaded.run = work.artifact(id, "run.json")?;
        loaded.result = work.artifact(id, "run_result.json")?;
        match &message.payload {
            Payload::HandoffRequest(request) => {
                loaded.parent = work.find(request.parent_task_id)?;
                loaded.parent_run = work.artifact(request.parent_task_id, "run.json")?;
            }
            Payload::CompletionReport(report) => {
                let status = loaded.task.as_ref().map(|file| file.task().status);
                loaded.has_summary = status.is_some_and(|status| {
                    let folder = match report.summary_ref.starts_with("outputs/") {
                        true => work.outputs_of(id, status, loaded.run.as_ref()),
                        false => companion(status, id),
                    };
                    work.exists_in(&folder, &report.summary_ref)
                });
            }
            Payload::StatusUpdate(_) => {
                let task = loaded.task.as_ref().map(TaskFile::task);
                let resource = task.and_then(|task| task.resource.as_deref());
                let is_free = resource.is_none_or(|resource| work.board().is_free(resource));
                let times = work.settings().times();
                let old_result = work.old_result(id)?;
                loaded.grant = is_free.then_some(Grant { run_id, times, old_result });
            }
            _ => {}
        }
        Ok(loaded)
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            task: self.task.as_ref(),
            parent: self.parent.as_ref(),
            run: self.run.as_ref(),
            result: self.result.as_ref(),
            parent_run: self.parent_run.as_ref(),
            has_summary: self.has_summary,
            grant: self.grant.as_ref(),
        }
    }
}
