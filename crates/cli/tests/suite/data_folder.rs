//! A new data folder keeps itself out of git.

use std::path::Path;
use std::process::Command;

use crate::accord::run;
use crate::memory::bare;
use crate::server::Server;

#[test]
fn serving_in_a_repository_leaves_it_clean() {
    let repository = tempfile::tempdir().expect("a folder");
    git(repository.path(), &["init", "--quiet"]);
    // What README's first command runs.
    let server = Server::start(&repository.path().join(".accord"), &[]);
    assert_eq!(untracked(repository.path()), "");
    drop(server);
    assert_eq!(untracked(repository.path()), "");
}

#[test]
fn a_folder_that_exists_gets_no_ignore_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = bare(&["project", "create", "shop"]);
    command.current_dir(folder.path()).args(["--data", "."]);
    assert_eq!(run(command, "").code, 0);
    assert!(folder.path().join("accord.db").exists());
    assert!(!folder.path().join(".gitignore").exists());
}

#[test]
fn a_restored_folder_is_ignored_too() {
    let repository = tempfile::tempdir().expect("a folder");
    git(repository.path(), &["init", "--quiet"]);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let backup = elsewhere.path().join("backup");
    let backup = backup.to_str().expect("text");
    let source = elsewhere.path().join("data");
    let source = source.to_str().expect("text");
    for args in [["project", "create", "shop"], ["store", "backup", backup]] {
        let mut command = bare(&args);
        command.args(["--data", source]);
        assert_eq!(run(command, "").code, 0);
    }
    let mut restore = bare(&["store", "restore", backup, "--data", ".accord"]);
    restore.current_dir(repository.path());
    assert_eq!(run(restore, "").code, 0);
    assert!(repository.path().join(".accord/accord.db").exists());
    assert_eq!(untracked(repository.path()), "");
}

fn untracked(repository: &Path) -> String {
    git(repository, &["status", "--porcelain", "--untracked-files=all"])
}

fn git(repository: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(args).current_dir(repository).env("HOME", repository).env("GIT_CONFIG_NOSYSTEM", "1");
    let ran = run(git, "");
    assert_eq!(ran.code, 0, "git {args:?}: {ran:?}");
    ran.stdout
}
