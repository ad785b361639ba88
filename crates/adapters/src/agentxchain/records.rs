//! The operations that add to the records: decisions and accepted turns.

use accord_runs::Reading;
use accord_runs::operations::Accept;
use accord_runs::repository::{LockedRepository, RecordFile};
use accord_runs_core::RunId;
use accord_runs_core::ledger::{self, DecisionIds};
use serde_json::Value;

use super::answer;
use super::context::{CaseContext, refusal};
use crate::BadCall;

/// Appends a decision under the lock. It belongs to no turn.
pub(super) fn append(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let entry = case.call.value("entry")?;
    let checked = {
        let locked = case.lock()?;
        let taken = taken(case, &locked)?;
        let checked = ledger::check_entry(entry, |id| taken.contains(id));
        if let (Ok(_), Value::Object(entry)) = (&checked, entry) {
            locked.append(RecordFile::Ledger, std::slice::from_ref(entry))?;
        }
        checked
    };
    // Counted on disk, also after a refusal: the fixture expects that nothing was appended.
    let (length, last) = case.record(RecordFile::Ledger)?;
    match (checked, last) {
        (Ok(_), Some(last)) => Ok(answer::appended(last, length)),
        (Ok(_), None) => Err(BadCall::new("the decision is not in the ledger")),
        (Err(failure), _) => Ok(answer::not_appended(&failure, length)),
    }
}

/// The ids of the run's decisions. A line without a run id belongs to the fixture's only run.
fn taken(case: &CaseContext<'_>, locked: &LockedRepository) -> Result<DecisionIds, BadCall> {
    let state = case.state()?;
    let mut taken = DecisionIds::default();
    for line in locked.lines(RecordFile::Ledger)? {
        let line = line?.object;
        let run = line.get("run_id").and_then(Value::as_str);
        let is_own = run.is_none() || run == state.run_id().map(RunId::as_str);
        if let (true, Some(id)) = (is_own, line.get("id").and_then(Value::as_str)) {
            taken.add(id);
        }
    }
    Ok(taken)
}

pub(super) fn accept(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let repository = case.repository();
    let before = repository.state_bytes()?;
    let (turn, strict) = (Some(case.turn()?), case.leniency.strict);
    let request = Accept { turn, strict, ..Accept::default() };
    let outcome = case.runs(Reading::Lenient).accept(&request);
    let (history_length, last) = case.record(RecordFile::History)?;
    let lasting = repository.repo_decisions()?;
    let records = answer::Records { history_length, repo_decisions: lasting.lines() };
    match (outcome, last) {
        (Ok(done), Some(last)) => {
            Ok(answer::accepted(&case.state()?, last, &records, &done.accepted.warnings))
        }
        (Ok(_), None) => Err(BadCall::new("the turn is not in the history")),
        (Err(failure), _) => {
            let unchanged = before == repository.state_bytes()?;
            Ok(answer::not_accepted(&refusal(failure)?, &records, unchanged))
        }
    }
}
