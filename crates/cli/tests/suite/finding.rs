//! Commands find their memory from below, and say what they create.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::accord::{Ran, run};
use crate::memory::bare;
use crate::server::Server;
use crate::snapshot::Transcript;

/// Runs a command in a folder, with no variable that names a memory.
fn types(place: &Path, words: &str) -> Ran {
    let args = shell_words::split(words).expect("words");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = bare(&args);
    command.current_dir(place).env("ACCORD_ACTOR", "agent:planner");
    run(command, "")
}

#[test]
fn a_memory_is_found_from_below_and_what_is_new_is_said() {
    let place = tempfile::tempdir().expect("a folder");
    let below = place.path().join("src/deep");
    std::fs::create_dir_all(&below).expect("folders");
    let mut story = Transcript::default();
    let mut types = |words: &str| {
        let ran = types(if words.starts_with("key") { place.path() } else { &below }, words);
        story.add(words, &ran);
        ran
    };
    types("project list");
    types("key create --label ops").refused("STORE_MISSING");
    assert!(!place.path().join(".accord").exists());
    types("key create --label ops --new");
    assert!(place.path().join(".accord/accord.db").exists());
    types("context deposit --title One --project shop --id one");
    types("context deposit --title Two --project shop --id two");
    types("fact assert api version 2 --project shpo");
    types("session start --project store --callsign calm-otter --json");
    types("project use shop");
    types("context pull");
    types("project show");
    types("context pull --project shpo");
    types("project use nowhere");
    assert!(!below.join(".accord").exists());
    let secret = (r"accord_[0-9a-v]{16}_\w+", "accord_[id]_[secret]");
    story.check_with("finding", &[secret, (r"\b[0-9a-v]{16}\b", "[id of the key]")]);
}

#[test]
fn the_first_write_creates_a_memory_and_says_where() {
    let place = tempfile::tempdir().expect("a folder");
    let mut story = Transcript::default();
    let mut types = |words: &str| story.add(words, &types(place.path(), words));
    types("context deposit --title One --project shop --id one");
    types("context deposit --title One --project shop --id one");
    types("project use shop --data other");
    types("project use shop --data other --json");
    types("context pull --data other");
    types("context deposit --title Two --id two --data other");
    story.check("finding-first");
}

#[test]
fn a_first_write_that_is_refused_creates_nothing() {
    let place = tempfile::tempdir().expect("a folder");
    let data = place.path().join("data");
    let long = "x".repeat(600);
    for (words, code) in [
        (format!("context deposit --title One --project {long}"), "invalid_schema"),
        (format!("fact assert api version 2 --project {long}"), "invalid_schema"),
        (format!("session start --project {long}"), "invalid_schema"),
        ("project create shop --name ''".to_owned(), "invalid_schema"),
        ("context import missing.jsonl".to_owned(), "INPUT_UNREADABLE"),
    ] {
        let ran = types(place.path(), &format!("{words} --data data"));
        assert_eq!(ran.code, 2, "{words}: {ran:?}");
        assert!(ran.stderr.contains(code), "{words}: {ran:?}");
        assert!(!ran.stderr.contains("new data folder"), "{words}: {ran:?}");
        assert!(!data.exists(), "{words}");
    }
    let ran = types(place.path(), "context deposit --title One --project shop --data data");
    assert!(ran.stderr.contains("new data folder") && ran.stderr.contains("new project shop"));
    assert!(data.join("accord.db").exists());
}

#[test]
fn a_server_is_the_default_of_a_private_folder() {
    let place = tempfile::tempdir().expect("a folder");
    let host = Server::start(&place.path().join("served"), &[]);
    let work = place.path().join("work/src");
    std::fs::create_dir_all(&work).expect("folders");
    let used = types(&work, &format!("project use shop --url {}", host.url));
    assert!(used.code == 0 && used.stdout.contains(&host.url), "{used:?}");
    let ran = types(&work, "fact assert api version 2");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.stderr.trim(), format!("new project shop in {}", host.url));
    assert!(types(&work, "project show").yes().contains("shop"));
    // A flag is stronger.
    types(&work, "project show --data .accord").refused("STORE_MISSING");
    // A folder that came with a repository has the rights of any other folder.
    let folder = work.join(".accord");
    std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("rights");
    types(&work, "project show").refused("STORE_FOLDER_UNTRUSTED");
}

#[test]
fn a_folder_of_another_user_is_refused_until_it_is_named() {
    let place = tempfile::tempdir().expect("a folder");
    types(place.path(), "project create shop").yes();
    let folder = place.path().join(".accord");
    if std::os::unix::fs::chown(&folder, Some(12345), None).is_err() {
        eprintln!("skipped: only root can give a folder to another user");
        return;
    }
    let said = types(place.path(), "project list").refused("STORE_FOLDER_UNTRUSTED");
    assert!(said.contains("--data"), "{said}");
    types(place.path(), "serve").refused("STORE_FOLDER_UNTRUSTED");
    types(place.path(), "project list --data .accord").yes();
}
