//! What blocks the current run: its blocked reason, and turns whose worker is gone or late.

use accord_contract::{Code, Extensible};
use accord_runs_core::{Config, RunIndex, State, Status, Turn, TurnStatus, dispatch};

use super::{Finding, Level, error_of};
use crate::caller::left_running;
use crate::operations::status::has_worker;
use crate::{RecordFile, Runs, own_path};

impl Runs {
    /// The phase of a run that goes on must still be in the configuration.
    pub(super) fn check_phase(&self, state: &State, config: &Config, found: &mut Vec<Finding>) {
        let goes_on = state.run_id().is_some() && state.status() != Status::Completed;
        if !goes_on || config.phases().contains(&state.phase()) {
            return;
        }
        let (phase, phases) = (state.phase(), config.phases().join(", "));
        let message = format!("its phase {phase} is not in agentxchain.json, which has {phases}");
        let warning =
            Finding::warning("the run", message, "add the phase to agentxchain.json again");
        let code = Some(Code::XchainInvalidConfig);
        found.push(Finding { level: Level::Error, code, ..warning });
    }

    pub(super) fn check_run(&self, state: &State, findings: &mut Vec<Finding>) {
        if let Err(failure) = self.check_records(state) {
            findings.push(error_of(failure.code, "the run", failure.message));
        }
        if state.status() == Status::Blocked {
            let why = state.blocked_on().unwrap_or("an unnamed reason");
            let next = "do what is asked for, then resolve the block";
            let advice = state.recovery_action().unwrap_or(next);
            let message = format!("it is blocked on {why}");
            findings.push(Finding::warning("the run", message, advice));
        }
        for left in left_running(self.repository().root()) {
            let message =
                format!("the process {} that its worker left behind still runs", left.pid);
            let advice = format!("no decision is possible until it has ended: kill {}", left.pid);
            findings.push(Finding::warning(left.work, message, advice));
        }
        // What is wrong with git is reported by its own check.
        for (path, turn) in self.changed_since_acceptance(state).unwrap_or_default() {
            let message = format!("it changed since {turn} was accepted, and is not committed");
            let advice = "look at it with git diff; then commit or restore it yourself";
            findings.push(Finding::warning(path, message, advice));
        }
        // The check of the files reports a damaged history.
        let index = self.repository().index(state.run_id()).ok();
        for turn in state.turns() {
            let known = |index: &RunIndex| index.contains(turn.id().as_str());
            self.check_turn(turn, index.as_ref().is_some_and(known), findings);
        }
    }

    fn check_turn(&self, turn: &Turn, accepted: bool, findings: &mut Vec<Finding>) {
        let subject = format!("turn {}", turn.id());
        let mut warn = |message: String, advice: &str| {
            findings.push(Finding::warning(subject.as_str(), message, advice));
        };
        if accepted {
            let advice = "reissue it: its changes stay accepted, and a new turn continues";
            warn("the history already has it, but the state does not".into(), advice);
        }
        let now = self.environment.now();
        if let Some(deadline) = turn.deadline().filter(|deadline| *deadline < now) {
            let message = format!("it should have been done by {deadline}");
            warn(message, "check its worker; accept or reject the turn");
        }
        use TurnStatus::{Dispatched, Running, Starting};
        if !matches!(turn.status(), Extensible::Known(Dispatched | Starting | Running)) {
            return;
        }
        let folder = own_path(&dispatch::bundle_folder(turn.id()));
        let bundle = folder.map(|folder| self.repository().stat(&folder));
        if matches!(bundle, Ok(Ok(None))) {
            warn("it was dispatched but has no bundle".into(), "dispatch it again");
        }
        if let Some(worker) = turn.worker_pid().filter(|_| !has_worker(turn))
            && matches!(self.is_staged(turn.id()), Ok(false))
        {
            let message = format!("its worker, process {worker}, is gone and staged no result");
            warn(message, "continue the turn with a step, or reject it");
        }
    }

    /// Decisions of the repository are overridden by id, so an id must be unique.
    pub(super) fn check_repo_decisions(&self, findings: &mut Vec<Finding>) {
        let subject = RecordFile::RepoDecisions.path().to_string();
        // The check of the files reports a damaged line.
        let Ok(decisions) = self.repository().repo_decisions() else { return };
        for (id, runs) in decisions.repeated() {
            let runs = runs.join(", ");
            let message = format!(
                "{id} occurs more than once ({runs}); an override affects only the last one"
            );
            let advice = "delete the lines that are no longer valid";
            findings.push(Finding::warning(subject.as_str(), message, advice));
        }
    }
}
