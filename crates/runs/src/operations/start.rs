//! A run begins.

use accord_contract::codes::Failure;
use accord_contract::wire::{Object, Value};
use accord_runs_core::run::{self, Beginning};

use super::Moved;
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
    pub(super) fn told_of(&self) -> Result<Option<String>, Failure> {
        let last = self.repository().last_lines(RecordFile::Events, 1)?;
        let run = last.last().and_then(|event| event.get("run_id")?.as_str());
        Ok(run.map(str::to_owned))
    }

    /// Begins a run.
    ///
    /// # Errors
    /// With `invalid_state_transition` when a run goes on already, with `records_missing` when one
    /// did whose records are gone.
    pub fn start(&self, start: &Start) -> Result<Moved, Failure> {
        let mut work = self.begin()?;
        let decisions = work.held.repo_decisions()?;
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
            told_of: self.told_of()?,
        };
        let now = work.now();
        let change = run::init(&work.state, &work.config, beginning, &mut work.ids, now)?;
        work.moved(change)
    }
}
