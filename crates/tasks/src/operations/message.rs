//! A message of the protocol arrives.

use accord_contract::codes::{Code, Failure};
use accord_contract::text::pretty;
use accord_tasks_core::message::{Detected, Payload};
use accord_tasks_core::route::{Artifact, Facts, Routed, Rules, receive};
use accord_tasks_core::run::{Run, RunResult};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};

use crate::Tree;
use crate::layout::companion;
use crate::work::{Work, object};

/// What a message did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Received {
    /// The input is not for the protocol.
    NotProtocol,
    /// The message was carried out.
    Done {
        /// The task.
        task: TaskId,
        /// Its status now.
        status: Status,
        /// Why a move that the message asks for was not made.
        not_applied: Option<&'static str>,
    },
}

impl Tree {
    /// Receives an input that may be a message.
    ///
    /// # Errors
    /// The reason for which a message is refused. Its event is recorded.
    pub fn receive(&self, detected: Detected, rules: Rules) -> Result<Received, Failure> {
        if detected == Detected::Other {
            return Ok(Received::NotProtocol);
        }
        self.change(move |work| {
            let loaded = Loaded::of(work, &detected)?;
            let decided = receive(&detected, &loaded.facts(), rules, work.now());
            match decided {
                None => Ok(Received::NotProtocol),
                Some(Err(refused)) => {
                    refused.events.into_iter().for_each(|event| work.event(event));
                    Err(refused.failure)
                }
                Some(Ok(routed)) => {
                    let Some(before) = loaded.task else { return Ok(Received::NotProtocol) };
                    apply(work, &before, routed)
                }
            }
        })
    }
}

/// Writes what a message does.
pub(crate) fn apply(
    work: &mut Work<'_>,
    before: &TaskFile,
    routed: Routed,
) -> Result<Received, Failure> {
    let id = before.task().id;
    let mut after = before.clone();
    after.edit(&routed.changes).map_err(|error| invalid(&error.to_string()))?;
    if let Some(body) = &routed.body {
        after.set_body(body);
    }
    let status = after.task().status;
    if after != *before {
        work.update(before, &after)?;
    }
    for artifact in routed.artifacts {
        match artifact {
            Artifact::Run(run) => work.write_artifact(id, "run.json", &run)?,
            Artifact::Result(result) => work.write_artifact(id, "run_result.json", &result)?,
            Artifact::HandoffDocument(document) => {
                let path = format!("{}/inputs/handoff.json", companion(status, id));
                work.put(&path, pretty(&object(document)))?;
            }
            Artifact::HandoffText(text) => {
                work.put(&format!("{}/inputs/handoff.md", companion(status, id)), text)?;
            }
        }
    }
    routed.events.into_iter().for_each(|event| work.event(event));
    Ok(Received::Done { task: id, status, not_applied: routed.not_applied })
}

/// What a decision about a message needs.
struct Loaded {
    task: Option<TaskFile>,
    parent: Option<TaskFile>,
    run: Option<Run>,
    result: Option<RunResult>,
    parent_run: Option<Run>,
    has_summary: bool,
}

impl Loaded {
    fn of(work: &Work<'_>, detected: &Detected) -> Result<Self, Failure> {
        let mut loaded = Self {
            task: None,
            parent: None,
            run: None,
            result: None,
            parent_run: None,
            has_summary: true,
        };
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
                    work.exists_in(&companion(status, id), &report.summary_ref)
                });
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
        }
    }
}

pub(crate) fn invalid(why: &str) -> Failure {
    Failure::new(Code::AofTaskFileInvalid, why.to_owned())
}
