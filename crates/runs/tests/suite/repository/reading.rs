//! Reading a repository: what is damaged is named, and nothing is written.

use std::fs;
use std::os::unix::fs::symlink;

use accord_contract::{Code, Failure};
use accord_runs::repository::{RecordFile, Repository};
use accord_runs_core::TurnId;

use super::support::{assign, begun, files, lock, path};

#[test]
fn a_folder_without_a_configuration_is_not_governed() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    assert!(!repository.is_governed().unwrap());
    let failure = Failure::from(repository.config().err().unwrap());
    assert_eq!(failure.code, Code::XchainNotGoverned);
    assert!(failure.message.contains(folder.path().file_name().unwrap().to_str().unwrap()));
    assert_eq!(repository.state().unwrap(), None);
    let nowhere = Repository::open(&folder.path().join("nowhere")).err().unwrap();
    assert_eq!(nowhere.code(), Code::XchainFileSystemFailed);
}

#[test]
fn damaged_documents_are_named_and_stay() {
    let (folder, repository) = begun();
    let cases = [
        ("agentxchain.json", Code::XchainInvalidConfig),
        (".agentxchain/state.json", Code::XchainStateInvalid),
    ];
    for (name, code) in cases {
        for damage in ["", "{", "{\"a\":1,\"a\":2}"] {
            fs::write(folder.path().join(name), damage).unwrap();
            let error = match code {
                Code::XchainInvalidConfig => repository.config().err(),
                _ => repository.state().err(),
            };
            let failure = Failure::from(error.unwrap());
            assert_eq!(failure.code, code, "{name} {damage}");
            assert_eq!(failure.details.unwrap()["path"], name);
            drop(repository.lock(std::time::Duration::ZERO));
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), damage);
        }
    }
    fs::write(folder.path().join(".agentxchain/session.json"), "{").unwrap();
    assert_eq!(repository.session().unwrap(), None);
    fs::write(folder.path().join(".agentxchain/repo-decisions.jsonl"), "{}\nx\n").unwrap();
    let failure = Failure::from(repository.repo_decisions().err().unwrap());
    assert_eq!(failure.details.unwrap()["line"], 2);
}

#[test]
fn a_reader_needs_no_lock_and_writes_nothing() {
    let (folder, repository) = begun();
    let held = lock(&repository);
    let turn = assign(&held, 2).unwrap();
    let all = || {
        let mut names = files(folder.path());
        let own = fs::read(folder.path().join(".agentxchain/locks/accept-turn.lock")).unwrap();
        names.insert("lock".into(), own);
        names
    };
    let before = all();
    let reader = Repository::open(folder.path()).unwrap();
    reader.config().unwrap();
    let state = reader.state().unwrap().unwrap();
    assert!(state.turn(&turn).is_some());
    reader.session().unwrap();
    reader.repo_decisions().unwrap();
    reader.index(state.run_id()).unwrap();
    for record in RecordFile::ALL {
        assert!(reader.lines(record).unwrap().all(|line| line.is_ok()));
        reader.last_lines(record, 3).unwrap();
    }
    reader.bundle(&TurnId::parse("turn_none").unwrap()).unwrap();
    reader.texts(&[path("none.md")]).unwrap();
    reader.list(&path(".agentxchain")).unwrap();
    reader.protect(&[]).unwrap();
    reader.pending_journals().unwrap();
    reader.checkup().unwrap();
    assert!(reader.lock_holder().unwrap().unwrap().alive);
    assert_eq!(all(), before);
}

#[test]
fn paths_behind_a_link_that_leads_outside_are_distinguished() {
    let outer = tempfile::tempdir().unwrap();
    fs::write(outer.path().join("file"), "x").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("inside")).unwrap();
    fs::write(root.join("inside/file"), "x").unwrap();
    for (target, link) in [
        (outer.path().to_str().unwrap(), "out"),
        ("../../file", "inside/up"),
        ("inside/file", "same"),
        ("inside", "folder"),
        ("nothing", "dangling"),
        ("circle", "circle"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    let repository = Repository::open(root).unwrap();
    let staying = [
        "inside/file",
        "same",
        "folder",
        "folder/file",
        "dangling",
        "new",
        "new/file",
        "same/file",
    ];
    let leaving = ["out", "out/file", "out/new", "inside/up", "folder/up", "circle"];
    let asked: Vec<_> = staying.iter().chain(&leaving).map(|text| path(text)).collect();
    assert_eq!(repository.leading_out(&asked).unwrap(), leaving);
}
