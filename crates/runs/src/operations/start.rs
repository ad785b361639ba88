//! Starts a run.

use accord_contract::{Code, Failure, Object};
use accord_runs_core::operations::RestartRun;
use accord_runs_core::run::{self, Beginning, check_records};
use accord_runs_core::{Result, RunId, State, Status, build, dispatch};

use super::RunUpdate;
use crate::run_marker::RunMarker;
use crate::{Operation, RecordFile, Runs};

/// The detail that marks lost records that a stash may have.
pub(crate) const STASHED: &str = "stashed";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// Whether a completed or blocked run may be replaced.
    pub restart: bool,
    /// Who or what starts it; `manual` if absent.
    pub provenance: Option<Object>,
    /// What the run is for. Every worker reads it.
    pub goal: Option<String>,
}

impl Runs {
    /// Checks that the records have the last run that is known: that of the last event, and that
    /// of the note in git's folder, which a stash of everything leaves.
    pub(super) fn check_records(&self, state: &State) -> Result<()> {
        let checked = check_records(state, self.last_run(state)?.as_deref());
        checked.map_err(|failure| self.with_stash(failure))
    }

    /// Marks a failure for lost records if git has a stash that may have them.
    fn with_stash(&self, failure: Failure) -> Failure {
        let marker = RunMarker::of(self.repository().root());
        match marker.filter(RunMarker::has_stash) {
            Some(_) if failure.code == Code::XchainRecordsMissing => failure.with(STASHED, true),
            _ => failure,
        }
    }

    fn last_run(&self, state: &State) -> Result<Option<String>> {
        let last = self.repository().last_lines(RecordFile::Events, 1)?;
        let run = last.last().and_then(accord_runs_core::event::run_id);
        let known = state.run_id().map(RunId::as_str);
        if run.is_some() && run != known {
            return Ok(run.map(str::to_owned));
        }
        let marker = RunMarker::of(self.repository().root());
        let missing = marker.and_then(|marker| marker.missing_in(state));
        Ok(missing.or_else(|| run.map(str::to_owned)))
    }

    /// Begins a run. Fails with `invalid_state_transition` if a run is active; `records_missing` if
    /// there was one whose records are missing; `not_for_workers` if a worker would replace a run.
    pub fn start(&self, start: &Start) -> Result<RunUpdate> {
        if start.restart {
            // It ends a block that waits for a person.
            self.authorize_nobody::<RestartRun>()?;
        }
        let mut operation = self.begin()?;
        let decisions = operation.locked.repo_decisions()?;
        let mut provenance = start.provenance.clone().unwrap_or_else(|| {
            build([("trigger", "manual".into()), ("created_by", "operator".into())])
        });
        if let Some(goal) = &start.goal {
            provenance.insert(dispatch::RUN_GOAL.to_owned(), goal.as_str().into());
        }
        let beginning = Beginning {
            restart: start.restart,
            provenance: Some(provenance),
            inherited_context: None,
            repo_decisions: decisions.active().cloned().collect(),
            last_run: self.last_run(&operation.state)?,
        };
        let now = operation.now();
        let Operation { state, config, ids, .. } = &mut operation;
        let begun = run::init(state, config, beginning, ids, now);
        let change = begun.map_err(|failure| self.with_stash(explain(failure, state)))?;
        operation.commit_update(change)
    }
}

/// Says what can be done about a run that is already there.
fn explain(mut failure: Failure, state: &State) -> Failure {
    if failure.code != Code::XchainInvalidStateTransition {
        return failure;
    }
    let run = state.run_id().map_or_else(|| "a run".to_owned(), ToString::to_string);
    failure.message = format!("{run} is {} already", state.status());
    let advice = match state.status() {
        Status::Completed | Status::Blocked => "`accord run start --restart` replaces it",
        _ => "`accord run status` shows what is next",
    };
    failure.suggesting(advice)
}
