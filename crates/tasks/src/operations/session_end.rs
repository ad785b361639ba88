//! The session of an agent ends.

use accord_base::By;
use accord_contract::{Code, Time, Wire as _};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::operations::{SessionEndAnswer, SessionEndRejection, SessionEndRequest};
use accord_tasks_core::route::{Facts, apply_result};
use accord_tasks_core::run::{Run, RunResult};
use accord_tasks_core::task::Task;
use accord_tasks_core::{Status, TaskId};

use super::apply::apply;
use crate::work::Work;
use crate::{Result, Tree};

/// A recorded result, as far as it can be read.
pub(crate) enum Recorded {
    Missing,
    Valid(Box<RunResult>),
    Invalid(String),
}

impl Tree {
    /// Applies the recorded results of tasks in progress. A result that cannot be read moves
    /// nothing and is recorded as rejected.
    /// Clauses: AOF-RS-SESSION-END, AOF-RS-INVALID-RESULT.
    pub fn session_end(&self, request: &SessionEndRequest, by: &By) -> Result<SessionEndAnswer> {
        let named = request.agent.as_deref();
        // An agent ends its own session; others may end all of them.
        let agent = if by.is_agent() || named.is_some() { Some(by.agent(named)?) } else { None };
        let (agent, task) = (agent.map(str::to_owned), request.task.clone());
        self.change(move |work| {
            let only = task.map(|task| work.resolve(&task)).transpose()?;
            let open = work.board().open().filter(|entry| entry.status == Status::InProgress);
            let ids = open.map(|entry| entry.id).filter(|id| only.is_none_or(|only| only == *id));
            let mut ids: Vec<TaskId> = ids.collect();
            ids.sort_unstable();
            let mut answer = SessionEndAnswer {
                moves: Vec::new(),
                waiting: Vec::new(),
                rejected: Vec::new(),
                notices: Vec::new(),
            };
            for id in ids {
                end(work, id, agent.as_deref(), &mut answer)?;
            }
            Ok(answer)
        })
    }
}

fn end(
    work: &mut Work<'_>,
    id: TaskId,
    agent: Option<&str>,
    answer: &mut SessionEndAnswer,
) -> Result<()> {
    // A broken file is not in the way of the others.
    let Ok(Some(file)) = work.find(id) else { return Ok(()) };
    let holder = file.task().lease.value().map(|lease| lease.agent.clone());
    if agent.is_some_and(|agent| holder.as_deref() != Some(agent)) {
        return Ok(());
    }
    let result = match recorded(work, id)? {
        Recorded::Valid(result) => *result,
        Recorded::Missing => {
            answer.waiting.push(id);
            return Ok(());
        }
        Recorded::Invalid(why) => {
            work.event(rejection(file.task(), &why, work.now()));
            let reason = Code::AofInvalidRunResult.as_str().to_owned();
            answer.rejected.push(SessionEndRejection { task_id: id, reason });
            return Ok(());
        }
    };
    let run: Option<Run> = work.artifact(id, "run.json")?;
    let (run, result) = (run.as_ref(), Some(&result));
    let facts = Facts { task: Some(&file), run, result, has_summary: true, ..Facts::default() };
    match apply_result(file.task(), &facts, None, work.now()) {
        Some(routed) => {
            // Changes that a file does not allow are not in the way of the others.
            if file.clone().edit(&routed.changes).is_err() {
                let reason = Code::AofTaskFileInvalid.as_str().to_owned();
                answer.rejected.push(SessionEndRejection { task_id: id, reason });
                return Ok(());
            }
            let applied = apply(work, &file, routed)?;
            answer.moves.extend(applied.moves);
            answer.notices.extend(applied.notices.into_iter().map(Into::into));
        }
        // The result of an earlier run says nothing about this one.
        None => answer.waiting.push(id),
    }
    Ok(())
}

/// Clauses: AOF-RS-INVALID-RESULT, AOF-RS-NO-ARTIFACTS.
pub(crate) fn recorded(work: &Work<'_>, id: TaskId) -> Result<Recorded> {
    let Some(text) = work.artifact_text(id, "run_result.json")? else {
        return Ok(Recorded::Missing);
    };
    let read = accord_canon::read(text.as_bytes()).map_err(|error| error.to_string());
    let read = read.and_then(|it| RunResult::from_document(it).map_err(|error| error.to_string()));
    Ok(match read {
        Ok(result) if result.task_id == id => Recorded::Valid(Box::new(result)),
        Ok(result) => Recorded::Invalid(format!("it is the result of {}", result.task_id)),
        Err(why) => Recorded::Invalid(why),
    })
}

pub(crate) fn rejection(task: &Task, why: &str, now: Time) -> TaskEvent {
    let agent = task.lease.value().map_or("system", |lease| lease.agent.as_str());
    TaskEvent::new(kind::REJECTED, agent, Some(task.id), now)
        .with("reason", Code::AofInvalidRunResult.as_str())
        .with("error", why)
}
