//! Changes of a coordinator, each written as one commit.

use accord_contract::text::pretty;
use accord_contract::{Object, Time};

use super::{Barriers, CoordinatorState, TurnContext};
use crate::accept::{Commit, Record, Recovery, Write, append, digest, recover_coordinator};
use crate::{HOME, Ids, Result};

/// The effect of an operation, to be written in one commit.
#[derive(Clone, Debug, PartialEq)]
pub struct CoordinatorChange {
    pub state: CoordinatorState,
    /// The barriers after the change.
    pub barriers: Barriers,
    pub history: Vec<Object>,
    pub barrier_ledger: Vec<Object>,
    pub decisions: Vec<Object>,
    pub context: Option<TurnContext>,
    /// Other documents: path from the workspace, and content.
    pub documents: Vec<(String, String)>,
    pub removed: Vec<String>,
}

impl CoordinatorChange {
    pub fn of_state(state: CoordinatorState, barriers: Barriers) -> Self {
        Self {
            state,
            barriers,
            history: Vec::new(),
            barrier_ledger: Vec::new(),
            decisions: Vec::new(),
            context: None,
            documents: Vec::new(),
            removed: Vec::new(),
        }
    }

    /// The commit. `before` is the state before the change. The state is written last, so that it
    /// never refers to a missing record.
    pub fn commit(&self, before: Option<&CoordinatorState>, ids: &mut Ids, now: Time) -> Commit {
        let mut state = self.state.clone();
        // The digests must include the time, or recovery would not recognize the written state.
        state.touch(now);
        let mut writes = Vec::new();
        let mut lines = |record: Record, lines: &[Object]| {
            writes.extend(lines.iter().map(|line| append(record, line)));
        };
        lines(Record::CoordinatorHistory, &self.history);
        lines(Record::BarrierLedger, &self.barrier_ledger);
        lines(Record::CoordinatorLedger, &self.decisions);
        if let Some(context) = &self.context {
            let folder = context_folder(&context.reference);
            writes.push(replace(format!("{folder}/{CONTEXT_DOCUMENT}"), pretty(&context.document)));
            writes.push(replace(format!("{folder}/{CONTEXT_MARKDOWN}"), context.markdown.clone()));
        }
        writes
            .extend(self.documents.iter().map(|(path, text)| replace(path.clone(), text.clone())));
        writes.extend(self.removed.iter().map(|path| Write::Remove { path: path.clone() }));
        // The barriers follow the lines that they were computed from.
        writes.push(replace(barriers_path(), pretty(&self.barriers.document())));
        writes.push(replace(coordinator_state_path(), pretty(&state.document())));
        let marks = (before.map(|state| digest(state.document())), digest(state.document()));
        Commit::of_coordinator(state.super_run_id(), marks, writes, ids, now)
    }
}

/// Recovers from a coordinator's journal, given the state on disk. Fails with `record_invalid` when
/// the journal is not a coordinator's. It must then not be deleted.
pub fn recover(journal: &Object, state: Option<&CoordinatorState>) -> Result<Recovery> {
    let now = state.map(|state| digest(state.document()));
    recover_coordinator(journal, now.as_deref(), &coordinator_state_path())
}

pub const CONTEXT_DOCUMENT: &str = "COORDINATOR_CONTEXT.json";

/// The context in the form that agents read.
pub const CONTEXT_MARKDOWN: &str = "COORDINATOR_CONTEXT.md";

pub fn coordinator_home() -> String {
    format!("{HOME}/multirepo")
}

pub fn coordinator_state_path() -> String {
    format!("{}/state.json", coordinator_home())
}

pub fn barriers_path() -> String {
    format!("{}/barriers.json", coordinator_home())
}

/// The path of the report that a person fills in before a blocked initiative is resumed.
pub fn recovery_report_path() -> String {
    format!("{}/RECOVERY_REPORT.md", coordinator_home())
}

pub fn context_folder(reference: &str) -> String {
    format!("{}/context/{reference}", coordinator_home())
}

fn replace(path: String, text: String) -> Write {
    Write::Replace { path, text }
}
