//! Nothing leads out of a repository, and nothing odd in it makes anybody wait.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use accord_contract::Code;
use accord_runs::repository::{Repository, RepositoryError};
use accord_trees::Kind;
use rustix::fs::{Mode, OFlags, mkdirat, openat, symlinkat};
use tempfile::TempDir;

use super::support::{acceptance, assign, begun, files, lock, path, stage};

/// A repository beside a file that is none of its business.
fn beside_a_secret() -> (TempDir, Repository) {
    let outer = tempfile::tempdir().unwrap();
    fs::write(outer.path().join("secret"), "secret").unwrap();
    let root = outer.path().join("root");
    fs::create_dir(&root).unwrap();
    let repository = Repository::open(&root).unwrap();
    (outer, repository)
}

fn code<T>(result: Result<T, RepositoryError>) -> Option<Code> {
    result.err().map(|error| error.code())
}

#[test]
fn no_link_leads_out() {
    let (outer, repository) = beside_a_secret();
    let held = lock(&repository);
    let root = outer.path().join("root");
    symlink("../secret", root.join("file")).unwrap();
    symlink("..", root.join("folder")).unwrap();
    symlink(outer.path(), root.join("absolute")).unwrap();
    let outside = Some(Code::XchainPathOutsideRepository);
    for leaving in ["file", "folder/secret", "absolute/secret", "folder/new", "absolute/new"] {
        let leaving = path(leaving);
        assert_eq!(code(held.read(&leaving, 100)), outside, "{leaving}");
        assert_eq!(code(held.staged(&[leaving.to_string()])), outside, "{leaving}");
        assert_eq!(code(held.texts(std::slice::from_ref(&leaving))), outside, "{leaving}");
        if leaving.as_str() != "file" {
            assert_eq!(code(held.write(&leaving, b"x")), outside, "{leaving}");
            assert_eq!(code(held.create(&leaving, b"x")), outside, "{leaving}");
            assert_eq!(code(held.remove(&leaving)), outside, "{leaving}");
            assert_eq!(code(held.stat(&leaving)), outside, "{leaving}");
        }
    }
    assert_eq!(code(held.list(&path("folder"))), outside);
    // To replace or remove a link is to replace or remove the link.
    held.write(&path("file"), b"ours").unwrap();
    assert_eq!(held.read(&path("file"), 100).unwrap().unwrap(), b"ours");
    held.remove(&path("folder")).unwrap();
    assert_eq!(held.stat(&path("folder")).unwrap(), None);
    assert_eq!(fs::read(outer.path().join("secret")).unwrap(), b"secret");
    assert!(!outer.path().join("new").exists());
}

#[test]
fn a_repository_whose_own_folder_leads_out_is_refused() {
    let (outer, repository) = beside_a_secret();
    fs::create_dir(outer.path().join("elsewhere")).unwrap();
    symlink("../elsewhere", outer.path().join("root/.agentxchain")).unwrap();
    let refused = repository.lock(Duration::ZERO);
    assert_eq!(code(refused), Some(Code::XchainPathOutsideRepository));
    assert_eq!(fs::read_dir(outer.path().join("elsewhere")).unwrap().count(), 0);
}

#[test]
fn links_that_stay_inside_are_followed() {
    let (outer, repository) = beside_a_secret();
    let held = lock(&repository);
    held.write(&path("docs/plan.md"), b"plan").unwrap();
    symlink("../docs", outer.path().join("root/.agentxchain/docs")).unwrap();
    let read = held.texts(&[path(".agentxchain/docs/plan.md")]).unwrap();
    assert_eq!(read[".agentxchain/docs/plan.md"], "plan");
}

#[test]
fn a_pipe_or_a_folder_is_no_file_and_is_not_waited_for() {
    let (outer, repository) = beside_a_secret();
    let pipe = outer.path().join("root/pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::create_dir(outer.path().join("root/folder")).unwrap();
    let held = lock(&repository);
    for odd in ["pipe", "folder"] {
        let staged = held.staged(&[odd.to_owned()]);
        assert_eq!(code(staged), Some(Code::XchainNotAFile), "{odd}");
        let written = held.write(&path(odd), b"x");
        assert_eq!(code(written), Some(Code::XchainNotAFile), "{odd}");
    }
    assert_eq!(held.stat(&path("pipe")).unwrap().unwrap().kind, Kind::Other);
}

#[test]
fn a_file_past_its_limit_is_refused() {
    let (_outer, repository) = beside_a_secret();
    let held = lock(&repository);
    held.write(&path("large"), &vec![b'x'; 1001]).unwrap();
    assert_eq!(code(held.read(&path("large"), 1000)), Some(Code::XchainFileTooLarge));
    assert_eq!(held.read(&path("large"), 1001).unwrap().unwrap().len(), 1001);
    // A file of any length that takes no room.
    let staged = File::create(held.root().join("huge")).unwrap();
    staged.set_len(1 << 40).unwrap();
    assert_eq!(code(held.staged(&["huge".into()])), Some(Code::XchainFileTooLarge));
}

#[test]
fn a_folder_is_removed_however_deep_it_is() {
    let (outer, repository) = beside_a_secret();
    let held = lock(&repository);
    // Deeper than any path can name, deeper than files can be open.
    let mode = Mode::from_raw_mode(0o755);
    let mut here = File::open(held.root()).unwrap().into();
    for name in std::iter::once("top").chain(std::iter::repeat_n("deeper-and-deeper", 1_200)) {
        mkdirat(&here, name, mode).unwrap();
        here = openat(&here, name, OFlags::RDONLY | OFlags::DIRECTORY, mode).unwrap();
        symlinkat("/", &here, "link").unwrap();
    }
    held.remove(&path("top")).unwrap();
    assert_eq!(held.stat(&path("top")).unwrap(), None);
    assert!(Path::new("/").exists() && outer.path().join("secret").exists());
}

#[test]
fn a_commit_that_could_not_be_carried_out_does_not_happen() {
    for victim in ["TALK.md", ".agentxchain/history.jsonl", ".agentxchain/events.jsonl"] {
        let (folder, repository) = begun();
        let held = lock(&repository);
        let turn = assign(&held, 2).unwrap();
        stage(&held, &turn).unwrap();
        let commit = acceptance(&held, &turn, 3).unwrap();
        drop(fs::remove_file(folder.path().join(victim)));
        symlink("/etc/passwd", folder.path().join(victim)).unwrap();
        let before = files(folder.path());
        let refused = held.commit(&commit);
        assert_eq!(code(refused), Some(Code::XchainPathOutsideRepository), "{victim}");
        assert_eq!(files(folder.path()), before, "{victim}");
        assert_eq!(held.pending_journals().unwrap(), []);
        // Once it is mended, the same commit goes through.
        held.remove(&path(victim)).unwrap();
        held.commit(&commit).unwrap();
    }
}
