//! Looking at the records: accepted turns, decisions, events.

use std::collections::VecDeque;

use accord_contract::codes::Failure;
use accord_contract::wire::{Object, Value};
use accord_runs_core::RunId;

use crate::Runs;
use crate::repository::RecordFile;

/// Whose lines are wanted.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum RunChoice {
    /// Those of the run that goes on, or was the last.
    #[default]
    Current,
    /// Those of this run.
    Named(RunId),
    /// Those of all runs.
    All,
}

/// Which lines are wanted.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Query {
    /// Whose.
    pub run: RunChoice,
    /// Only so many, the newest.
    pub last: Option<usize>,
}

impl Runs {
    /// The accepted turns, the oldest first.
    ///
    /// # Errors
    /// `record_invalid`, which names the line, when one is damaged.
    pub fn history(&self, query: &Query) -> Result<Vec<Object>, Failure> {
        self.select(RecordFile::History, query, |_| true)
    }

    /// The decisions, and what else the ledger tells, the oldest first.
    pub fn decisions(&self, query: &Query) -> Result<Vec<Object>, Failure> {
        self.select(RecordFile::Ledger, query, |_| true)
    }

    /// The decisions of the repository that outlive their run.
    pub fn repo_decisions(&self) -> Result<Vec<Object>, Failure> {
        Ok(self.repository().repo_decisions()?.lines().to_vec())
    }

    /// The events, the oldest first; those of one type, where one is named.
    pub fn events(&self, query: &Query, kind: Option<&str>) -> Result<Vec<Object>, Failure> {
        self.select(RecordFile::Events, query, |line| {
            let own = line.get("event_type").and_then(Value::as_str);
            kind.is_none_or(|kind| own == Some(kind))
        })
    }

    fn select(
        &self,
        record: RecordFile,
        query: &Query,
        wanted: impl Fn(&Object) -> bool,
    ) -> Result<Vec<Object>, Failure> {
        let run = match &query.run {
            RunChoice::All => None,
            RunChoice::Named(run) => Some(run.clone()),
            RunChoice::Current => match self.state()?.run_id() {
                Some(run) => Some(run.clone()),
                None => return Ok(Vec::new()),
            },
        };
        // Lines of runners that write no run are of the run that goes on.
        let is_of_run = |line: &Object| match (&run, line.get("run_id").and_then(Value::as_str)) {
            (Some(run), Some(own)) => own == run.as_str(),
            _ => true,
        };
        let mut found = VecDeque::new();
        for line in self.repository().objects(record)? {
            let line = line?;
            if !is_of_run(&line) || !wanted(&line) {
                continue;
            }
            if query.last == Some(found.len()) {
                found.pop_front();
            }
            if query.last != Some(0) {
                found.push_back(line);
            }
        }
        Ok(found.into())
    }
}
