//! Commits on real files: the same end as in the model, once, in any process.

use std::fs;
use std::sync::Arc;

use accord_contract::{Code, Failure, Object, Value};
use accord_runs::repository::{RecordFile, Repository, RepositoryError};
use accord_runs_core::accept::{Commit, CommitKind, Write};
use accord_runs_core::config::Config;
use accord_runs_core::run;
use accord_runs_core::state::State;
use accord_runs_core::testing::{MemoryRepository, approval};
use accord_trees::TreeError;
use accord_trees::testing::SimDisk;
use serde_json::json;

use super::support::{
    acceptance, assign, begin, begun, files, govern, ids, lock, now, path, stage,
};

fn lines(repository: &Repository, record: RecordFile) -> Vec<Object> {
    let lines = repository.lines(record).unwrap();
    lines.map(|line| line.unwrap().object).collect()
}

/// A model of a repository in memory, as it is now.
fn model(repository: &Repository) -> MemoryRepository {
    let config = Config::lenient(Object::new());
    let state = repository.state().unwrap().unwrap();
    let mut world = MemoryRepository::new(config, state);
    world.history = lines(repository, RecordFile::History);
    world.ledger = lines(repository, RecordFile::Ledger);
    world.files = files(repository.root())
        .into_iter()
        .map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap()))
        .collect();
    world
}

/// Compares a repository with the model of it.
fn same(repository: &Repository, world: &MemoryRepository) {
    let state = repository.state().unwrap().unwrap();
    assert_eq!(state.document(), world.state.document());
    assert_eq!(lines(repository, RecordFile::History), world.history);
    assert_eq!(lines(repository, RecordFile::Ledger), world.ledger);
    let kept_apart = ["state.json", "history.jsonl", "decision-ledger.jsonl"];
    let others = |path: &String| !kept_apart.iter().any(|name| path.ends_with(name));
    let mut real = files(repository.root());
    real.retain(|path, _| others(path));
    let mut modelled = world.files.clone();
    modelled.retain(|path, _| others(path));
    let modelled: Vec<_> = modelled.into_iter().collect();
    let real: Vec<_> =
        real.into_iter().map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap())).collect();
    assert_eq!(real, modelled);
}

#[test]
fn a_commit_ends_where_the_model_ends() {
    let (_folder, repository) = begun();
    let held = lock(&repository);
    let turn = assign(&held, 2).unwrap();
    stage(&held, &turn).unwrap();
    let mut world = model(&repository);
    let commit = acceptance(&held, &turn, 3).unwrap();
    assert_eq!(commit.kind, CommitKind::Accept);
    held.commit(&commit).unwrap();
    world.apply(&commit).unwrap();
    same(&repository, &world);
    assert_eq!(held.pending_journals().unwrap(), []);
}

#[test]
fn files_have_the_forms_that_other_runners_write() {
    let (folder, repository) = begun();
    let held = lock(&repository);
    let turn = assign(&held, 2).unwrap();
    stage(&held, &turn).unwrap();
    held.commit(&acceptance(&held, &turn, 3).unwrap()).unwrap();
    let state = fs::read_to_string(folder.path().join(".agentxchain/state.json")).unwrap();
    assert!(state.starts_with("{\n  \"schema_version\": \"1.1\",\n") && state.ends_with("\n}\n"));
    let history = fs::read_to_string(folder.path().join(".agentxchain/history.jsonl")).unwrap();
    assert_eq!(history.lines().count(), 1);
    assert!(history.starts_with("{\"turn_id\":\"turn_") && history.ends_with("}\n"));
}

#[test]
fn a_journal_of_another_runner_is_finished_once() {
    let (folder, repository) = begun();
    let held = lock(&repository);
    let turn = assign(&held, 2).unwrap();
    stage(&held, &turn).unwrap();
    let mut world = model(&repository);
    let commit = acceptance(&held, &turn, 3).unwrap();
    let journal = foreign(&commit);
    let name = format!(".agentxchain/transactions/accept/{}.json", commit.transaction);
    let write = || held.write_document(&path(&name), &journal).unwrap();
    write();
    // It had appended the history, and died in the middle of the ledger.
    held.append(RecordFile::History, &[object_of(&journal, "history_entry")]).unwrap();
    let ledger = folder.path().join(".agentxchain/decision-ledger.jsonl");
    fs::write(&ledger, "{\"id\":\"DEC").unwrap();
    drop(held);
    assert_eq!(repository.pending_journals().unwrap().len(), 1);
    let held = lock(&repository);
    assert_eq!(held.recovered().len(), 1);
    assert_eq!(held.recovered()[0].path, name);
    assert!(!held.recovered()[0].detail.superseded);
    let wanted = commit.writes.iter().filter(|write| match write {
        Write::Append { record, .. } => record.path() != RecordFile::Events.path().as_str(),
        Write::Section { .. } => false,
        Write::Replace { path, .. } => path.ends_with("/state.json"),
        Write::Remove { .. } => true,
    });
    let wanted: Vec<Write> = wanted.cloned().collect();
    world.apply_writes(&wanted).unwrap();
    world.files.retain(|path, _| !path.contains("/transactions/"));
    same(&repository, &world);
    // The same journal again finds everything done.
    held.write_document(&path(&name), &journal).unwrap();
    drop(held);
    let held = lock(&repository);
    assert!(held.recovered()[0].detail.applied_before);
    same(&repository, &world);
}

