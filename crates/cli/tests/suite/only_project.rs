//! The only project of a host is the default one.

use std::path::Path;

use crate::accord::{Ran, run};
use crate::memory::bare;
use crate::server::Server;

/// Runs a command in a folder, with nothing that names a project.
fn ran(folder: &Path, words: &str) -> Ran {
    let words = shell_words::split(words).expect("words");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = bare(&words);
    command.current_dir(folder).env("ACCORD_ACTOR", "human:lead");
    run(command, "")
}

/// Runs a command that succeeds and uses the only project, and says so.
#[track_caller]
fn uses_shop(folder: &Path, words: &str) -> String {
    let ran = ran(folder, words);
    assert_eq!(ran.code, 0, "{words}: {ran:?}");
    assert!(ran.stderr.contains("using the project shop, the only one"), "{words}: {ran:?}");
    ran.stdout
}

#[test]
fn one_project_needs_no_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    assert_eq!(ran(at, "task init --project shop").code, 0);
    let id = uses_shop(at, "task create 'First' --ready --id-only");
    assert!(uses_shop(at, "task list").contains(id.trim()));
    // Without a host and with the store: the project of the tasks is a project of the memory.
    uses_shop(at, "context deposit --title 'Chose TOML'");
    assert!(uses_shop(at, "context pull").contains("Chose TOML"));
    uses_shop(at, "fact assert api version 2");
    assert!(uses_shop(at, "context export").contains("Chose TOML"));
    // With a host.
    let _host = Server::start(&at.join(".accord"), &[]);
    assert!(uses_shop(at, "task list").contains(id.trim()));
    assert!(uses_shop(at, "context orient").contains("Chose TOML"));
    // A name says which one, and nothing has to be said.
    let named = ran(at, "task list --project shop");
    assert!(!named.stderr.contains("the only one"), "{named:?}");
}

#[test]
fn several_projects_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let said = ran(at, "task create 'First' --ready").refused("USAGE");
    assert!(said.contains("there is none yet"), "{said}");
    assert!(!at.join(".accord").exists(), "a refused command makes no folder");
    assert_eq!(ran(at, "task init --project shop").code, 0);
    assert_eq!(ran(at, "task init --project depot").code, 0);
    for project in ["shop", "depot"] {
        let words = format!("context deposit --title 'Chose TOML' --project {project}");
        assert_eq!(ran(at, &words).code, 0);
    }
    for words in ["task create 'First' --ready", "task board", "context pull", "fact list"] {
        let said = ran(at, words).refused("USAGE");
        assert!(said.contains("there are several: depot, shop"), "{words}: {said}");
    }
    let refused = ran(at, "task list --json");
    let document: serde_json::Value = serde_json::from_str(&refused.stdout).expect("a document");
    assert_eq!(document["error"]["projects"], serde_json::json!(["depot", "shop"]), "{document}");
    // A default ends the question.
    assert_eq!(ran(at, "project use depot").code, 0);
    assert_eq!(ran(at, "task list").code, 0);
}
