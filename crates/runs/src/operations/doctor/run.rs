//! What blocks the current run: its blocked reason, and turns whose worker is gone or late.

use accord_contract::{Code, Extensible};
use accord_runs_core::{Config, RunIndex, State, Status, Turn, TurnStatus, dispatch};

use super::{Finding, Level, error_of};
use crate::operations::status::has_worker;
use crate::{RecordFile, Runs, own_path};

impl Runs {
    /// The phase of a run that goes on must still be in the configuration.
    pub(super) fn check_phase(&self, state: &State, config: &Config, found: &mut Vec<Finding>) {
        let goes_on = state.run_id().is_some() && state.status() != Status::Completed;
        if !goes_on || config.phases().contains(&state.phase()) {
            return;
        }
        let phases = config.phases().join(", ");
        found.push(Finding {
            level: Level::Error,
            subject: "the run".into(),
            message: format!(
                "its phase {} is not in agentxchain.json, which has {phases}",
                state.phase()
            ),
            advice: "add the phase to agentxchain.json again".into(),
            code: Some(Code::XchainInvalidConfig),
        });
    }

    pub(super) fn check_run(&self, state: &State, findings: &mut Vec<Finding>) {
        if let Err(failure) = self.check_records(state) {
            findings.push(error_of(failure.code, "the run", failure.message));
        }
        if state.status() == Status::Blocked {
            let why = state.blocked_on().unwrap_or("an unnamed reason");
            findings.push(Finding {
                level: Level::Warning,
                subject: "the run".into(),
                message: format!("it is blocked on {why}"),
                advice: (state.recovery_action())
                    .unwrap_or("do what is asked for, then resolve the block")
                    .to_owned(),
                code: None,
            });
        }
        // The check of the files reports a damaged history.
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
                "the history already has it, but the state does not".into(),
                "reissue it: its changes stay accepted, and a new turn continues",
            );
        }
        let now = self.environment.now();
        if let Some(deadline) = turn.deadline().filter(|deadline| *deadline < now) {
            warn(
                format!("it should have been done by {deadline}"),
                "check its worker; accept or reject the turn",
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
            warn("it was dispatched but has no bundle".into(), "dispatch it again");
        }
        if let Some(worker) = turn.worker_pid().filter(|_| !has_worker(turn))
            && matches!(self.is_staged(turn.id()), Ok(false))
        {
            warn(
                format!("its worker, process {worker}, is gone and staged no result"),
                "continue the turn with a step, or reject it",
            );
        }
    }

    /// Decisions of the repository are overridden by id, so an id must be unique.
    pub(super) fn check_repo_decisions(&self, findings: &mut Vec<Finding>) {
        let subject = RecordFile::RepoDecisions.path().to_string();
        // The check of the files reports a damaged line.
        let Ok(decisions) = self.repository().repo_decisions() else { return };
        for (id, runs) in decisions.repeated() {
            let runs = runs.join(", ");
            findings.push(Finding {
                level: Level::Warning,
                subject: subject.clone(),
                message: format!(
                    "{id} occurs more than once ({runs}); an override affects only the last one"
                ),
                advice: "delete the lines that are no longer valid".into(),
                code: None,
            });
        }
    }
}