#[test]
fn what_others_appended_behind_a_crash_stays() {
    let (_folder, repository) = begun();
    let held = lock(&repository);
    let turn = assign(&held, 2).unwrap();
    stage(&held, &turn).unwrap();
    let commit = acceptance(&held, &turn, 3).unwrap();
    let events = RecordFile::Events;
    let before = lines(&repository, events).len();
    let wanted = commit.writes.iter().filter(|write| {
        matches!(write, Write::Append { record, .. } if record.path() == events.path().as_str())
    });
    let wanted = wanted.count();
    // A crash just behind the journal; then a runner without journals writes something.
    let journal = {
        let mut journal = commit.journal.clone();
        let length = fs::metadata(held.root().join(events.path().as_str())).unwrap().len();
        let own = journal.get_mut("accord").and_then(Value::as_object_mut).unwrap();
        own.insert("lengths".into(), json!({events.path().as_str(): length}));
        journal
    };
    let name = format!(".agentxchain/transactions/accept/{}.json", commit.transaction);
    held.write_document(&path(&name), &journal).unwrap();
    let theirs = json!({"event_id": "evt_theirs"}).as_object().unwrap().clone();
    held.append(events, std::slice::from_ref(&theirs)).unwrap();
    drop(held);
    drop(lock(&repository));
    let after = lines(&repository, events);
    assert_eq!(after.len(), before + wanted + 1);
    assert_eq!(after[before], theirs);
}

#[test]
fn a_change_that_another_runner_overtook_is_dropped() {
    let (_folder, repository) = begun();
    let held = lock(&repository);
    let before = held.state().unwrap().unwrap();
    let change = run::escalate(&before, "stop", &mut ids(5), now()).unwrap();
    let commit = Commit::of_change(&before, &change, &mut ids(6), now());
    assign(&held, 2).unwrap();
    let name = format!(".agentxchain/transactions/accord/{}.json", commit.transaction);
    held.write_document(&path(&name), &commit.journal).unwrap();
    drop(held);
    let state = repository.state_bytes().unwrap();
    let held = lock(&repository);
    assert!(held.recovered()[0].detail.superseded);
    assert_eq!(held.state_bytes().unwrap(), state);
    assert_eq!(held.pending_journals().unwrap(), []);
}

#[test]
fn a_journal_that_is_none_stops_writers_and_stays() {
    let (folder, repository) = begun();
    let name = ".agentxchain/transactions/accord/txn_0.json";
    for damage in ["{", "[]", "{\"status\":\"?\"}"] {
        fs::write(folder.path().join(name), damage).unwrap();
        let refused = repository.lock(std::time::Duration::ZERO).err().unwrap();
        let failure = Failure::from(refused);
        assert_eq!(failure.code, Code::XchainRecordInvalid);
        assert_eq!(failure.details.unwrap()["path"], name);
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), damage);
        assert_eq!(repository.lock_holder().unwrap(), None);
    }
}

