//! Starts a run.

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Object, Value};
use accord_runs_core::run::{self, Beginning};
use accord_runs_core::state::{State, Status};

use super::RunUpdate;
use crate::Runs;
use crate::repository::RecordFile;

/// Options of a new run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// Whether a completed or blocked run may be replaced.
    pub restart: bool,
    /// Who or what starts it; `manual` if absent.
    pub provenance: Option<Object>,
}

impl Runs {
    /// The run of the last event.
    pub(super) fn last_event_run(&self) -> Result<Option<String>, Failure> {
        let last = self.repository().last_lines(RecordFile::Events, 1)?;
        let run = last.last().and_then(accord_runs_core::event::run_id);
        Ok(run.map(str::to_owned))
    }

    /// Begins a run.
    ///
    /// # Errors
    /// `invalid_state_transition` if a run is active; `records_missing` if there was one whose
    /// records are missing.
    pub fn start(&self, start: &Start) -> Result<RunUpdate, Failure> {
        let mut operation = self.begin()?;
        let decisions = operation.locked.repo_decisions()?;
        let provenance = start.provenance.clone().unwrap_or_else(|| {
            let manual = [("trigger", Value::from("manual")), ("created_by", "operator".into())];
            manual.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
        });
        let beginning = Beginning {
            restart: start.restart,
            provenance: Some(provenance),
            inherited_context: None,
            repo_decisions: decisions.active().cloned().collect(),
            last_event_run: self.last_event_run()?,
        };
        let now = operation.now();
        let change =
            run::init(&operation.state, &operation.config, beginning, &mut operation.ids, now)
                .map_err(|failure| explain(failure, &operation.state))?;
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
