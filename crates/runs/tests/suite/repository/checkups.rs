//! A check-up names what is odd, and changes nothing.

use std::fs;

use accord_runs::repository::FindingKind;
use serde_json::json;

use super::support::{begun, files};

#[test]
fn everything_odd_is_named() {
    let (folder, repository) = begun();
    assert_eq!(repository.checkup().unwrap(), []);
    let write = |name: &str, text: &str| {
        let path = folder.path().join(".agentxchain").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let line = |turn: &str, run: &str| format!("{}\n", json!({"turn_id": turn, "run_id": run}));
    write("history.jsonl", &(line("t1", "run_1") + &line("t2", "run_1") + &line("t3", "run_2")));
    let decision = |id: &str, turn: &str| format!("{}\n", json!({"id": id, "turn_id": turn}));
    // The same id twice in one run, and once more in another.
    let ledger = [("DEC-001", "t1"), ("DEC-001", "t2"), ("DEC-002", "t1"), ("DEC-002", "t3")];
    write("decision-ledger.jsonl", &ledger.map(|(id, turn)| decision(id, turn)).concat());
    write("hook-audit.jsonl", "{}\nnonsense\n{\"cut\":");
    write("transactions/accept/txn_1.json", "{}");
    write("transactions/accord/txn_2.json", "{");
    write(".tmp-0123456789ab.json", "{");
    write(".tmp-0123.json", "a user's own");
    write("locks/accept-turn.lock", &json!({"owner_pid": u32::MAX}).to_string());
    write("state.json", "{");
    let before = files(folder.path());
    let found = repository.checkup().unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|finding| {
            (finding.kind, finding.path.trim_start_matches(".agentxchain/"), finding.line)
        })
        .collect();
    assert_eq!(
        found,
        [
            (FindingKind::DamagedState, "state.json", None),
            (FindingKind::DamagedLine, "hook-audit.jsonl", Some(2)),
            (FindingKind::TornLine, "hook-audit.jsonl", Some(3)),
            (FindingKind::DuplicateDecision, "decision-ledger.jsonl", None),
            (FindingKind::WaitingJournal, "transactions/accept/txn_1.json", None),
            (FindingKind::DamagedJournal, "transactions/accord/txn_2.json", None),
            (FindingKind::StaleLock, "locks/accept-turn.lock", None),
            (FindingKind::LeftTemporary, ".tmp-0123456789ab.json", None),
        ]
    );
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_journal_is_judged_as_the_process_that_finishes_it_does() {
    let (folder, repository) = begun();
    let path = folder.path().join(".agentxchain/transactions/accept/txn_1.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let run = repository.state().unwrap().unwrap().member("run_id");
    let sound = json!({"transaction_id": "txn_1", "kind": "accept_turn", "status": "prepared",
        "run_id": run, "turn_id": "turn_1", "accepted_sequence": 1,
        "history_entry": {"turn_id": "turn_1", "run_id": run}, "ledger_entries": [],
        "next_state": repository.state().unwrap().unwrap().document()});
    for (name, value, wanted) in [
        ("kind", json!("accept_turn"), FindingKind::WaitingJournal),
        ("kind", json!("explode"), FindingKind::DamagedJournal),
        ("status", json!("?"), FindingKind::DamagedJournal),
        ("history_entry", json!(null), FindingKind::DamagedJournal),
    ] {
        let mut journal = sound.clone();
        journal[name] = value;
        fs::write(&path, journal.to_string()).unwrap();
        let found = repository.checkup().unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, wanted, "{journal}");
        let finished = repository.lock(std::time::Duration::ZERO).is_ok();
        assert_eq!(finished, wanted == FindingKind::WaitingJournal, "{journal}");
    }
}
