//! Writing what a decision says, and answering it.

use accord_base::By;
use accord_base::worker::{StillRunning, check_ended};
use accord_contract::text::pretty;
use accord_contract::{Code, Failure, Value};
use accord_process::{WorkerProcess, worker_processes};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::operations::{Deciding, TaskAnswer, TaskMove};
use accord_tasks_core::route::{Artifact, Notice, Routed};
use accord_tasks_core::run::Run;
use accord_tasks_core::task::{TaskFile, content_hash};
use accord_tasks_core::verbs::Subject;
use accord_tasks_core::yaml::Change;
use accord_tasks_core::{Status, TaskId};

use crate::layout::companion;
use crate::work::{Work, object};
use crate::{Result, Tree};

pub(crate) struct Applied {
    pub(crate) file: TaskFile,
    pub(crate) moves: Vec<TaskMove>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) warnings: Vec<String>,
    /// The members that were edited.
    pub(crate) changed: Vec<String>,
    pub(crate) not_applied: Option<&'static str>,
}

/// Writes what a decision about a task says.
pub(crate) fn apply(work: &mut Work<'_>, before: &TaskFile, mut routed: Routed) -> Result<Applied> {
    let id = before.task().id;
    let mut after = before.clone();
    after.edit(&routed.changes).map_err(|error| invalid(&error.to_string()))?;
    if let Some(body) = &routed.body {
        after.set_body(body);
        let hash = Change::set(&["contentHash"], content_hash(after.body()));
        after.edit(&[hash]).map_err(|error| invalid(&error.to_string()))?;
    }
    let status = after.task().status;
    let mut handoff = Vec::new();
    // The committed state of a task has its run, so that a changed run is a change of the task.
    let has_run = routed.artifacts.iter().any(|artifact| matches!(artifact, Artifact::Run(_)));
    // Run artifacts come first: the index reads the heartbeat when it takes the task over.
    for artifact in routed.artifacts {
        match artifact {
            Artifact::Run(run) => work.write_artifact(id, "run.json", &run)?,
            Artifact::Heartbeat(beat) => work.write_heartbeat(id, &beat)?,
            Artifact::Result(result) => work.write_artifact(id, "run_result.json", &result)?,
            Artifact::OldResult(name) => work.archive_result(id, &name)?,
            Artifact::HandoffDocument(document) => {
                handoff.push(("handoff.json", pretty(&object(document))));
            }
            Artifact::HandoffText(text) => handoff.push(("handoff.md", text)),
        }
    }
    if status == Status::Done && before.task().status != Status::Done {
        work.finished(before, &after)?.put_into(&mut routed.events);
    }
    if has_run || after != *before {
        work.update(before, &after)?;
    }
    for (name, text) in handoff {
        work.put(&format!("{}/inputs/{name}", companion(status, id)), text)?;
    }
    let applied = Applied {
        file: after,
        moves: moves(&routed.events),
        notices: routed.notices,
        warnings: warnings(&routed.events),
        changed: changed(&routed.events),
        not_applied: routed.not_applied,
    };
    routed.events.into_iter().for_each(|event| work.event(event));
    routed.decision.into_iter().for_each(|decision| work.decide(decision));
    Ok(applied)
}

pub(crate) fn moves(events: &[TaskEvent]) -> Vec<TaskMove> {
    let moved = |event: &TaskEvent| {
        let text = |name: &str| event.payload.get(name).and_then(Value::as_str);
        Some(TaskMove {
            task_id: event.task?,
            from: Status::parse(text("from")?)?,
            to: Status::parse(text("to")?)?,
            reason: text("reason").map(str::to_owned),
        })
    };
    events.iter().filter(|event| event.kind == kind::TRANSITIONED).filter_map(moved).collect()
}

/// The warnings that events record: the reason, and what it is about.
fn warnings(events: &[TaskEvent]) -> Vec<String> {
    let text = |event: &TaskEvent| {
        let parts = event.payload.values().filter_map(Value::as_str);
        parts.collect::<Vec<_>>().join(": ")
    };
    events.iter().filter(|event| event.kind == kind::WARNING).map(text).collect()
}

fn changed(events: &[TaskEvent]) -> Vec<String> {
    let names = |event: &TaskEvent| -> Vec<String> {
        match event.kind {
            kind::DEPENDENCY_ADDED | kind::DEPENDENCY_REMOVED => vec!["dependsOn".to_owned()],
            kind::COMMENTED => vec!["comments".to_owned()],
            _ => {
                let changes = event.payload.get("changes").and_then(Value::as_object);
                changes.into_iter().flat_map(|changes| changes.keys().cloned()).collect()
            }
        }
    };
    events.iter().flat_map(names).collect()
}