#[test]
fn a_commit_that_a_full_disk_cuts_off_is_finished_by_the_next() {
    let mut cut_off = 0;
    for cut in 0..40 {
        let disk = Arc::new(SimDisk::new());
        let repository = Repository::on(disk.clone());
        let held = lock(&repository);
        govern(&held);
        begin(&held).unwrap();
        let before = held.state().unwrap().unwrap();
        let escalated = run::escalate(&before, "stop", &mut ids(5), now()).unwrap();
        let first = Commit::of_change(&before, &escalated, &mut ids(6), now());
        disk.stop_after(cut);
        let outcome = held.commit(&first);
        disk.stop_after(1_000_000);
        let done = match outcome {
            Ok(_) => true,
            Err(RepositoryError::Tree(TreeError::Unfinished { journal, .. })) => {
                // It is gone where everything was done and only its removal may not last.
                let waiting = held.pending_journals().unwrap();
                assert!(waiting.iter().all(|waiting| waiting.path == journal), "cut {cut}");
                cut_off += 1;
                true
            }
            Err(error) => {
                assert_eq!(error.code(), Code::XchainFileSystemFailed);
                assert_eq!(held.pending_journals().unwrap(), [], "cut {cut}");
                false
            }
        };
        let escalated_events = escalated.events.len();
        let before: State = if done { escalated.state } else { before };
        let second = if done {
            run::resolve(&before, None, &approval(), &mut ids(7), now()).unwrap()
        } else {
            run::escalate(&before, "later", &mut ids(7), now()).unwrap()
        };
        held.commit(&Commit::of_change(&before, &second, &mut ids(8), now())).unwrap();
        assert_eq!(held.state().unwrap().unwrap().document(), second.state.document());
        let events = lines(&repository, RecordFile::Events);
        let ids: std::collections::BTreeSet<_> =
            events.iter().map(|event| event["event_id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), events.len());
        let wanted = 1 + if done { escalated_events } else { 0 } + second.events.len();
        assert_eq!(events.len(), wanted, "cut {cut}");
        assert_eq!(held.pending_journals().unwrap(), []);
    }
    assert!(cut_off > 3);
}

/// A commit that writes a file beside what it does to the run.
fn with_file(held: &accord_runs::repository::LockedRepository, seed: u8, files: &[&str]) -> Commit {
    let before = held.state().unwrap().unwrap();
    let escalated = run::escalate(&before, "stop", &mut ids(seed), now()).unwrap();
    let file = |path: &&str| Write::Replace { path: (*path).to_owned(), text: "new".to_owned() };
    let files = files.iter().map(file).collect();
    Commit::of_change_with(&before, &escalated, files, &mut ids(seed + 1), now())
}

#[test]
fn a_commit_that_cannot_be_carried_out_does_not_happen() {
    let (folder, repository) = begun();
    let held = lock(&repository);
    fs::write(folder.path().join("file"), "old").unwrap();
    fs::create_dir_all(folder.path().join("folder/in")).unwrap();
    let before = files(folder.path());
    for (wanted, by) in [
        (vec!["a", "a/b"], "a"),
        (vec!["a/b/c", "a"], "a"),
        (vec!["file/x/y"], "file"),
        (vec!["folder/in"], "folder/in"),
    ] {
        let error = held.commit(&with_file(&held, 5, &wanted)).unwrap_err();
        let RepositoryError::Tree(TreeError::Obstructed { by: at, .. }) = &error else {
            panic!("{wanted:?}: {error}");
        };
        assert_eq!(at, by, "{wanted:?}");
        assert_eq!(error.code(), Code::XchainPathObstructed);
        assert_eq!(held.pending_journals().unwrap(), []);
        assert_eq!(files(folder.path()), before);
    }
    held.commit(&with_file(&held, 5, &["folder/in/x", "file"])).unwrap();
}

#[test]
fn what_is_in_the_way_of_a_journal_is_named_and_the_records_do_not_wait() {
    let (folder, repository) = begun();
    let commit = with_file(&lock(&repository), 5, &["papers/p"]);
    let name = format!(".agentxchain/transactions/accord/{}.json", commit.transaction);
    let text = serde_json::to_string(&commit.journal).unwrap();
    fs::write(folder.path().join(&name), text).unwrap();
    fs::write(folder.path().join("papers"), "in the way").unwrap();
    for _ in 0..2 {
        let error = repository.lock(std::time::Duration::ZERO).err().unwrap();
        assert_eq!(error.code(), Code::XchainCommitUnfinished);
        assert!(error.to_string().contains("remove papers"), "{error}");
        // The run has gone on; one file waits.
        let state = repository.state().unwrap().unwrap();
        assert_eq!(state.status().as_str(), "blocked");
        let found = repository.checkup().unwrap();
        let found = found.iter().find(|finding| finding.path == name).unwrap();
        assert_eq!(found.kind.as_str(), "obstructed_journal");
        assert!(found.detail.contains("remove papers"), "{found:?}");
    }
    let events = lines(&repository, RecordFile::Events).len();
    fs::remove_file(folder.path().join("papers")).unwrap();
    assert_eq!(lock(&repository).pending_journals().unwrap(), []);
    assert_eq!(fs::read_to_string(folder.path().join("papers/p")).unwrap(), "new");
    assert_eq!(lines(&repository, RecordFile::Events).len(), events);
}

#[test]
fn a_journal_that_is_in_its_own_way_is_no_dead_end() {
    for wanted in [["a", "a/b"], ["a/b", "a"]] {
        let (folder, repository) = begun();
        let commit = with_file(&lock(&repository), 5, &wanted);
        let name = format!(".agentxchain/transactions/accord/{}.json", commit.transaction);
        let text = serde_json::to_string(&commit.journal).unwrap();
        fs::write(folder.path().join(&name), text).unwrap();
        let held = lock(&repository);
        assert_eq!(held.recovered()[0].left, [wanted[1]]);
        assert_eq!(held.pending_journals().unwrap(), []);
        assert!(folder.path().join(wanted[0]).is_file());
        assert_eq!(held.state().unwrap().unwrap().status().as_str(), "blocked");
    }
}

/// The journal as the reference would have written it.
fn foreign(commit: &Commit) -> Object {
    let mut journal = commit.journal.clone();
    journal.shift_remove("accord");
    journal.insert("kind".into(), "accept_turn".into());
    journal
}

fn object_of(journal: &Object, name: &str) -> Object {
    journal[name].as_object().unwrap().clone()
}
