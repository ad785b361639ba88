//! The operations that add to the records: decisions and accepted turns.

use accord_runs::Reading;
use accord_runs::operations::Accept;
use accord_runs::repository::{LockedRepository, RecordFile};
use accord_runs_core::RunId;
use accord_runs_core::fixture::answer;
use accord_runs_core::ledger::{self, DecisionIds};
use serde_json::Value;

use super::site::{Site, refusal};
use super::workspace::trouble;
use crate::BadCall;

/// Appends a decision, under the lock, as a part of no turn.
pub(super) fn append(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let entry = site.call.value("entry")?;
    let checked = {
        let held = site.hold()?;
        let taken = taken(site, &held)?;
        let checked = ledger::check_entry(entry, |id| taken.contains(id));
        if let (Ok(_), Value::Object(entry)) = (&checked, entry) {
            let lines = [entry.clone()];
            held.append(RecordFile::Ledger, &lines).map_err(trouble)?;
        }
        checked
    };
    let (length, last) = site.record(RecordFile::Ledger)?;
    match (checked, last) {
        (Ok(_), Some(last)) => Ok(answer::appended(last, length)),
        (Ok(_), None) => Err(BadCall::new("the decision is not in the ledger")),
        (Err(failure), _) => Ok(answer::not_appended(&failure, length)),
    }
}

/// The ids of the run's decisions. A line that names no run is of the only one that a fixture has.
fn taken(site: &Site<'_>, held: &LockedRepository) -> Result<DecisionIds, BadCall> {
    let state = site.state()?;
    let mut taken = DecisionIds::default();
    for line in held.lines(RecordFile::Ledger).map_err(trouble)? {
        let line = line.map_err(trouble)?.object;
        let run = line.get("run_id").and_then(Value::as_str);
        let is_own = run.is_none() || run == state.run_id().map(RunId::as_str);
        if let (true, Some(id)) = (is_own, line.get("id").and_then(Value::as_str)) {
            taken.add(id);
        }
    }
    Ok(taken)
}

/// Accepts the staged result of a turn.
pub(super) fn accept(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let repository = site.repository();
    let before = repository.state_bytes().map_err(trouble)?;
    let request = Accept {
        turn: Some(site.turn()?),
        strict: site.leniency.strict,
        ..Accept::default()
    };
    let outcome = site.runs(Reading::Lenient).accept(&request);
    let (history_length, last) = site.record(RecordFile::History)?;
    let lasting = repository.repo_decisions().map_err(trouble)?;
    let records = answer::Records {
        history_length,
        repo_decisions: lasting.lines(),
    };
    match (outcome, last) {
        (Ok(done), Some(last)) => {
            let warnings = &done.accepted.warnings;
            Ok(answer::accepted(&site.state()?, last, &records, warnings))
        }
        (Ok(_), None) => Err(BadCall::new("the turn is not in the history")),
        (Err(failure), _) => {
            let unchanged = before == repository.state_bytes().map_err(trouble)?;
            let failure = refusal(failure)?;
            Ok(answer::not_accepted(&failure, &records, unchanged))
        }
    }
}