impl Tree {
    /// Decides about one task by a verb, writes that, and answers with the task.
    pub(crate) fn by_verb(
        &self,
        task: &str,
        by: &By,
        decide: impl FnOnce(&Work<'_>, &TaskFile, &Subject<'_>) -> Result<Routed> + Send + 'static,
    ) -> Result<TaskAnswer> {
        self.by_checked(task, by, |_, _, _| Ok(()), decide)
    }

    /// The same for a decision of a person. Fails with `worker_still_runs` while a process of the
    /// task's worker could change what is decided.
    pub(crate) fn by_decision(
        &self,
        task: &str,
        request: &impl Deciding,
        by: &By,
        decide: impl FnOnce(&Work<'_>, &TaskFile, &Subject<'_>) -> Result<Routed> + Send + 'static,
    ) -> Result<TaskAnswer> {
        let despite = request.despite_leftovers();
        let check = move |work: &Work<'_>, file: &TaskFile, by: &mut By| {
            check_worker_ended(work, file, despite, by)
        };
        self.by_checked(task, by, check, decide)
    }

    fn by_checked(
        &self,
        task: &str,
        by: &By,
        check: impl FnOnce(&Work<'_>, &TaskFile, &mut By) -> Result<()> + Send + 'static,
        decide: impl FnOnce(&Work<'_>, &TaskFile, &Subject<'_>) -> Result<Routed> + Send + 'static,
    ) -> Result<TaskAnswer> {
        let (task, mut by, project) = (task.to_owned(), by.clone(), self.project().to_owned());
        let (draft, applied) = self.change(move |work| {
            let id = work.resolve(&task)?;
            let file = work.task_for(id, &by)?;
            check(work, &file, &mut by)?;
            let run: Option<Run> = work.artifact(id, "run.json")?;
            let about = Subject { task: file.task(), run: run.as_ref(), by: &by, now: work.now() };
            let routed = decide(work, &file, &about)?;
            let applied = apply(work, &file, routed)?;
            let facts = work.run_facts(id)?;
            Ok((work.draft(&project, &applied.file, facts), applied))
        })?;
        Ok(TaskAnswer {
            task: draft.details(),
            moves: applied.moves,
            changed: applied.changed,
            notices: applied.notices.into_iter().map(Into::into).collect(),
            warnings: applied.warnings,
        })
    }
}

/// Checks that no process of the task's worker can change what a person decides about: one that was
/// left behind, or, while the task is in review, any.
pub(crate) fn check_worker_ended(
    work: &Work<'_>,
    file: &TaskFile,
    despite: bool,
    by: &mut By,
) -> Result<()> {
    let (name, status) = (file.task().id.to_string(), file.task().status);
    let matters = |process: &WorkerProcess| {
        process.name == name && (process.is_left || status == Status::Review)
    };
    let running = worker_processes(work.disk().root_path()).into_iter().filter(matters);
    let running = running.map(|it| StillRunning { work: it.name, pid: it.pid, start: it.start });
    check_ended(&running.collect::<Vec<_>>(), despite, &mut by.presence)
}

/// Checks that a title is one line: it stands in lists and headings.
pub(crate) fn check_title(title: &str) -> Result<()> {
    let is_break = |letter: char| letter.is_control() || "\u{2028}\u{2029}".contains(letter);
    if !title.trim().is_empty() && !title.contains(is_break) {
        return Ok(());
    }
    let message = "a title is one line of text; put the rest into the body";
    Err(Failure::new(Code::WireFieldValue, message).at("/title"))
}

pub(crate) fn invalid(why: &str) -> Failure {
    Failure::new(Code::AofTaskFileInvalid, why.to_owned())
}

/// The task that a text names. If there is none, the failure has a code of its own.
pub(crate) fn resolve_as(work: &Work<'_>, text: &str, missing: Code) -> Result<TaskId> {
    work.resolve(text).map_err(|mut failure| {
        if failure.code == Code::AofTaskNotFound {
            failure.code = missing;
        }
        failure
    })
}

pub(crate) fn resolve_all(work: &Work<'_>, texts: &[String]) -> Result<Vec<TaskId>> {
    let mut ids = Vec::new();
    for text in texts {
        let id = resolve_as(work, text, Code::AofDependencyNotFound)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}
