//! A run begins.

use accord_contract::codes::Failure;
use accord_contract::wire::{Object, Value};
use accord_runs_core::run::{self, Beginning};

use super::RunUpdate;
use crate::Runs;
use crate::repository::RecordFile;

/// How a run begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// Whether a run that is over or blocked may be left behind.
    pub restart: bool,
    /// Who or what begins it; `manual` when nothing is said.
    pub provenance: Option<Object>,
}

impl Runs {
    /// The run that the last event tells of.
    pub(super) fn last_event_run(&self) -> Result<Option<String>, Failure> {
        let last = self.repository().last_lines(RecordFile::Events, 1)?;
        let run = last.last().and_then(|event| event.get("run_id")?.as_str());
        Ok(run.map(str::to_owned))
    }

    /// Begins a run.
    ///
    /// # Errors
    /// `invalid_state_transition` if a run goes on already; `records_missing` if one did whose
    /// records are gone.
    pub fn start(&self, start: &Start) -> Result<RunUpdate, Failure> {
        let mut operation = self.begin()?;
        let decisions = operation.locked.repo_decisions()?;
        let provenance = start.provenance.clone().unwrap_or_else(|| {
            let manual = [
                ("trigger", Value::from("manual")),
                ("created_by", "operator".into()),
            ];
            manual
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect()
        });
        let beginning = Beginning {
            restart: start.restart,
            provenance: Some(provenance),
            inherited_context: None,
            repo_decisions: decisions.active().cloned().collect(),
            last_event_run: self.last_event_run()?,
        };
        let now = operation.now();
        let change = run::init(
            &operation.state,
            &operation.config,
            beginning,
            &mut operation.ids,
            now,
        )?;
        operation.commit_update(change)
    }
}
