//! Fuzz target for journals. Short and seeded here; for a long run:
//! `cargo bolero test -p accord-runs repository::fuzz::journals`.

use std::time::Duration;

use accord_contract::testing::mutate;
use accord_runs::repository::FindingKind;
use accord_trees::Disk as _;
use serde_json::json;

use super::support::{begin, govern, lock, simulated};

const JOURNAL: &str = ".agentxchain/transactions/accept/txn_1.json";

/// A journal is replayed or refused as damaged, as the check-up says beforehand. A refused journal
/// stays as it is; a replayed one is gone. The state can be read afterwards.
fn survives(bytes: impl FnOnce(&serde_json::Value) -> Vec<u8>) {
    let (disk, repository) = simulated();
    let held = lock(&repository);
    govern(&held);
    begin(&held).unwrap();
    drop(held);
    let state = repository.state().unwrap().unwrap();
    let run = state.run_id().unwrap().as_str();
    let bytes = bytes(&json!({
        "transaction_id": "txn_1", "kind": "accept_turn", "status": "prepared",
        "run_id": run, "turn_id": "turn_1", "accepted_sequence": 1,
        "history_entry": {"turn_id": "turn_1", "run_id": run},
        "ledger_entries": [{"id": "DEC-001", "turn_id": "turn_1"}],
        "next_state": state.document(),
    }));
    let folder = JOURNAL.rsplit_once('/').unwrap().0;
    let _ = disk.make_folder(folder).unwrap();
    assert!(disk.create(JOURNAL, &bytes).unwrap());
    let findings = repository.checkup().unwrap();
    let damaged = findings.iter().any(|found| found.kind == FindingKind::DamagedJournal);
    let replayed = repository.lock(Duration::ZERO).map(drop);
    let text = String::from_utf8_lossy(&bytes);
    assert_eq!(replayed.is_err(), damaged, "{text}: {replayed:?}");
    let kept = disk.files().get(JOURNAL).cloned();
    assert_eq!(kept, damaged.then_some(bytes.clone()), "{text}");
    assert!(repository.state().unwrap().is_some(), "{text}");
}

#[test]
fn journals() {
    bolero::check!().with_iterations(200).for_each(|input: &[u8]| {
        survives(|_| input.to_vec());
        survives(|valid| mutate(valid, input).to_string().into_bytes());
    });
}
