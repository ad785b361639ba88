//! What stands in the way of the run that is there: a block, turns whose worker is gone or late.

use accord_contract::wire::{Extensible, Value};
use accord_runs_core::dispatch;
use accord_runs_core::history::RunIndex;
use accord_runs_core::run::check_records;
use accord_runs_core::state::{State, Status, Turn, TurnStatus};

use super::{Finding, Level, error_of};
use crate::Runs;
use crate::operation::own_path;
use crate::operations::status::has_worker;
use crate::repository::RecordFile;

impl Runs {
    pub(super) fn check_run(&self, state: &State, findings: &mut Vec<Finding>) {
        let last_event_run = self.last_event_run().ok().flatten();
        if let Err(failure) = check_records(state, last_event_run.as_deref()) {
            findings.push(error_of(failure.code, "the run", failure.message));
        }
        if state.status() == Status::Blocked {
            let why = state
                .blocked_on()
                .unwrap_or("something that it does not name");
            let reason = state.member("blocked_reason");
            let action = reason.pointer("/recovery/recovery_action");
            let action = action.and_then(Value::as_str);
            findings.push(Finding {
                level: Level::Warning,
                subject: "the run".into(),
                message: format!("it is blocked on {why}"),
                advice: action
                    .unwrap_or("do what is asked for, then resolve the block")
                    .to_owned(),
                code: None,
            });
        }
        // A damaged history is among what is found in the files.
        let index = self.repository().index(state.run_id()).ok();
        for turn in state.turns() {
            let known = |index: &RunIndex| index.contains(turn.id().as_str());
            self.check_turn(turn, index.as_ref().is_some_and(known), findings);
        }
    }

    fn check_turn(&self, turn: &Turn, accepted: bool, findings: &mut Vec<Finding>) {
        let mut warn = |message: String, advice: &str| {
            findings.push(Finding {
                level: Level::Warning,
                subject: format!("turn {}", turn.id()),
                message,
                advice: advice.to_owned(),
                code: None,
            });
        };
        if accepted {
            warn(
                "the history has it already, and the state does not know".into(),
                "have it reissued: what it did stays accepted, and a new turn goes on",
            );
        }
        let now = self.environment.now();
        if let Some(deadline) = turn.deadline().filter(|deadline| *deadline < now) {
            warn(
                format!("it should have been done by {deadline}"),
                "look what its worker does; accept or reject the turn",
            );
        }
        let out = matches!(
            turn.status(),
            Extensible::Known(TurnStatus::Dispatched | TurnStatus::Starting | TurnStatus::Running)
        );
        if !out {
            return;
        }
        let folder = own_path(&dispatch::bundle_folder(turn.id()));
        let bundle = folder.map(|folder| self.repository().stat(&folder));
        if matches!(bundle, Ok(Ok(None))) {
            warn(
                "it was handed to its worker and has no bundle".into(),
                "dispatch it again",
            );
        }
        let worker = turn.member("worker_pid").and_then(Value::as_u64);
        if let Some(worker) = worker.filter(|_| !has_worker(turn))
            && matches!(self.is_staged(turn.id()), Ok(false))
        {
            warn(
                format!("its worker, process {worker}, is gone and staged no result"),
                "carry the turn on with a step, or reject it",
            );
        }
    }

    /// Decisions that outlive their run are overridden by their id, which must name one.
    pub(super) fn check_repo_decisions(&self, findings: &mut Vec<Finding>) {
        let subject = RecordFile::RepoDecisions.path().to_string();
        // A damaged line is among what is found in the files.
        let Ok(decisions) = self.repository().repo_decisions() else {
            return;
        };
        for (id, runs) in decisions.repeated() {
            let runs = runs.join(", ");
            findings.push(Finding {
                level: Level::Warning,
                subject: subject.clone(),
                message: format!(
                    "{id} occurs more than once ({runs}); an override affects only the last one"
                ),
                advice: "delete the lines that do not hold any more".into(),
                code: None,
            });
        }
    }
}
