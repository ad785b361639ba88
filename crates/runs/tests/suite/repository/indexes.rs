//! The index says what the records say, and costs little when they are long.

use std::fs;
use std::sync::Arc;

use accord_contract::{Code, Object};
use accord_runs::repository::{LockedRepository, RecordFile, Repository};
use accord_runs_core::RunId;
use accord_runs_core::history::RunIndex;
use accord_trees::testing::SimDisk;
use serde_json::json;

use super::support::{files, lock, object};

const INDEX: &str = ".agentxchain/transactions/index/run.json";

fn run() -> RunId {
    RunId::parse("run_1").unwrap()
}

fn turns(range: std::ops::Range<u64>) -> (Vec<Object>, Vec<Object>) {
    let history = range.clone().map(|number| {
        let turn = format!("turn_{number}");
        object(json!({"turn_id": turn, "run_id": "run_1", "role": "dev", "phase": "qa",
            "files_changed": [format!("src/{}.rs", number % 50)], "summary": "x".repeat(500),
            "accepted_sequence": number}))
    });
    let ledger = range.map(|number| {
        object(json!({"id": format!("DEC-{number}"), "turn_id": format!("turn_{number}")}))
    });
    (history.collect(), ledger.collect())
}

fn add(held: &LockedRepository, range: std::ops::Range<u64>) {
    let (history, ledger) = turns(range);
    held.append(RecordFile::History, &history).unwrap();
    held.append(RecordFile::Ledger, &ledger).unwrap();
}

/// The index of that many turns, made from nothing.
fn made(count: u64) -> RunIndex {
    let (history, ledger) = turns(0..count);
    let mut index = RunIndex::new(Some(&run()));
    history.iter().for_each(|line| index.add_history(line, None));
    ledger.iter().for_each(|line| index.add_ledger(line));
    index
}

#[test]
fn an_index_is_kept_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    let held = lock(&repository);
    add(&held, 0..10);
    assert_eq!(held.index(Some(&run())).unwrap(), made(10));
    assert!(!folder.path().join(INDEX).exists());
    add(&held, 10..300);
    assert_eq!(held.index(Some(&run())).unwrap(), made(300));
    assert!(folder.path().join(INDEX).exists());
    add(&held, 300..301);
    assert_eq!(held.index(Some(&run())).unwrap(), made(301));
    assert_eq!(repository.index(Some(&run())).unwrap(), made(301));
    let other = RunId::parse("run_2").unwrap();
    assert_eq!(held.index(Some(&other)).unwrap().total_turns(), 0);
    assert_eq!(held.index(Some(&other)).unwrap().length(), 301);
    assert_eq!(held.index(Some(&run())).unwrap(), made(301));
}

#[test]
fn an_index_that_does_not_fit_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    let held = lock(&repository);
    add(&held, 0..200);
    held.index(Some(&run())).unwrap();
    let history = folder.path().join(".agentxchain/history.jsonl");
    let whole = fs::read_to_string(&history).unwrap();
    let kept = fs::read_to_string(folder.path().join(INDEX)).unwrap();
    // Other turns at the beginning, other turns at the end, fewer turns.
    let last_is_another = whole.replace("turn_199", "turn_999");
    let first_is_another = whole.replacen("turn_0", "turn_A", 1);
    let fewer: String = whole.lines().take(150).map(|line| format!("{line}\n")).collect();
    for changed in [last_is_another, first_is_another, fewer] {
        fs::write(&history, &changed).unwrap();
        fs::write(folder.path().join(INDEX), &kept).unwrap();
        let index = held.index(Some(&run())).unwrap();
        assert_eq!(index.length(), changed.lines().count() as u64);
        for line in changed.lines() {
            let line: Object = serde_json::from_str(line).unwrap();
            assert!(index.contains(line["turn_id"].as_str().unwrap()));
        }
        assert_eq!(index.total_turns(), index.length());
    }
    fs::write(&history, &whole).unwrap();
    for odd in ["", "{", "[]", "{\"version\":1}", &kept.replace("\"turns\":{", "\"turn\":{")] {
        fs::write(folder.path().join(INDEX), odd).unwrap();
        assert_eq!(held.index(Some(&run())).unwrap(), made(200), "{odd:.20}");
    }
}

#[test]
fn a_damaged_line_is_named_and_nothing_is_kept_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    let held = lock(&repository);
    add(&held, 0..100);
    let history = folder.path().join(".agentxchain/history.jsonl");
    let damaged =
        fs::read_to_string(&history).unwrap().replacen("{\"turn_id\":\"turn_70\"", "{", 1);
    fs::write(&history, &damaged).unwrap();
    let failure = accord_contract::codes::Failure::from(held.index(Some(&run())).err().unwrap());
    assert_eq!(failure.code, Code::XchainRecordInvalid);
    let details = failure.details.unwrap();
    assert_eq!(details["line"], 71);
    assert_eq!(details["path"], ".agentxchain/history.jsonl");
    assert_eq!(fs::read_to_string(&history).unwrap(), damaged);
    assert!(!folder.path().join(INDEX).exists());
}

#[test]
fn a_reader_keeps_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    add(&lock(&repository), 0..200);
    let before = files(folder.path());
    assert_eq!(repository.index(Some(&run())).unwrap(), made(200));
    assert_eq!(files(folder.path()), before);
    assert!(!folder.path().join(INDEX).exists());
}

#[test]
fn what_is_read_hardly_grows_with_the_history() {
    let read = |count: u64| {
        let disk = Arc::new(SimDisk::new());
        let held = lock(&Repository::on(disk.clone()));
        add(&held, 0..count);
        held.index(Some(&run())).unwrap();
        let before = disk.bytes_read();
        assert_eq!(held.index(Some(&run())).unwrap().total_turns(), count);
        disk.bytes_read() - before
    };
    let (few, many) = (read(65), read(6_500));
    // A hundred times the turns. Of each only its id, that of its decision and the files are kept.
    assert!(many < few + 6_500 * 40, "{few} bytes, then {many}");
}
