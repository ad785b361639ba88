//! The program of an agent ended, and its run with it.

use accord_base::By;
use accord_canon::sha256;
use accord_contract::text::pretty;
use accord_contract::{Code, Failure, Timestamp, Value, Wire as _};
use accord_tasks_core::board::{self, ErrorClass, RetryBudget, RunFailure, Silence};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::observed::{OBSERVED, total_cost};
use accord_tasks_core::operations::{
    AgentExit, EndRunAnswer, EndRunRequest, ReleaseRequest, RunEnding, SessionEndRequest,
    TaskChanges, TaskCheck, TaskObserved,
};
use accord_tasks_core::run::{Run, RunResult, RunStatus};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::yaml::Change;
use accord_tasks_core::{Status, TaskId};
use serde_json::json;

use super::apply::{apply, invalid};
use super::worker_run::worker;
use crate::layout::{CHANGES_OF_RUN, from_root};
use crate::manifest::Settings;
use crate::report::{self, REPORT, RunOfAgent};
use crate::uploads;
use crate::work::{Work, object};
use crate::{Result, Tree};

impl Tree {
    /// Ends the run of an agent as its program left it: with the report in the folder of the task,
    /// else with a review, another attempt, or a release.
    pub fn end_run(&self, task: &str, request: &EndRunRequest, by: &By) -> Result<EndRunAnswer> {
        let agent = by.agent(request.agent.as_deref())?.to_owned();
        let task = task.to_owned();
        let task = self.read(move |work| work.resolve(&task))?;
        let run = RunOfAgent { task, agent, run_id: request.run_id.clone() };
        if let Some(observed) = &request.observed {
            self.record(&run, observed, request, by)?;
        }
        let text = request.text.as_deref().unwrap_or_default();
        let uploads = request.uploads == Some(true);
        let ended = Ending { tree: self, run, uploads, by: worker()? }.conclude(request.exit, text);
        self.change(|work| {
            work.remove_uploads();
            Ok(())
        })?;
        ended
    }

    /// Records what was observed about a run, if it is the last one of the task. What was seen on
    /// another machine is recorded as the words of who sends it. The words of an agent about its
    /// own checks do not count.
    fn record(
        &self,
        run: &RunOfAgent,
        observed: &TaskObserved,
        request: &EndRunRequest,
        by: &By,
    ) -> Result<()> {
        let elsewhere = request.uploads.filter(|uploads| *uploads);
        if (by.is_agent() && elsewhere.is_none()) || observed.run_id != run.run_id {
            let message = "what Accord observed is recorded by the process that ran the agent";
            return Err(Failure::new(Code::AofUnauthorizedAgent, message).at("/observed"));
        }
        request.changes.as_ref().map_or(Ok(()), TaskChanges::check)?;
        let changes = request.changes.as_ref().map(|changes| pretty(&object(changes.encode())));
        let (run, observed, by) = (run.clone(), observed.clone(), by.clone());
        self.change(move |work| {
            let before = work.task(run.task)?;
            // Also a run of another copy of the tree, whose checks a person runs here.
            let known = work.run_facts(run.task)?.run;
            if known.is_none_or(|known| known.run_id.as_ref() != Some(&run.run_id)) {
                return Ok(());
            }
            let earlier = before.task().metadata(OBSERVED).cloned();
            let earlier = earlier.and_then(|known| TaskObserved::from_document(known).ok());
            let earlier = earlier.filter(|known| known.run_id == run.run_id);
            let is_seen =
                |known: &TaskObserved| known.said_by.is_none() || known.checked_here == Some(true);
            // What this host saw is not replaced by what another machine says.
            if elsewhere.is_some() && earlier.as_ref().is_some_and(is_seen) {
                return Ok(());
            }
            let said_by = match elsewhere {
                Some(_) => Some(by.name().to_owned()),
                // Checks that run here, beside what the other machine said.
                None => {
                    earlier.and_then(|known| known.said_by).filter(|_| observed.said_by.is_some())
                }
            };
            let checked_here = (elsewhere.is_none() && said_by.is_some()).then_some(true);
            let mut event = TaskEvent::new(kind::OBSERVED, by.name(), Some(run.task), work.now())
                .with("runId", run.run_id.as_str())
                .with("sandbox", observed.sandbox.as_str());
            let ended =
                |check: &TaskCheck| json!({"argv": check.argv, "exitCode": check.exit_code});
            if let Some(said_by) = &said_by {
                event = event.with("saidBy", said_by.as_str());
            }
            let checks: Vec<Value> = observed.checks.iter().map(ended).collect();
            event = event.with("checks", checks);
            let cost = total_cost(before.task(), &run.run_id, observed.cost.clone());
            let work_tree = match elsewhere {
                Some(_) => observed.work_tree.clone(),
                None => from_root(work.disk().root_path(), &observed.work_tree),
            };
            let digest = changes.as_ref().map(|text| sha256(text.as_bytes()).hex());
            if let Some(text) = changes {
                work.put_in_run(run.task, CHANGES_OF_RUN, text)?;
            }
            // Checks that run again on this machine keep what is known of the other one.
            let elsewhere = elsewhere.or(observed.elsewhere);
            let changes = digest.or_else(|| observed.changes.clone());
            let observed = TaskObserved {
                cost,
                work_tree,
                elsewhere,
                changes,
                said_by,
                checked_here,
                ..observed
            };
            let mut after = before.clone();
            let changes = [
                Change::set(&["metadata", OBSERVED], observed.encode()),
                Change::set(&["updatedAt"], work.now().to_string()),
            ];
            after.edit(&changes).map_err(|error| invalid(&error.to_string()))?;
            work.update(&before, &after)?;
            work.event(event);
            Ok(())
        })
    }

