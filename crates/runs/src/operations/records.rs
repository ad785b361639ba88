//! Reads the records: accepted turns, decisions, events.

use std::collections::VecDeque;

use accord_contract::Object;
use accord_runs_core::{Result, RunId, event};

use crate::{RecordFile, Runs};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum RunChoice {
    #[default]
    Current,
    Named(RunId),
    All,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Query {
    pub run: RunChoice,
    /// Only so many of the newest lines.
    pub last: Option<usize>,
}

impl Runs {
    /// The accepted turns, oldest first. Fails with `record_invalid`, with the line number, if a
    /// line is damaged.
    pub fn history(&self, query: &Query) -> Result<Vec<Object>> {
        self.select(RecordFile::History, query, |_| true)
    }

    /// The decisions and other lines of the ledger, oldest first.
    pub fn decisions(&self, query: &Query) -> Result<Vec<Object>> {
        self.select(RecordFile::Ledger, query, |_| true)
    }

    /// The decisions of the repository, which outlive their run.
    pub fn repo_decisions(&self) -> Result<Vec<Object>> {
        Ok(self.repository().repo_decisions()?.lines().to_vec())
    }

    /// The events, oldest first; only those of one type if it is given.
    pub fn events(&self, query: &Query, kind: Option<&str>) -> Result<Vec<Object>> {
        let is_wanted =
            |line: &Object| kind.is_none_or(|kind| event::type_name(line) == Some(kind));
        self.select(RecordFile::Events, query, is_wanted)
    }

    fn select(
        &self,
        record: RecordFile,
        query: &Query,
        wanted: impl Fn(&Object) -> bool,
    ) -> Result<Vec<Object>> {
        let run = match &query.run {
            RunChoice::All => None,
            RunChoice::Named(run) => Some(run.clone()),
            RunChoice::Current => match self.state()?.run_id() {
                Some(run) => Some(run.clone()),
                None => return Ok(Vec::new()),
            },
        };
        // Some runners write lines without a run; they belong to the current run.
        let is_of_run = |line: &Object| match (&run, event::run_id(line)) {
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
