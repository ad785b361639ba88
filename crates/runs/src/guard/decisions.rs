//! The record of the decisions of people, in the folder of the copies: a line each. A worker in a
//! sandbox cannot reach it, unlike the ledger.
//!
//! Invariants:
//! - the line of a decision is synced before the decision is carried out;
//! - it counts if the ledger has its id, so that a decision which was refused later does not. An
//!   adoption has no line in the ledger, and is recorded after it was carried out.

use std::collections::BTreeSet;

use accord_base::decision::DecisionRecord;
use accord_contract::{Object, Value, Wire as _};
use accord_runs_core::Result;
use accord_system::durable_step;
use accord_trees::record::RecordLines;
use accord_trees::{Disk as _, Root};

use super::Guard;
use crate::repository::{RecordFile, Repository, failure};

const DECISIONS: &str = "decisions.jsonl";
const ADOPTION: &str = "run.adopt";
const RECORD: &str = "record";

impl Guard {
    /// Writes the record of a decision that is carried out next. Without a folder for it, only the
    /// ledger has the decision.
    pub(crate) fn note_decision(&self, record: &DecisionRecord) -> Result<()> {
        if self.folder().as_os_str().is_empty() {
            return Ok(());
        }
        let line = Object::from_iter([
            ("at".into(), record.decided_at.encode()),
            ("decision".into(), record.outcome.as_str().into()),
        ]);
        append(&self.place.make()?, record, line)?;
        durable_step("run.decision");
        Ok(())
    }

    /// The decisions that were carried out, oldest first.
    pub(crate) fn decisions(&self, repository: &Repository) -> Result<Vec<DecisionRecord>> {
        let mut carried_out = BTreeSet::new();
        for ledger in [RecordFile::Ledger, RecordFile::CoordinatorLedger] {
            for line in repository.objects(ledger)? {
                let id = line?.get("decision_id").and_then(Value::as_str).map(str::to_owned);
                carried_out.extend(id);
            }
        }
        let mut seen = BTreeSet::new();
        let counts = |record: &DecisionRecord| {
            // One of a hub that was tried again after a kill has several lines.
            let is_new = seen.insert(record.decision_id.clone());
            is_new && (record.kind == ADOPTION || carried_out.contains(record.decision_id.as_str()))
        };
        Ok(self.noted()?.into_iter().filter(counts).collect())
    }

    /// The decisions that were noted, oldest first, also those that were not carried out.
    pub(crate) fn noted(&self) -> Result<Vec<DecisionRecord>> {
        let Some(root) = self.place.open()? else { return Ok(Vec::new()) };
        let lines = RecordLines::open(&root, DECISIONS, 0, 0).map_err(|error| failure(&error))?;
        // A line that is cut off, or of an earlier version, has no record.
        let records = lines.filter_map(|line| line.ok()?.object.remove(RECORD));
        Ok(records.filter_map(|record| DecisionRecord::from_document(record).ok()).collect())
    }
}

/// Adds a line with a record.
pub(super) fn append(root: &Root, record: &DecisionRecord, mut line: Object) -> Result<()> {
    line.retain(|_, value| !value.is_null());
    line.insert(RECORD.into(), record.encode());
    let line = format!("{}\n", Value::Object(line));
    let written = root.append(DECISIONS, line.as_bytes()).and_then(|()| root.sync(DECISIONS));
    written.map_err(|error| failure(&error))
}