    /// Whether a task is still in progress in a run.
    fn is_held(&self, run: &RunOfAgent) -> Result<bool> {
        let run = run.clone();
        self.read(move |work| Ok(held(work, &run).is_ok()))
    }
}

/// A run that ends.
struct Ending<'t> {
    tree: &'t Tree,
    run: RunOfAgent,
    /// Whether its report is among what it uploaded.
    uploads: bool,
    /// Who passes the words of the agent on.
    by: By,
}

impl Ending<'_> {
    fn conclude(&self, exit: AgentExit, text: &str) -> Result<EndRunAnswer> {
        if !self.tree.is_held(&self.run)? {
            return self.moved_on();
        }
        if let Some(payload) = self.report() {
            let message = report::envelope(self.tree, &self.run, payload);
            // The refusal is recorded as an event; the run ends like one without a report.
            if let Err(failure) = self.tree.message(&message, &self.by) {
                return self.fail(format!("{REPORT} is refused: {}", failure.message));
            }
        }
        if self.tree.is_held(&self.run)? {
            // A report may wait for the end of the session, which is now.
            self.end_session()?;
        }
        if !self.tree.is_held(&self.run)? {
            return self.moved_on();
        }
        match exit {
            AgentExit::Cancelled => self.give_back(),
            AgentExit::Success => self.ask_for_review(text),
            AgentExit::Failure => self.fail(text.to_owned()),
            AgentExit::WorkerKilled => self.reclaim(),
        }
    }

    /// The report that the agent left.
    fn report(&self) -> Option<Value> {
        let disk = self.tree.disk();
        let staged = uploads::of_run(self.run.task, &self.run.run_id);
        let found = report::read_in(disk, &staged);
        if self.uploads { found } else { found.or_else(|| report::read(disk, self.run.task)) }
    }

    /// How a run ended whose task moved on.
    fn moved_on(&self) -> Result<EndRunAnswer> {
        let run = self.run.clone();
        self.tree.change(move |work| {
            let status = work.task(run.task)?.task().status;
            let is_reported = is_reported(work, &run)?;
            let ending = if is_reported { RunEnding::Reported } else { RunEnding::Lost };
            let (task_id, error, retry_at) = (run.task, None, None);
            Ok(EndRunAnswer { task_id, ending, status, error, retry_at })
        })
    }

    /// Applies a result that waits for the end of the agent's session.
    fn end_session(&self) -> Result<()> {
        let RunOfAgent { task, agent, .. } = self.run.clone();
        let request = SessionEndRequest { agent: Some(agent), task: Some(task.to_string()) };
        self.tree.session_end(&request, &self.by).map(drop)
    }

    /// Gives the task back: it is ready again, and the run does not count.
    fn give_back(&self) -> Result<EndRunAnswer> {
        let RunOfAgent { task, agent, run_id } = self.run.clone();
        let reason = Some("released".to_owned());
        let request = ReleaseRequest { agent: Some(agent), run_id: Some(run_id), reason };
        let status = self.tree.release(&task.to_string(), &request, &self.by)?.task.status;
        let (ending, error, retry_at) = (RunEnding::Released, None, None);
        Ok(EndRunAnswer { task_id: task, ending, status, error, retry_at })
    }

    /// Reports for an agent that ended well and did not say what it did.
    fn ask_for_review(&self, last_lines: &str) -> Result<EndRunAnswer> {
        let message = report::envelope(self.tree, &self.run, report::unreported(last_lines));
        self.tree.message(&message, &self.by)?;
        if self.tree.is_held(&self.run)? {
            self.end_session()?;
        }
        self.moved_on()
    }

    /// Ends the run without a report.
    fn fail(&self, error: String) -> Result<EndRunAnswer> {
        let (run, random) = (self.run.clone(), self.tree.environment().random_number());
        self.tree.change(move |work| {
            let (file, known) = held(work, &run)?;
            let class = ErrorClass::of(&error);
            let failure = RunFailure { agent: &run.agent, error: &error, class };
            let (now, budget) = (work.now(), budget(work.settings()));
            let routed =
                board::run_failed(file.task(), known.as_ref(), &failure, budget, random, now);
            apply(work, &file, routed)?;
            let (task_id, ending) = (run.task, RunEnding::Failed);
            let after = work.task(task_id)?;
            let (status, error) = (after.task().status, Some(error));
            let retry_at = board::retry_at(after.task()).map(Timestamp::emit);
            Ok(EndRunAnswer { task_id, ending, status, error, retry_at })
        })
    }

    /// Ends the run of a worker that was killed: the task is ready again.
    fn reclaim(&self) -> Result<EndRunAnswer> {
        let run = self.run.clone();
        self.tree.change(move |work| {
            let (file, known) = held(work, &run)?;
            let (now, budget) = (work.now(), budget(work.settings()));
            let silence = Silence::WorkerKilled;
            let routed = board::reclaimed(file.task(), known.as_ref(), silence, budget, now);
            apply(work, &file, routed)?;
            let (task_id, ending) = (run.task, RunEnding::Reclaimed);
            let (status, error, retry_at) = (status(work, task_id)?, None, None);
            Ok(EndRunAnswer { task_id, ending, status, error, retry_at })
        })
    }
}

/// How often a task is run, as the project says now.
fn budget(settings: &Settings) -> RetryBudget {
    let retry = settings.manifest.as_ref().and_then(|manifest| manifest.retry.as_ref());
    let runs = retry.and_then(|retry| retry.max_attempts);
    runs.map_or_else(RetryBudget::default, |runs| RetryBudget { runs })
}

fn status(work: &Work<'_>, id: TaskId) -> Result<Status> {
    Ok(work.task(id)?.task().status)
}

/// Whether a result is recorded for a run, or the run is over because of one.
fn is_reported(work: &Work<'_>, run: &RunOfAgent) -> Result<bool> {
    let result: Option<RunResult> = work.artifact(run.task, "run_result.json")?;
    let known: Option<Run> = work.artifact(run.task, "run.json")?;
    let is_own = |id: Option<&str>| id == Some(run.run_id.as_str());
    let is_over = known.is_some_and(|known| {
        is_own(known.run_id.as_deref()) && known.status == RunStatus::Completed
    });
    Ok(is_over || result.is_some_and(|result| is_own(result.run_id.as_deref())))
}

/// The task of a run, if the run has it.
fn held(work: &Work<'_>, run: &RunOfAgent) -> Result<(TaskFile, Option<Run>)> {
    let file = work.task(run.task)?;
    let known: Option<Run> = work.artifact(run.task, "run.json")?;
    let (agent, run_id) = (run.agent.as_str(), Some(run.run_id.as_str()));
    accord_tasks_core::lease::check_holder(file.task(), known.as_ref(), agent, run_id, work.now())?;
    Ok((file, known))
}
